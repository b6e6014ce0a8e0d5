"""No variable of the caller makes a hook load code from the project that nobody approved."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.approvals import EVIL, EVIL_JS, EVIL_PY, GOOD_JS, Project

from hookline.core.result import Replied

SH = "#!/bin/sh\n"
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
    if "git" in action:
        (project.root / ".git").rmdir()
        subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    project.approve()
    project.environ |= {name: value.replace("ROOT", str(project.root)) for name, value in environ.items()}
    outcome = project.outcome(agents_door=agents_door)
    assert not project.trace.exists()
    assert (type(outcome), outcome.raw and outcome.raw.exit_code) == (Replied, 2), outcome
    assert outcome.raw is not None
    (name,) = environ
    assert any(note.startswith(f"{name}: ") and "was left out" in note for note in outcome.raw.notes)


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
