"""What runs is what was approved: no edit of the file that decides leaves the hook trusted."""

from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path

import pytest
from tests.approvals import DATA, EVIL, EVIL_JS, EVIL_PY, GOOD, GOOD_JS, GOOD_PY, Project

from hookline.core.result import Failed, Replied

SH = "#!/bin/sh\n"


@dataclass(frozen=True)
class Shape:
    """A way to write a hook whose answer depends on ``decides``, which is then overwritten with ``evil``."""

    name: str
    action: str
    files: dict[str, str]
    decides: str
    evil: str = EVIL
    environ: dict[str, str] = field(default_factory=dict)
    needs: str = "sh"


SHAPES = (
    Shape("script", 'run = "hooks/g.sh"', {"hooks/g.sh": SH + GOOD}, "hooks/g.sh", SH + EVIL),
    Shape("interpreter and script", 'run = "sh hooks/g.sh"', {"hooks/g.sh": GOOD}, "hooks/g.sh"),
    Shape("absolute path", 'run = "ROOT/hooks/g.sh"', {"hooks/g.sh": SH + GOOD}, "hooks/g.sh", SH + EVIL),
    Shape("sourced beside", 'run = "sh hooks/g.sh"', {"hooks/g.sh": '. "${0%/*}/lib.sh"\n', "hooks/lib.sh": GOOD}, "hooks/lib.sh"),
    Shape("sourced elsewhere", 'run = "sh hooks/g.sh"', {"hooks/g.sh": ". lib/common.sh\n", "lib/common.sh": GOOD}, "lib/common.sh"),
    Shape("sourced twice over", 'run = "sh tools/g.sh"', {"tools/g.sh": ". tools/a.sh\n", "tools/a.sh": '. "$(dirname "$0")/b.sh"\n', "tools/b.sh": GOOD}, "tools/b.sh"),
    Shape("called script", 'run = "sh hooks/g.sh"', {"hooks/g.sh": "exec bash lib/check\n", "lib/check": GOOD}, "lib/check"),
    Shape("called program", 'run = "sh tools/g.sh"', {"tools/g.sh": "exec ./tools/check\n", "tools/check": SH + GOOD}, "tools/check", SH + EVIL),
    Shape("by a variable of the script", 'run = "sh hooks/g.sh"', {"hooks/g.sh": 'D=$(cd "$(dirname "$0")" && pwd)\n. "$D/../lib/x.sh"\n', "lib/x.sh": GOOD}, "lib/x.sh"),
    Shape("cd and script", 'shell = "cd h; sh x.sh"', {"h/x.sh": GOOD}, "h/x.sh"),
    Shape("cd with quotes", """shell = 'cd "my hooks" && sh ./x.sh'""", {"my hooks/x.sh": GOOD}, "my hooks/x.sh"),
    Shape("cd to a variable", """shell = 'cd "$CLAUDE_PROJECT_DIR/h" && . ./x.sh'""", {"h/x.sh": GOOD}, "h/x.sh", environ={"CLAUDE_PROJECT_DIR": "ROOT"}),
    Shape("glob in a folder", """shell = 'for f in h.d/*.sh; do . "$f"; done'""", {"h.d/1.sh": GOOD}, "h.d/1.sh"),
    Shape("glob of names", "shell = 'cat g*.sh | sh'", {"guard.sh": GOOD}, "guard.sh"),
    Shape("command substitution", """shell = 'sh "$(pwd)/hooks/g.sh"'""", {"hooks/g.sh": GOOD}, "hooks/g.sh"),
    Shape("project variable", """shell = 'sh "$CLAUDE_PROJECT_DIR"/hooks/g.sh'""", {"hooks/g.sh": GOOD}, "hooks/g.sh", environ={"CLAUDE_PROJECT_DIR": "ROOT"}),
    Shape("own variable", """shell = 'sh "$WHERE/g.sh"'""", {"h/g.sh": GOOD}, "h/g.sh", environ={"WHERE": "ROOT/h"}),
    Shape("standard input", "shell = 'sh < h/g.sh'", {"h/g.sh": GOOD}, "h/g.sh"),
    Shape("non-ASCII name", "shell = 'sh hooks/prüfung-é.sh'", {"hooks/prüfung-é.sh": GOOD}, "hooks/prüfung-é.sh"),
    Shape("non-ASCII inside", "shell = 'x=hooks/ß.sh; sh $x'", {"hooks/ß.sh": GOOD}, "hooks/ß.sh"),
    Shape("name with blanks", """run = ["sh", "hooks/my guard.sh"]""", {"hooks/my guard.sh": GOOD}, "hooks/my guard.sh"),
    Shape("bash -c", """run = ["bash", "-c", ". hooks/g.sh"]""", {"hooks/g.sh": GOOD}, "hooks/g.sh"),
    Shape("inline script", "script = '''\n#!/bin/sh\n. lib/g.sh\n'''", {"lib/g.sh": GOOD}, "lib/g.sh"),
    Shape("BASH_ENV in the line", "shell = 'BASH_ENV=h/env exec bash -c :'", {"h/env": GOOD}, "h/env"),
    Shape("BASH_ENV in the table", """run = ["bash", "-c", ":"]\nenv = { BASH_ENV = "h/env" }""", {"h/env": GOOD}, "h/env"),
    Shape("PYTHONPATH in the table", """run = ["python3", "-c", "import gate"]\nenv = { PYTHONPATH = "lib" }""", {"lib/gate.py": GOOD_PY}, "lib/gate.py", EVIL_PY),
    Shape("by two variables of the script", 'run = "sh tools/g.sh"', {"tools/g.sh": 'D="$(cd "$(dirname "$0")" && pwd)"\nLIB="$D/lib"\n. "$LIB/x.sh"\n', "tools/lib/x.sh": GOOD}, "tools/lib/x.sh"),
    Shape("import of an isolated python", 'run = "python3 -E tools/g.py"', {"tools/g.py": "import rules\n", "tools/rules.py": GOOD_PY}, "tools/rules.py", EVIL_PY),
    Shape("meaning of #name", 'run = "node hooks/g.js"', {"hooks/g.js": "require('#x');\n", "package.json": '{"imports": {"#x": "./x.js"}}', "x.js": GOOD_JS, "y": EVIL_JS}, "package.json", '{"imports": {"#x": "./y"}}', needs="node"),
    Shape("python script", 'run = "python3 hooks/g.py"', {"hooks/g.py": GOOD_PY}, "hooks/g.py", EVIL_PY),
    Shape("imported module", 'run = "python3 hooks/g.py"', {"hooks/g.py": "import rules\n", "hooks/rules.py": GOOD_PY}, "hooks/rules.py", EVIL_PY),
    Shape("imported package", 'run = "python3 tools/g.py"', {"tools/g.py": "from rules import core\n", "tools/rules/__init__.py": "", "tools/rules/core.py": GOOD_PY}, "tools/rules/core.py", EVIL_PY),
    Shape("module at the root", 'run = "python3 g.py"', {"g.py": "import rules\n", "rules.py": GOOD_PY}, "rules.py", EVIL_PY),
    Shape("python3 -m foo", 'run = "python3 -m foo"', {"foo/__init__.py": "", "foo/__main__.py": "from .a import b\n", "foo/a.py": GOOD_PY}, "foo/a.py", EVIL_PY),
    Shape("python3 -mfoo", 'run = "python3 -mfoo"', {"foo.py": GOOD_PY}, "foo.py", EVIL_PY),
    Shape("python folder", 'run = "python3 guard"', {"guard/__main__.py": "import part\n", "guard/part.py": GOOD_PY}, "guard/part.py", EVIL_PY),
    Shape("python function", 'python = "hooks.g:run"', {"hooks/__init__.py": "", "hooks/g.py": "from hooks.rules import run\n", "hooks/rules.py": "def run(event):\n    return {'effect': 'deny', 'reason': 'no'}\n"}, "hooks/rules.py", "import os\nopen(os.environ['EVIL_TRACE'], 'w').close()\ndef run(event):\n    return None\n"),
    Shape("node folder", 'run = "node guard"', {"guard/package.json": '{"main": "m.js"}', "guard/m.js": GOOD_JS}, "guard/m.js", EVIL_JS, needs="node"),
    Shape("required module", 'run = "node tools/g.js"', {"tools/g.js": "require('./lib/rules');\n", "tools/lib/rules.js": GOOD_JS}, "tools/lib/rules.js", EVIL_JS, needs="node"),
    Shape("interpreter in the repository", 'run = "./bin/sh hooks/g.x"', {"bin/sh": '#!/bin/sh\n. "$1"\n', "hooks/g.x": GOOD}, "bin/sh", SH + EVIL),
    Shape("list of patterns", 'run = "sh hooks/g.sh"', {"hooks/g.sh": 'grep -q ls "${0%/*}/list.txt" && exit 2\ntouch "$EVIL_TRACE"\n', "hooks/list.txt": "ls\n"}, "hooks/list.txt", "nothing\n"),
    Shape("file of a root script", 'run = "sh guard.sh"', {"guard.sh": 'grep -q -f denied.txt denied.txt && [ -s denied.txt ] && exit 2\ntouch "$EVIL_TRACE"\n', "denied.txt": "ls\n"}, "denied.txt", ""),
    Shape("named in covers", 'run = "sh scripts/g.sh"\ncovers = ["scripts/rules"]', {"scripts/g.sh": 'x=rules; for f in scripts/$x/*; do . "$f"; done\n', "scripts/rules/a": GOOD}, "scripts/rules/a"),
)  # fmt: skip


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.name)
def shape(request: pytest.FixtureRequest) -> Shape:
    one: Shape = request.param
    if shutil.which(one.needs) is None:
        pytest.skip(f"{one.needs} is not installed")
    return one


