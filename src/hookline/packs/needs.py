"""What the scripts of a pack need and touch: read from their text, so that nothing has to be run to know it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping

from hookline.core._dataclass import dataclass, field
from hookline.core.errors import PackError
from hookline.core.paths import private_dir
from hookline.packs.node import find_modules
from hookline.packs.tree import Tree

#: Programs that scripts call and many machines lack.
_TOOLS = (
    "jq", "yq", "node", "npm", "npx", "bun", "deno", "python3", "python", "uv", "uvx", "ruby", "perl", "php", "go", "cargo", "gh", "git",
    "rg", "fd", "curl", "wget", "prettier", "eslint", "ruff", "black", "shellcheck", "terminal-notifier", "osascript", "notify-send", "tmux",
)  # fmt: skip
_CALLED = re.compile(
    rf"""(?:^|[|;&(`]|\$\(|\b(?:then|do|else|exec|env|if|!))\s*({"|".join(_TOOLS)})(?=[\s;|)"'])""", re.MULTILINE
)
_SHELL_FILES = (".sh", ".bash", ".zsh")
_FIRST_LINE = re.compile(rb"#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?")
_SECRETS = re.compile(r"\b[A-Z][A-Z0-9_]*(?:TOKEN|SECRET|API_KEY|PASSWORD|CREDENTIALS)\b")
_HOSTS = re.compile(r"https?://([a-zA-Z0-9.-]+\.[a-z]{2,})")
_HOME = re.compile(r"""(?:~|\$\{?HOME\}?)/(\.?[\w./-]+)""")
_BLOCK = re.compile(rb"(?m)^# /// script\s*$\n((?:#(?: .*)?\n)+?)# ///\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    programs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    #: What scripts read or reach besides the event: secrets by name, hosts, files of the home directory.
    touches: tuple[str, ...] = ()
    #: Python packages of PEP 723 blocks, and whether there is such a block.
    python: tuple[str, ...] = ()
    scripts: bool = False
    #: Node modules that are not in the pack, and where they are on this machine ("" if nowhere).
    modules: Mapping[str, str] = field(default_factory=dict)


def find_needs(tree: Tree, commands: tuple[str, ...] = ()) -> Needs:
    """``commands`` are the hooks' own lines."""
    texts = [
        *commands,
        *(file.data.decode(errors="replace") for path, file in tree.items() if _is_shell(path, file.data)),
    ]
    programs = dict.fromkeys(found for text in texts for found in _CALLED.findall(f"{text}\n"))
    for file in tree.values():
        if found := _FIRST_LINE.match(file.data[:200]):
            programs[os.path.basename((found[2] or found[1]).decode(errors="replace"))] = None
    code = [
        file.data.decode(errors="replace")
        for path, file in tree.items()
        if not path.endswith((".md", ".json", ".txt", ".yaml", ".toml"))
    ]
    touches = dict.fromkeys(f"${name}" for text in code for name in _SECRETS.findall(text))
    touches |= dict.fromkeys(host for text in code for host in _HOSTS.findall(text))
    touches |= dict.fromkeys(f"~/{path}" for text in code for path in _HOME.findall(text))
    python = dict.fromkeys(need for file in tree.values() for need in _script_needs(file.data))
    scripts = any(_BLOCK.search(file.data) for file in tree.values())
    absent = tuple(one for one in programs if not shutil.which(one) and not (one == "uv" and scripts))
    return Needs(
        programs=tuple(programs), missing=absent, touches=tuple(touches)[:20], python=tuple(python), scripts=scripts,
        modules=find_modules(tree, texts, os.environ),
    )  # fmt: skip


def _is_shell(path: str, data: bytes) -> bool:
    found = _FIRST_LINE.match(data[:200])
    program = os.path.basename(found[2] or found[1]) if found else b""
    return path.endswith(_SHELL_FILES) or program in {b"sh", b"bash", b"zsh", b"dash"}


def _script_needs(data: bytes) -> list[str]:
    found = _BLOCK.search(data)
    if not found:
        return []
    text = "\n".join(line[2:] for line in found[1].decode(errors="replace").splitlines())
    try:
        needs = tomllib.loads(text).get("dependencies", [])
    except tomllib.TOMLDecodeError:
        return []
    return [one for one in needs if isinstance(one, str)]


# ── Python packages ──────────────────────────────────────────────────────────────────────────────────

_PIP_INSTALL = "-m pip install --quiet --disable-pip-version-check --only-binary=:all: --"
#: Stands in for uv where there is none: what it would install is in the environment beside it.
_UV = """#!/bin/sh
[ "$1" = run ] || { echo "hookline stands in for uv, and only for: uv run SCRIPT" >&2; exit 2; }
shift
while :; do
  case "$1" in
    --script|-s|--quiet|-q|--no-project|--isolated|--frozen|--offline) shift ;;
    --python|-p|--with) shift 2 ;;
    python|python3) shift ;;
    *) break ;;
  esac
done
exec "$(dirname "$0")/python" "$@"
"""


def private_environment(needs: Needs, data: str) -> str:
    """A folder of programs with these packages, made once; "" if uv is there to do it. Raises PackError.

    Only wheels are installed, because installing anything else runs its code.
    """
    python = needs.python
    if not needs.scripts or shutil.which("uv"):
        return ""
    mark = hashlib.sha256("\n".join((*sorted(python), sys.version)).encode()).hexdigest()[:16]
    folder = os.path.join(private_dir(os.path.join(data, "packs", "python")), mark)
    programs = os.path.join(folder, "bin")
    if os.path.exists(os.path.join(programs, "uv")):
        return programs
    shutil.rmtree(folder, ignore_errors=True)
    pip = (os.path.join(programs, "python"), *_PIP_INSTALL.split(), *python)
    venv = (sys.executable, "-m", "venv", *([] if python else ["--without-pip"]), folder)
    for words in (venv, pip) if python else (venv,):
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise PackError(
                f"its Python packages ({', '.join(python)}) cannot be installed: {last}; install uv, or add the pack later"
            )
    with open(os.path.join(programs, "uv"), "w", encoding="utf-8") as file:
        file.write(_UV)
    os.chmod(file.name, 0o700)
    return programs
