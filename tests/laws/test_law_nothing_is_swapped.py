"""No answer counts that was given while the hook's files were not as approved, however short that was."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree

import pytest
from tests.approvals import DATA, EVIL, EVIL_PY, GOOD, Project

from hookline.core.result import Failed, Replied

SH = "#!/bin/sh\n"


class Signs:
    """Files by which a guard and who attacks it take turns, however busy the machine is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "signs"
        self._folder.mkdir()

    def wait(self, name: str) -> None:
        end = time.monotonic() + 30
        while not (self._folder / name).exists():
            assert time.monotonic() < end, f"nobody gave the sign {name!r}"
            time.sleep(0.002)

    def give(self, name: str) -> None:
        (self._folder / name).touch()

    def take_back(self, *names: str) -> None:
        for name in names:
            (self._folder / name).unlink()

    def guard(self) -> str:
        """Reads its library once somebody has swapped it, and ends when that was undone."""
        waiting = f'i=0; while [ ! -e "{self._folder}/%s" ] && [ $i -lt 3000 ]; do sleep 0.01; i=$((i + 1)); done\n'
        read = f'( . "$HOOKLINE_PROJECT/hooks/lib.sh" ); code=$?; touch "{self._folder}/read"\n'
        return f'touch "{self._folder}/began"\n{waiting % "swapped"}{read}{waiting % "undone"}exit $code\n'


@contextmanager
def swapped_meanwhile(signs: Signs, swap: Callable[[], object]) -> Iterator[None]:
    """Swaps something before the guard reads it, and undoes that before it ends."""

    def work() -> None:
        signs.wait("began")
        swap()
        signs.give("swapped")
        signs.wait("read")
        swap()
        signs.give("undone")

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()
    signs.take_back("began", "read")


@contextmanager
def during(project: Project, *acts: Callable[[], object]) -> Iterator[None]:
    """Does things while the hook runs: it says when it has begun by writing a file."""

    def work() -> None:
        began = project.root.parent / "began"
        while not began.exists():
            time.sleep(0.002)
        for act in acts:
            act()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


def waiting(folder: Path, signs: Signs) -> Project:
    return Project(folder, 'run = "sh hooks/g.sh"', {"hooks/g.sh": signs.guard(), "hooks/lib.sh": GOOD})


def exchange(one: Path, other: Path) -> None:
    spare = one.with_name("spare")
    one.rename(spare)
    other.rename(one)
    spare.rename(other)


def swap_file(project: Project) -> None:
    exchange(project.root / "hooks/lib.sh", project.root.parent / "lib.sh")


def swap_folder(project: Project) -> None:
    exchange(project.root / "hooks", project.root / "other")


def swap_project(project: Project) -> None:
    exchange(project.root, project.root.parent / "other")


def through_a_link(project: Project) -> None:
    text = EVIL if (project.root / "hooks/lib.sh").read_text() == GOOD else GOOD
    (project.root.parent / "alias").write_text(text)


def in_place(project: Project) -> None:
    text = EVIL if (project.root / "hooks/lib.sh").read_text() == GOOD else GOOD
    (project.root / "hooks/lib.sh").write_text(text)


SWAPS = {
    "file": swap_file,
    "folder": swap_folder,
    "project": swap_project,
    "alias": through_a_link,
    "in place": in_place,
}


@pytest.fixture(params=[False, True], ids=["brief", "resident"])
def stays(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def assert_noticed(project: Project, signs: Signs, swap: Callable[[], None], *, stays: bool) -> None:
    """The answer of the run in between does not count; the next one, of the approved files, does."""
    with project.engine() as runtime:
        assert runtime.trust is not None
        if stays:
            runtime.trust.stay()
        with swapped_meanwhile(signs, swap):
            (outcome,) = runtime.engine.fire_sync("PreToolUse", DATA).outcomes
        assert type(outcome) is Failed, outcome
        assert outcome.error.startswith("changed while it ran"), outcome
        (again,) = runtime.engine.fire_sync("PreToolUse", DATA).outcomes
        assert (type(again), again.reply and again.reply.effect) == (Replied, "deny"), again


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS)
def test_a_swap_that_is_undone_before_the_end_is_noticed(
    tmp_path: Path, swap: Callable[[Project], None], *, stays: bool
) -> None:
    signs = Signs(tmp_path)
    project = waiting(tmp_path, signs)
    (tmp_path / "lib.sh").write_text(EVIL)
    for other in (project.root / "other", tmp_path / "other" / "hooks"):
        other.mkdir(parents=True)
        (other / "lib.sh").write_text(EVIL)
        (other / "g.sh").write_text((project.root / "hooks/g.sh").read_text())
    os.link(project.root / "hooks/lib.sh", tmp_path / "alias")
    project.approve()
    assert_noticed(project, signs, lambda: swap(project), stays=stays)