def test_an_approved_guard_answers(shape: Shape, tmp_path: Path) -> None:
    project = Project(tmp_path, shape.action, shape.files, **shape.environ)
    project.approve()
    outcome = project.outcome()
    assert (type(outcome), outcome.reply and outcome.reply.effect) == (Replied, "deny"), outcome
    assert type(project.outcome()) is Replied, "its own run must not make it untrusted"


def test_an_edit_of_what_decides_is_refused_before_it_runs(shape: Shape, tmp_path: Path) -> None:
    project = Project(tmp_path, shape.action, shape.files, **shape.environ)
    project.approve()
    project.keep_snapshot()
    project.write(shape.decides, shape.evil)
    for reuse in (True, False):
        outcome = project.outcome(reuse=reuse)
        assert (type(outcome), outcome.not_run) == (Failed, "changed"), outcome
    assert not project.trace.exists()
    project.write(shape.decides, shape.files[shape.decides])
    assert type(project.outcome(reuse=True)) is Replied, "as it was approved, it runs again"


@dataclass(frozen=True)
class Newcomer:
    """A file that would run instead of an approved one, or besides, as soon as it is there."""

    name: str
    action: str
    files: dict[str, str]
    path: str
    evil: str = EVIL
    needs: str = "sh"


NODE = 'run = "node tools/g.js"'
NEWCOMERS = (
    Newcomer("node: without a suffix", 'run = "node hooks/g.js"', {"hooks/g.js": "require('./lib');\n", "hooks/lib.js": GOOD_JS}, "hooks/lib", EVIL_JS, "node"),
    Newcomer("node: in front of a folder", NODE, {"tools/g.js": "require('./lib');\n", "tools/lib/index.js": GOOD_JS}, "tools/lib.js", EVIL_JS, "node"),
    Newcomer("node: a nearer package", NODE, {"tools/g.js": "require('left');\n", "node_modules/left/index.js": GOOD_JS}, "tools/node_modules/left/index.js", EVIL_JS, "node"),
    Newcomer("node: what a folder's main file is", NODE, {"tools/g.js": "require('./lib');\n", "tools/lib/index.js": GOOD_JS, "tools/lib/x.dat": EVIL_JS}, "tools/lib/package.json", '{"main": "x.dat"}', "node"),
    Newcomer("perl: compiled", 'run = "perl -Ihooks hooks/g.pl"', {"hooks/g.pl": "use Foo;\n", "hooks/Foo.pm": "package Foo; print STDERR 'no'; exit 2; 1;\n"}, "hooks/Foo.pmc", 'open(F, ">$ENV{EVIL_TRACE}"); exit 0;\n', "perl"),
    Newcomer("shell: a program, if it is there", 'run = "sh hooks/g.sh"', {"hooks/g.sh": f"[ -x ./pre ] && exec ./pre\n{GOOD}"}, "pre", SH + EVIL),
    Newcomer("shell: by a variable", 'run = "sh hooks/g.sh"', {"hooks/g.sh": f'D=tools; [ -f $D/pre.sh ] && . "$D/pre.sh"\n{GOOD}'}, "tools/pre.sh"),
    Newcomer("python: evaluated", 'run = "python3 tools/g.py"', {"tools/g.py": f"import os\nif os.path.exists('tools/more'): exec(open('tools/more').read())\n{GOOD_PY}"}, "tools/more", EVIL_PY),
    Newcomer("python: started", 'run = "python3 tools/g.py"', {"tools/g.py": f"import os, subprocess, sys\nif os.path.exists('tools/pre'): sys.exit(subprocess.call(['tools/pre']))\n{GOOD_PY}"}, "tools/pre", SH + EVIL),
)  # fmt: skip


