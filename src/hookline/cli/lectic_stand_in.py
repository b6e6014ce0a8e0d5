"""Lectic's command line, for hooks that call ``lectic`` where it is not installed.

``lectic [run]`` answers a conversation, ``parse`` takes one apart and puts it together again, ``script`` runs JavaScript
with bun or node, ``editor`` asks the person; any other word is a program ``lectic-WORD`` in Lectic's directories or on
PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hookline.cli import main
from hookline.core.errors import HooklineError
from hookline.dialects.lectic.variables import directory

#: The module sees the arguments that it would see if it were started itself; its default export is called.
_LOADER = """
const { pathToFileURL } = await import("node:url");
const [file, ...rest] = process.argv.slice(1);
process.argv = [process.argv[0], file, ...rest];
const loaded = await import(pathToFileURL(file).href);
if (typeof loaded.default === "function") await loaded.default();
"""


def _stand_in(words: Sequence[str]) -> int:
    match list(words):
        case ["script", *rest]:
            return _script(rest)
        case ["parse", *rest]:
            return _parse(rest)
        case ["editor", *rest]:
            return main(["editor", *rest])
        case ["run", *rest]:
            return main(["run", *rest])
        case ["-v" | "--version"]:
            return main(["--version"])
        case [word, *rest] if not word.startswith("-"):
            return _subcommand(word, rest)
        case _:
            return main(["run", *words])


def _script(words: Sequence[str]) -> int:
    """A module without an ending is copied to one that says what it is: node would not know."""
    if not words:
        return _fail("usage: lectic script <module-path> [args...]")
    program = next((found for name in ("bun", "node") if (found := shutil.which(name))), None)
    if program is None:
        return _fail("lectic script needs bun or node, and neither is installed")
    file, rest = os.path.abspath(words[0]), words[1:]
    copy = ""
    if os.path.basename(program) == "node" and not os.path.splitext(file)[1]:
        text = Path(file).read_text(encoding="utf-8")
        copy = f"{file}-{os.getpid()}.{'cjs' if 'require(' in text else 'mjs'}"
        Path(copy).write_text(text, encoding="utf-8")
    import subprocess  # only for who runs one

    try:
        options = (
            ["-e", _LOADER] if os.path.basename(program) == "bun" else ["--input-type=module", "-e", _LOADER, "--"]
        )
        return subprocess.run([program, *options, copy or file, *rest], check=False).returncode
    finally:
        if copy:
            os.unlink(copy)


def _subcommand(word: str, rest: Sequence[str]) -> int:
    for path in _candidates(word):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            os.execv(path, [path, *rest])
    return _fail(f"there is no program lectic-{word} in Lectic's directories or on PATH")


def _candidates(word: str) -> Iterator[str]:
    roots = [*filter(None, os.environ.get("LECTIC_RUNTIME", "").split(os.pathsep))]
    roots += [directory(name, os.environ, sys.platform) for name in ("LECTIC_CONFIG", "LECTIC_DATA")]
    for root in roots:
        for pattern in (f"lectic-{word}", f"lectic-{word}.*"):
            yield from map(str, sorted(Path(root).rglob(pattern)))
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield os.path.join(folder, f"lectic-{word}")


def _parse(words: Sequence[str]) -> int:
    from argparse import ArgumentParser  # only for who takes a conversation apart

    from hookline.agent.conversation.parsed import assemble, take_apart

    parser = ArgumentParser(prog="lectic parse")
    parser.add_argument("-f", "--file")
    parser.add_argument("--yaml", action="store_true")
    parser.add_argument("--reverse", action="store_true")
    args = parser.parse_args(words)
    try:
        text = Path(args.file).read_text(encoding="utf-8") if args.file else sys.stdin.read()
        if args.reverse:
            sys.stdout.write(assemble(text))
        elif args.yaml:
            import yaml

            sys.stdout.write(yaml.safe_dump(take_apart(text), allow_unicode=True, sort_keys=False))
        else:
            sys.stdout.write(json.dumps(take_apart(text), ensure_ascii=False, indent=2))
    except (OSError, UnicodeDecodeError, HooklineError) as error:
        return _fail(str(error))
    return 0


def _fail(text: str) -> int:
    print(f"lectic: {text}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(_stand_in(sys.argv[1:]))