@pytest.mark.parametrize("linked", [False, True], ids=["folder", "link"])
def test_a_swap_above_the_project_is_noticed(tmp_path: Path, *, linked: bool, stays: bool) -> None:
    """What leads to the project is moved, and no folder of the project itself."""
    signs = Signs(tmp_path)
    above, other = tmp_path / "above", tmp_path / "other"
    project = waiting(above, signs)
    copytree(above, other)
    (other / "project/hooks/lib.sh").write_text(EVIL)
    one, two = above, other
    if linked:
        one, two = tmp_path / "link", tmp_path / "other-link"
        one.symlink_to(above)
        two.symlink_to(other)
        os.link(one, tmp_path / "second-name", follow_symlinks=False)
        project.root = one / "project"
    project.approve()
    assert_noticed(project, signs, lambda: exchange(one, two), stays=stays)


def test_a_module_that_is_there_for_a_moment_is_noticed(tmp_path: Path, *, stays: bool) -> None:
    began = tmp_path / "began"
    text = (
        f"open({str(began)!r}, 'w').close()\nimport time\ntime.sleep(0.2)\nimport colorsys\nimport sys\nsys.exit(2)\n"
    )
    project = Project(tmp_path, 'run = "python3 hooks/g.py"', {"hooks/g.py": text})
    project.approve()
    evil = project.root / "hooks/colorsys.py"
    with project.engine() as runtime:
        assert runtime.trust is not None
        if stays:
            runtime.trust.stay()
        acts = (lambda: evil.write_text(EVIL_PY), lambda: time.sleep(0.6), evil.unlink)
        with during(project, *acts):
            (outcome,) = runtime.engine.fire_sync("PreToolUse", DATA).outcomes
        assert type(outcome) is Failed, outcome


@pytest.mark.parametrize("name", ["guard.log", "state/last.json", ".lock", "data"])
def test_files_that_a_hook_keeps_beside_itself_do_not_matter(tmp_path: Path, name: str, *, stays: bool) -> None:
    path = f'"${{0%/*}}/{name}"'
    text = f"mkdir -p hooks/state; echo x >> {path}; echo y > {path}.new; mv {path}.new {path}; touch here\nexit 2\n"
    project = Project(tmp_path, 'run = "sh hooks/g.sh"', {"hooks/g.sh": text})
    project.approve()
    with project.engine() as runtime:
        assert runtime.trust is not None
        if stays:
            runtime.trust.stay()
        for _ in range(3):
            (outcome,) = runtime.engine.fire_sync("PreToolUse", DATA).outcomes
            assert type(outcome) is Replied, outcome
    project.approve()
    assert type(project.outcome()) is Replied
    assert type(project.outcome()) is Replied, "approved with its files, it may write them"


def test_no_answer_of_a_swapped_script_counts(tmp_path: Path, *, stays: bool) -> None:
    """A thread exchanges the script for another one, again and again, while events are fired."""
    project = Project(tmp_path, 'run = "hooks/g.sh"', {"hooks/g.sh": SH + GOOD})
    evil = tmp_path / "evil.sh"
    evil.write_text(SH + 'echo \'{"effect": "allow"}\'\n' + EVIL)
    evil.chmod(0o755)
    project.approve()
    libc, done = ctypes.CDLL(None), threading.Event()
    paths = [os.fsencode(path) for path in (project.root / "hooks/g.sh", evil)]

    def work() -> None:
        while not done.wait(0.004):
            assert libc.renameat2(-100, paths[0], -100, paths[1], 2) == 0
            done.wait(0.001)
            assert libc.renameat2(-100, paths[0], -100, paths[1], 2) == 0

    thread = threading.Thread(target=work)
    with project.engine() as runtime:
        assert runtime.trust is not None
        if stays:
            runtime.trust.stay()
        thread.start()
        try:
            decisions = [runtime.engine.fire_sync("PreToolUse", DATA) for _ in range(40)]
        finally:
            done.set()
            thread.join()
        assert {decision.effect for decision in decisions} == {"deny"}
        (outcome,) = runtime.engine.fire_sync("PreToolUse", DATA).outcomes
        assert type(outcome) is Replied, outcome