@pytest.mark.parametrize("newcomer", NEWCOMERS, ids=lambda one: one.name)
@pytest.mark.parametrize("stays", [False, True], ids=["brief", "resident"])
def test_a_file_that_would_run_instead_is_noticed(newcomer: Newcomer, tmp_path: Path, *, stays: bool) -> None:
    if shutil.which(newcomer.needs) is None:
        pytest.skip(f"{newcomer.needs} is not installed")
    project = Project(tmp_path, newcomer.action, newcomer.files)
    project.approve()
    with project.engine() as runtime:
        assert runtime.trust is not None
        if stays:
            runtime.trust.stay()
        (before,) = runtime.engine.fire_sync("PreToolUse", DATA).outcomes
        assert type(before) is Replied, before
        project.write(newcomer.path, newcomer.evil)
        (outcome,) = runtime.engine.fire_sync("PreToolUse", DATA).outcomes
    assert (type(outcome), outcome.not_run) == (Failed, "changed"), outcome
    assert not project.trace.exists()


def test_a_virtual_environment_of_the_project_starts_nothing_new(tmp_path: Path) -> None:
    project = Project(tmp_path, 'run = ".venv/bin/python tools/g.py"', {"tools/g.py": GOOD_PY})
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", project.root / ".venv"], check=True)
    project.approve()
    assert type(project.outcome()) is Replied
    (packages,) = (project.root / ".venv/lib").glob("python*/site-packages")
    for name, text in {"x.pth": f"import os; {EVIL_PY.splitlines()[1]}\n", "sitecustomize.py": EVIL_PY}.items():
        (packages / name).write_text(text)
        outcome = project.outcome()
        assert (type(outcome), outcome.not_run) == (Failed, "changed"), name
        (packages / name).unlink()
    assert type(project.outcome()) is Replied
    assert not project.trace.exists()


