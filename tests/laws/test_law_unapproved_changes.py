"""Whatever happens to files, folders, links and variables after an approval: only the approved guard answers, and if it
cannot, the action is refused."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.approvals import EVIL, EVIL_PY, GOOD, Project

from hookline.core.result import Failed, Replied

#: Of a hook in each of two languages, with everything that can decide: beside it, below it, elsewhere, and named by it.
SHELL = {
    "hooks/g.sh": '. "${0%/*}/lib/a.sh"\n. lib/b\n[ -f hooks/off ] && . hooks/off\n' + GOOD,
    "hooks/lib/a.sh": ":\n",
    "lib/b": ":\n",
    "hooks/list.txt": "x\n",
}
PYTHON = {
    "hooks/g.py": "import json, sys\nimport rules\nsys.stderr.write(rules.text)\nsys.exit(rules.code)\n",
    "hooks/rules.py": "import os\ntext, code = 'no', 2\n",
    "tools/x.py": "",
}
HOOKS = {"sh": ('run = "sh hooks/g.sh"', SHELL), "py": ('run = "python3 hooks/g.py"', PYTHON)}

NAMES = sorted({*SHELL, *PYTHON, "hooks", "lib", "hooks/lib", "hooks/off", "hooks/json.py", "json.py", "hooks/re/__init__.py", "hooks/rules.pyc", "hooks/__pycache__/rules.cpython-311.pyc", "hooks/guard.log", "hooks/state/x.json", "env.sh", "bin/sh", "bin/python3", ".hookline/x"})  # fmt: skip
VARIABLES = ("PYTHONPATH", "PATH", "PYTHONHOME", "BASH_ENV", "LD_LIBRARY_PATH")


def evil_for(name: str) -> str:
    return EVIL_PY if name.endswith((".py", ".pyc")) else f"#!/bin/sh\n{EVIL}"


def replace(project: Project, path: Path, name: str) -> None:
    _clear(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(evil_for(name))


def overwrite(project: Project, path: Path, name: str) -> None:
    if path.is_file():
        status = path.stat()
        path.write_text(evil_for(name))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def make_executable(project: Project, path: Path, name: str) -> None:
    replace(project, path, name)
    path.chmod(0o755)


def link(project: Project, path: Path, name: str) -> None:
    if path.is_symlink() or path.resolve() != path:
        return
    target = Path(tempfile.mkdtemp(dir=project.root.parent)) / "target"
    if path.is_dir():
        shutil.copytree(path, target, symlinks=True)
        for file in target.rglob("*"):
            if file.is_file() and not file.is_symlink():
                file.write_text(evil_for(file.name))
    else:
        target.write_text(evil_for(name))
    _clear(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def remove(project: Project, path: Path, name: str) -> None:
    _clear(path)


def touch(project: Project, path: Path, name: str) -> None:
    if path.exists():
        os.utime(path, (1, 1))


def move(project: Project, path: Path, name: str) -> None:
    if path.exists():
        path.rename(path.with_name("moved"))
        _clear(path.with_name("moved"))


def append_a_log(project: Project, path: Path, name: str) -> None:
    with suppress(FileNotFoundError, NotADirectoryError), (project.root / "hooks/guard.log").open("a") as file:
        file.write("x\n")  # the folder may be gone


def set_variable(project: Project, path: Path, name: str) -> None:
    """One that loads code, with the code that it would load."""
    for program in ("sh", "python3"):
        project.write(f"evil/{program}", f"#!/bin/sh\n{EVIL}").chmod(0o755)
    project.write("evil/json.py", EVIL_PY)
    value = "evil" if len(name) % 3 else str(project.root / "evil")
    variable = VARIABLES[len(name) % len(VARIABLES)]
    project.environ[variable] = f"{value}:{project.environ['PATH']}" if variable == "PATH" else value


def _clear(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


ACTS: tuple[Callable[[Project, Path, str], None], ...] = (
    replace, overwrite, make_executable, link, remove, touch, move, append_a_log, set_variable,
)  # fmt: skip


def blocked_on_the_way(root: Path, path: Path) -> bool:
    """A file stands where a folder would have to be."""
    return any(one != root and one.exists() and not one.is_dir() for one in path.parents if one.is_relative_to(root))


@pytest.mark.timeout(7200)  # two thousand examples start six thousand programs
@given(
    kind=st.sampled_from(sorted(HOOKS)),
    rounds=st.lists(
        st.lists(st.tuples(st.sampled_from(ACTS), st.sampled_from(NAMES)), min_size=1, max_size=2),
        min_size=1,
        max_size=3,
    ),
    reuse=st.booleans(),
)
def test_only_the_approved_guard_answers(
    kind: str, rounds: list[list[tuple[Callable[[Project, Path, str], None], str]]], reuse: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        action, files = HOOKS[kind]
        project = Project(Path(folder).resolve(), action, files)
        project.approve()
        if reuse:
            project.keep_snapshot()
        with project.engine() as resident:
            assert resident.trust is not None
            resident.trust.stay()
            for number, acts in enumerate(rounds):
                for act, name in acts:
                    path = project.root / name
                    if not blocked_on_the_way(project.root, path):
                        act(project, path, name)
                decisions = [resident.engine.fire_sync("PreToolUse", {}, environ=project.environ)]
                decisions += [] if number else [project.fire(reuse=reuse)]
                for decision in decisions:
                    assert decision.effect == "deny"
                    (outcome,) = decision.outcomes
                    assert type(outcome) in {Failed, Replied}
                    assert type(outcome) is Failed or decision.reason == "no", decision
                    assert not project.trace.exists(), decision
