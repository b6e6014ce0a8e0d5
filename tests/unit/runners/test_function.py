from __future__ import annotations

import asyncio
import sys
import time

import pytest
from tests.patience import SOON

from hookline.core.hook import Function
from hookline.runners.function import FunctionRunner


@pytest.fixture
def runner():
    made = FunctionRunner()
    yield made
    made.close()


def given(call):
    return Function(target="given:here", call=call)


def write(base, **files):
    for name, text in files.items():
        path = base.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(base)


# ── calling ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_function_gets_the_event_and_its_value_is_kept_as_it_is(runner, job_for):
    raw = runner.run(job_for(given(lambda event: {"reason": event.data["tool_name"]})))
    assert (raw.value, raw.error) == ({"reason": "Bash"}, "")
    assert raw.ms > 0


def test_an_exception_of_a_hook_is_a_failure_with_its_place(runner, job_for):
    def broken(_event):
        raise ValueError("text")

    raw = runner.run(job_for(given(broken)))
    assert raw.error == "raised ValueError: text"
    assert "in broken" in raw.stderr
    assert "hookline/run" not in raw.stderr


def test_a_hook_that_exits_is_a_failure_and_not_our_end(runner, job_for):
    assert runner.run(job_for(given(lambda _event: sys.exit(2)))).error == "raised SystemExit: 2"


def test_an_interrupt_from_the_keyboard_is_passed_on(runner, job_for):
    def interrupted(_event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(job_for(given(interrupted)))


def test_a_function_that_overruns_is_timed_out(runner, job_for):
    def spin(_event):
        while True:
            pass

    raw = runner.run(job_for(given(spin), timeout=0.1))
    assert (raw.timed_out, raw.error) == (True, "")
    assert raw.ms < SOON * 1000


def test_a_timeout_error_of_the_hook_itself_is_a_failure(runner, job_for):
    async def gave_up(_event):
        raise TimeoutError

    assert runner.run(job_for(given(gave_up))).error == "raised TimeoutError"


# ── coroutines ───────────────────────────────────────────────────────────────────────────────────────


async def answers(event):
    await asyncio.sleep(0)
    return event.kind.name


async def sleeps(_event):
    await asyncio.sleep(30)


async def blocks(_event):
    while True:
        pass


def test_a_coroutine_function_is_run_to_its_end(runner, job_for):
    assert runner.run(job_for(given(answers))).value == "PreToolUse"


def test_a_coroutine_function_runs_on_the_loop_of_its_caller(runner, job_for):
    loops = []

    async def notes(_event):
        loops.append(asyncio.get_running_loop())

    async def caller():
        loops.append(asyncio.get_running_loop())
        return await runner.arun(job_for(given(notes)))

    assert asyncio.run(caller()).error == ""
    assert loops[0] is loops[1]


def test_a_blocking_run_inside_a_running_loop_works(runner, job_for):
    async def caller():
        return runner.run(job_for(given(answers)))

    assert asyncio.run(caller()).value == "PreToolUse"


@pytest.mark.parametrize("hook", [sleeps, blocks])
def test_a_coroutine_that_overruns_is_timed_out(runner, job_for, hook):
    began = time.monotonic()
    assert runner.run(job_for(given(hook), timeout=0.1)).timed_out
    assert time.monotonic() - began < SOON


def test_a_coroutine_that_overruns_on_the_callers_loop_is_timed_out(runner, job_for):
    raw = asyncio.run(runner.arun(job_for(given(sleeps), timeout=0.1)))
    assert raw.timed_out


def test_cancelling_the_caller_cancels_the_coroutine(runner, job_for):
    async def caller():
        task = asyncio.create_task(runner.arun(job_for(given(sleeps))))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(caller())


# ── finding ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_function_is_found_in_the_hooks_own_directory(runner, job_for, tmp_path):
    base = write(tmp_path, guard="def check(event):\n    return 'guarded'\n")
    assert runner.run(job_for(Function(target="guard:check", base=base))).value == "guarded"


def test_a_function_is_found_on_the_normal_path(runner, job_for, tmp_path):
    assert runner.run(job_for(Function(target="builtins:id", base=str(tmp_path)))).error == ""


def test_two_projects_with_the_same_module_name_do_not_meet(runner, job_for, tmp_path):
    bases = [
        write(tmp_path / name, guard=f"import helper\ndef check(event):\n    return helper.NAME, {name!r}\n",
              helper=f"NAME = {name!r}\n")
        for name in ("one", "two")
    ]  # fmt: skip
    values = [runner.run(job_for(Function(target="guard:check", base=base))).value for base in bases]
    assert values == [("one", "one"), ("two", "two")]


def test_packages_may_import_their_siblings(runner, job_for, tmp_path):
    base = write(
        tmp_path,
        hooks____init__="",
        hooks__guard="from .inner import WORD\nfrom hooks.inner import WORD as SAME\ndef check(event):\n    return WORD, SAME\n",
        hooks__inner="WORD = 'sibling'\n",
    )
    assert runner.run(job_for(Function(target="hooks.guard:check", base=base))).value == ("sibling", "sibling")


def test_the_host_keeps_its_modules_and_its_path(runner, job_for, tmp_path):
    base = write(
        tmp_path, some_guard="import some_helper\ndef check(event):\n    return some_helper.X\n", some_helper="X = 1\n"
    )
    runner.run(job_for(Function(target="builtins:id", base=base)))  # whatever the first call of all needs is there now
    path, before = list(sys.path), set(sys.modules)
    assert runner.run(job_for(Function(target="some_guard:check", base=base))).value == 1
    assert sys.path == path
    new = set(sys.modules) - before
    assert {name for name in new if not name.startswith("_hookline_hooks_")} == set()
    assert any(name.endswith(".some_guard") for name in new)
    runner.close()
    assert not new & set(sys.modules)


def test_a_later_engine_sees_a_later_version(job_for, tmp_path):
    values = []
    for version in (1, 22):
        base = write(tmp_path, guard=f"def check(event):\n    return {version}\n")
        runner = FunctionRunner()
        values.append(runner.run(job_for(Function(target="guard:check", base=base))).value)
        runner.close()
    assert values == [1, 22]


def test_a_module_is_loaded_once_per_engine(runner, job_for, tmp_path):
    base = write(tmp_path, guard="calls = []\ndef check(event):\n    calls.append(1)\n    return len(calls)\n")
    job = job_for(Function(target="guard:check", base=base))
    assert [runner.run(job).value for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("guard:missing", "has no 'missing'"),
        ("guard:CONSTANT", "is not a function"),
        ("guard", "is not 'package.module:function'"),
        ("no_such_module_here:check", "No module named 'no_such_module_here'"),
        ("broken:check", "SyntaxError"),
        ("raises:check", "ZeroDivisionError"),
    ],
)
def test_a_function_that_cannot_be_loaded_is_a_failure_that_says_why(runner, job_for, tmp_path, target, said):
    base = write(tmp_path, guard="CONSTANT = 1\n", broken="def (\n", raises="1 / 0\n")
    raw = runner.run(job_for(Function(target=target, base=base)))
    assert f"cannot load {target!r}" in raw.error
    assert said in raw.error


def test_a_module_that_never_finishes_loading_is_timed_out(runner, job_for, tmp_path):
    base = write(tmp_path, endless="while True:\n    pass\n")
    assert runner.run(job_for(Function(target="endless:check", base=base), timeout=0.1)).timed_out


def test_a_detached_function_runs_on_its_own(runner, job_for):
    import threading

    done = threading.Event()
    assert runner.start(job_for(given(lambda _event: done.set()))).error == ""
    assert done.wait(5)