def test_a_file_of_the_project_that_is_named_through_a_link_elsewhere_is_the_approved_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "project")
    project = Project(tmp_path, f'run = "{tmp_path}/link/hooks/g.sh"', {"hooks/g.sh": SH + GOOD})
    project.approve()
    assert type(project.outcome()) is Replied
    evil = tmp_path / "evil-project/hooks/g.sh"
    evil.parent.mkdir(parents=True)
    evil.write_text(SH + EVIL)
    evil.chmod(0o755)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "evil-project")
    outcome = project.outcome()
    assert (type(outcome), outcome.not_run) == (Failed, "changed"), outcome


FUNCTION = {"hooks/__init__.py": "", "hooks/g.py": "from hooks.rules import run\n", "hooks/rules.py": "def run(event):\n    return {'effect': 'deny'}\n"}  # fmt: skip


def test_a_function_is_compiled_from_its_source_and_not_from_a_cache(tmp_path: Path) -> None:
    project = Project(tmp_path, 'python = "hooks.g:run"', FUNCTION)
    rules = project.root / "hooks/rules.py"
    times = rules.stat().st_atime_ns, rules.stat().st_mtime_ns
    evil = "import os\nopen(os.environ['EVIL_TRACE'], 'w').close()\ndef run(event):\n    return None\n"
    rules.write_text(evil)
    os.utime(rules, ns=times)
    py_compile.compile(str(rules), doraise=True)
    rules.write_text(FUNCTION["hooks/rules.py"] + "#" * (len(evil) - len(FUNCTION["hooks/rules.py"])))
    os.utime(rules, ns=times)  # the cache fits the source by its time and size
    project.approve()
    assert project.fire().effect == "deny"
    assert not project.trace.exists()


