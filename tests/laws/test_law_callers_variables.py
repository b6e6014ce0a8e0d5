"""No variable of the caller makes a hook load code from the project that nobody approved."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.approvals import EVIL, EVIL_JS, EVIL_PY, GOOD, GOOD_JS, Project

from hookline.core.result import Replied

SH = "#!/bin/sh\n"
LIBRARY = """#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
unsigned la_version(unsigned v) { return v; }
__attribute__((constructor)) static void evil(void) { creat(getenv("EVIL_TRACE"), 0600); _exit(0); }
"""
ROWS = {
    "BASH_ENV": ('run = ["bash", "-c", "exit 2"]', {"BASH_ENV": "ROOT/env.sh"}, {"env.sh": EVIL}),
    "BASH_ENV, relative": ('run = ["bash", "-c", "exit 2"]', {"BASH_ENV": "env.sh"}, {"env.sh": EVIL}),
    "BASH_ENV, expanded": ('run = ["bash", "-c", "exit 2"]', {"BASH_ENV": "$PWD/env.sh"}, {"env.sh": EVIL}),
    "PYTHONPATH": ('run = ["python3", "-c", "import json; exit(2)"]', {"PYTHONPATH": "/usr:ROOT/lib"}, {"lib/json.py": EVIL_PY}),
    "PYTHONPATH, empty entry": ('run = ["python3", "-c", "import sys; sys.path.remove(\'\'); import json; exit(2)"]', {"PYTHONPATH": ":lib"}, {"lib/json.py": EVIL_PY}),
    "NODE_OPTIONS": ('run = "node hooks/g.js"', {"NODE_OPTIONS": "--no-warnings --require=./evil.js"}, {"evil.js": EVIL_JS, "hooks/g.js": GOOD_JS}),
    "BASH_ENV, twice a slash": ('run = ["bash", "-c", "exit 2"]', {"BASH_ENV": "/ROOT/env.sh"}, {"env.sh": EVIL}),
    "BASH_ENV, of the process": ('run = ["bash", "-c", "exit 2"]', {"BASH_ENV": "/proc/self/cwd/env.sh"}, {"env.sh": EVIL}),
    "BASH_ENV, up from home": ('run = ["bash", "-c", "exit 2"]', {"BASH_ENV": "$HOME/../project/env.sh"}, {"env.sh": EVIL}),
    "BASH_ENV, a command": ('run = ["bash", "-c", "exit 2"]', {"BASH_ENV": "$HOME/$(. ./env.sh)"}, {"env.sh": EVIL}),
    "function of bash": ('run = ["bash", "-c", "grep x /dev/null; exit 2"]', {"BASH_FUNC_grep%%": f"() {{ {EVIL.strip()}; }}"}, {}),
    "HOME": ('run = ["python3", "-c", "import site; exit(2)"]', {"HOME": "ROOT/home"}, {f"home/.local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/usercustomize.py": EVIL_PY}),
    "PERLLIB": ('run = ["perl", "-e", "exit 2"]', {"PERLLIB": "ROOT"}, {"strict.pm": "open(F, '>', $ENV{EVIL_TRACE});"}),
    "PERL5OPT": ('run = ["perl", "-e", "exit 2"]', {"PERL5OPT": "-Mlib=. -MEvil"}, {"Evil.pm": "open(F, '>', $ENV{EVIL_TRACE});"}),
    "NODE_OPTIONS, a package": ('run = "node hooks/g.js"', {"NODE_OPTIONS": "-r evil"}, {"node_modules/evil/index.js": EVIL_JS, "hooks/g.js": GOOD_JS}),
    "NODE_OPTIONS, in quotes": ('run = "node hooks/g.js"', {"NODE_OPTIONS": '--require "ROOT/evil.js"'}, {"evil.js": EVIL_JS, "hooks/g.js": GOOD_JS}),
    "NODE_OPTIONS, an address": ('run = "node hooks/g.js"', {"NODE_OPTIONS": "--import=file://ROOT/evil.mjs"}, {"evil.mjs": "import fs from 'fs'; fs.writeFileSync(process.env.EVIL_TRACE, '');\n", "hooks/g.js": GOOD_JS}),
    "NODE_OPTIONS, source text": ('run = "node hooks/g.js"', {"NODE_OPTIONS": "--import=data:text/javascript,process.exit(0)"}, {"hooks/g.js": GOOD_JS}),
    "configuration of git": ("shell = 'git status -s >/dev/null 2>&1; exit 2'", {"GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='touch $EVIL_TRACE'"}, {}),
    "configuration file of git": ("shell = 'git status -s >/dev/null 2>&1; exit 2'", {"GIT_CONFIG_GLOBAL": "ROOT/gitconfig"}, {"gitconfig": "[core]\nfsmonitor = touch $EVIL_TRACE\n"}),
    "OPENSSL_CONF": ('run = ["sh", "-c", "exit 2"]', {"OPENSSL_CONF": "ROOT/ssl.cnf"}, {}),
    "PATH, of the process": ("shell = 'mytool; exit 2'", {"PATH": "/proc/self/cwd/bin:/usr/bin:/bin"}, {"bin/mytool": SH + EVIL}),
    "PATH in the project": ("shell = 'true || nothing; mytool; exit 2'", {"PATH": "ROOT/bin:/usr/bin:/bin"}, {"bin/mytool": SH + EVIL}),
    "PATH, relative": ("shell = 'mytool; exit 2'", {"PATH": "bin:/usr/bin:/bin"}, {"bin/mytool": SH + EVIL}),
    "PATH, empty entry": ("shell = 'mytool; exit 2'", {"PATH": ":/usr/bin:/bin"}, {"mytool": SH + EVIL}),
    "PATH, by a link outside": ("shell = 'mytool; exit 2'", {"PATH": "OUTSIDE/link/bin:/usr/bin:/bin"}, {"bin/mytool": SH + EVIL}),
    "LD_PRELOAD": ('run = ["sh", "-c", "exit 2"]', {"LD_PRELOAD": "/opt/probe.so:ROOT/evil.so"}, {"evil.so": LIBRARY}),
    "LD_PRELOAD, relative": ('run = ["sh", "-c", "exit 2"]', {"LD_PRELOAD": "./evil.so"}, {"evil.so": LIBRARY}),
    "LD_PRELOAD, by a link outside": ('run = ["sh", "-c", "exit 2"]', {"LD_PRELOAD": "OUTSIDE/link/evil.so"}, {"evil.so": LIBRARY}),
    "LD_AUDIT": ('run = ["sh", "-c", "exit 2"]', {"LD_AUDIT": "ROOT/evil.so"}, {"evil.so": LIBRARY}),
    "LD_LIBRARY_PATH": ('run = ["sh", "-c", "exit 2"]', {"LD_LIBRARY_PATH": "ROOT/lib"}, {}),
    "PYTHONPYCACHEPREFIX": ('run = ["python3", "-c", "import json; exit(2)"]', {"PYTHONPYCACHEPREFIX": "ROOT/cache"}, {}),
    "PYTHONWARNINGS": ('run = ["python3", "-c", "exit(2)"]', {"PYTHONWARNINGS": "all:0:antigravity.x:0:0"}, {}),
    "a repository in the repository": ("shell = 'git status -s >/dev/null 2>&1; exit 2'", {"GIT_DIR": "ROOT/evil"}, {"evil/HEAD": "ref: refs/heads/main\n", "evil/objects/x": "", "evil/refs/x": "", "evil/config": "[core]\nrepositoryformatversion = 0\nworktree = ..\nfsmonitor = touch $EVIL_TRACE;\n"}),
    "MAKEFILES": ("shell = 'make -f /dev/null >/dev/null 2>&1; exit 2'", {"MAKEFILES": "ROOT/evil.mk"}, {"evil.mk": "$(shell touch $$EVIL_TRACE)\n"}),
    "MAKEFLAGS": ("shell = 'make -f /dev/null >/dev/null 2>&1; exit 2'", {"MAKEFLAGS": "--eval=$(shell . ./env.sh)"}, {"env.sh": EVIL}),
    "TAR_OPTIONS": ("shell = 'tar cf /dev/null /dev/null 2>/dev/null; exit 2'", {"TAR_OPTIONS": "--checkpoint=1 --checkpoint-action=exec=./evil"}, {"evil": SH + EVIL}),
    "RIPGREP_CONFIG_PATH": ('run = ["sh", "-c", "exit 2"]', {"RIPGREP_CONFIG_PATH": "ROOT/rg"}, {"rg": "--pre=./evil\n"}),
    "UV_PYTHON": ('run = ["sh", "-c", "exit 2"]', {"UV_PYTHON": "ROOT/python"}, {"python": SH + EVIL}),
    "GOFLAGS": ('run = ["sh", "-c", "exit 2"]', {"GOFLAGS": "-toolexec=./evil"}, {"evil": SH + EVIL}),
    "PYTEST_ADDOPTS": ('run = ["sh", "-c", "exit 2"]', {"PYTEST_ADDOPTS": "-p evil"}, {"evil.py": EVIL_PY}),
}  # fmt: skip


@pytest.mark.parametrize("agents_door", [True, False], ids=["agent", "person"])
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_project_does_not_come_in_through_a_variable(
    tmp_path: Path, row: tuple[str, dict[str, str], dict[str, str]], *, agents_door: bool
) -> None:
    action, environ, files = row
    if "node" in action and shutil.which("node") is None:
        pytest.skip("node is not installed")
    project = Project(tmp_path, action, files)
    (tmp_path / "link").symlink_to(project.root)
    if "evil.so" in files:
        _compile(project.root / "evil.so")
    if "git" in action:
        (project.root / ".git").rmdir()
        subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    project.approve()
    (name, value), *_ = environ.items()
    project.environ[name] = value.replace("ROOT", str(project.root)).replace("OUTSIDE", str(tmp_path))
    outcome = project.outcome(agents_door=agents_door)
    assert not project.trace.exists()
    assert (type(outcome), outcome.raw and outcome.raw.exit_code) == (Replied, 2), outcome
    assert outcome.raw is not None
    assert any(note.startswith(f"{name}: ") and "was left out" in note for note in outcome.raw.notes)


def _compile(library: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler is installed")
    source = library.rename(library.with_suffix(".c"))
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)


def test_a_persons_own_hook_is_protected_where_an_agent_calls(tmp_path: Path) -> None:
    project = Project(tmp_path, "shell = 'exit 0'", {"env.sh": EVIL})
    own = project.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[[hook]]\nname = "own"\non = "PreToolUse"\nrun = ["bash", "-c", "exit 2"]\n')
    project.environ["BASH_ENV"] = str(project.root / "env.sh")
    assert [outcome.hook for outcome in project.fire().outcomes] == ["own"]
    assert not project.trace.exists()
    project.fire(agents_door=False)
    assert project.trace.exists(), "a person who calls gets the whole environment"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BASH_ENV", "/etc/nothing"), ("BASH_ENV", "$HOME/env"), ("PYTHONPATH", "/usr/lib/a:/usr/lib/b"),
        ("NODE_OPTIONS", "--max-old-space-size=4096 --no-warnings"), ("LD_LIBRARY_PATH", "/opt/lib"), ("NODE_OPTIONS", "--require /opt/probe.js"),
        ("JAVA_TOOL_OPTIONS", "-Xmx1g -Dfile.encoding=UTF-8"), ("GIT_PAGER", "cat"), ("GIT_AUTHOR_NAME", "A B"), ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PYTHONWARNINGS", "ignore,error::DeprecationWarning"), ("MAKEFLAGS", "w -j4 --jobserver-auth=3,4"), ("UV_PYTHON", "3.12"),
        ("GOFLAGS", "-mod=vendor -count=1"), ("GIT_DIR", "/opt/dotfiles.git"), ("PYTEST_ADDOPTS", "-q --color=yes"),
    ],
)  # fmt: skip
def test_everything_else_of_the_caller_stays(tmp_path: Path, name: str, value: str) -> None:
    project = Project(tmp_path, f"shell = 'echo \"${name}\" >&2; exit 2'")
    project.approve()
    project.environ[name] = value
    assert project.fire().reason == value


def test_a_covered_folder_may_be_in_the_path(tmp_path: Path) -> None:
    text = "shell = 'mytool'\ncovers = [\"bin\"]"
    project = Project(tmp_path, text, {"bin/mytool": "#!/bin/sh\necho fine >&2; exit 2\n"})
    project.approve()
    project.environ["PATH"] = f"{project.root}/bin:/usr/bin:/bin"
    assert project.fire().reason == "fine"
    project.write("bin/mytool", SH + EVIL)
    assert project.fire().effect == "deny"
    assert not project.trace.exists()


@pytest.mark.parametrize("path", ["/nonexistent", "/usr/games:/opt/x"])
def test_a_guard_finds_the_systems_programs_whatever_the_path_is(tmp_path: Path, path: str) -> None:
    """With PATH from a repository's agent settings, ``grep`` would not be found, and nothing refused."""
    project = Project(
        tmp_path, 'run = "hooks/g.sh"', {"hooks/g.sh": f"#!/bin/sh\nif grep -q ls; then {GOOD.strip()}; fi\n"}
    )
    project.approve()
    project.environ["PATH"] = path
    outcome = project.outcome()
    assert outcome.reply is not None
    assert outcome.reply.effect == "deny"
    assert outcome.raw is not None
    assert "PATH has none of the system's programs" in outcome.raw.notes[0]