def test_a_script_imports_its_modules_from_their_source_and_not_from_a_cache(tmp_path: Path) -> None:
    project = Project(
        tmp_path, 'run = "python3 hooks/g.py"', {"hooks/g.py": "import rules\n", "hooks/rules.py": EVIL_PY}
    )
    rules = project.root / "hooks/rules.py"
    times = rules.stat().st_atime_ns, rules.stat().st_mtime_ns
    py_compile.compile(str(rules), doraise=True)
    rules.write_text(GOOD_PY + "#" * (len(EVIL_PY) - len(GOOD_PY)))
    os.utime(rules, ns=times)
    project.approve()
    assert project.fire().effect == "deny"
    assert not project.trace.exists()


#: Its folder is not searched by an isolated Python.
ADDS_ITSELF = "import os, sys\nsys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\nimport rules\n"


def poison(rules: Path) -> None:
    """Other code in the cache of a module, which fits the module by its time and size."""
    status, text = rules.stat(), rules.read_text()
    rules.write_text(EVIL_PY + "#" * (len(text) - len(EVIL_PY)))
    os.utime(rules, ns=(status.st_atime_ns, status.st_mtime_ns))
    py_compile.compile(str(rules), doraise=True)
    rules.write_text(text)
    os.utime(rules, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    ("action", "refuses"),
    [
        ('run = "PYTHON -I hooks/g.py"', False),
        ('run = "PYTHON -s -E hooks/g.py"', False),
        ('shell = "PYTHON -B -I hooks/g.py"', True),
        ('shell = "env -i EVIL_TRACE=$EVIL_TRACE PYTHON -B hooks/g.py"', True),
        ('run = "hooks/start"', True),
    ],
)
def test_a_python_without_variables_does_not_read_a_cache_either(tmp_path: Path, action: str, refuses: bool) -> None:
    files = {"hooks/g.py": ADDS_ITSELF, "hooks/rules.py": GOOD_PY + "#" * 80, "hooks/start": f"#!{sys.executable} -BE\n{ADDS_ITSELF}"}  # fmt: skip
    project = Project(tmp_path, action.replace("PYTHON", sys.executable), files)
    project.approve()
    assert type(project.outcome()) is Replied
    assert type(project.outcome()) is Replied, "its own run must not make it untrusted"
    poison(project.root / "hooks/rules.py")
    outcome = project.outcome()
    assert outcome.not_run == ("changed" if refuses else None), outcome
    assert not project.trace.exists()


def test_a_module_that_nobody_approved_is_not_imported(tmp_path: Path) -> None:
    project = Project(tmp_path, 'python = "tools.g:run"', {"tools/g.py": "import importlib\nname = 'mo' + 're'\nimportlib.import_module(name)\ndef run(event): ...\n", "more.py": ""})  # fmt: skip
    project.approve()
    outcome = project.outcome()
    assert type(outcome) is Failed
    assert "more.py was not approved with the hook; name it with covers" in outcome.error


def test_a_function_runs_where_a_library_has_wrapped_pythons_loaders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrapped(SourceFileLoader): ...  # as import hooks of type checkers put in place

    monkeypatch.setattr(sys, "path_hooks", [FileFinder.path_hook((Wrapped, SOURCE_SUFFIXES))])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    project = Project(tmp_path, 'python = "hooks.g:run"', {"hooks/g.py": "def run(event): return {'effect': 'deny'}\n"})
    project.approve()
    assert project.fire().effect == "deny"
