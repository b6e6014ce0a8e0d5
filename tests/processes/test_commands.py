"""How a program is found, what it is given, and what is said when it cannot be started."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from tests.patience import eventually

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("no-such-program-anywhere", "was not found in PATH"),
        ("/no/such/program", "does not exist"),
        ("./no/such/program", "does not exist"),
        ("not_executable", "chmod +x"),
        ("bad_interpreter", "/nowhere/interpreter"),
        ("no_shebang", "add a first line, such as #!/bin/sh"),
        ("/tmp", "it is a directory"),
    ],
)
def test_a_program_that_cannot_be_started_is_a_failure_that_says_what_to_do(runner, job, program, said):
    raw = runner.run(job(program))
    assert said in raw.error
    assert program.rpartition("/")[2] in raw.error
    assert raw.exit_code is None


def test_a_missing_directory_is_named_and_does_not_stop_a_hook(runner, job):
    raw = runner.run(job("true", cwd="/no/such/place"))
    assert (raw.exit_code, raw.error) == (0, "")
    assert "the working directory /no/such/place does not exist" in " ".join(raw.notes)


def test_nothing_to_run_is_a_failure(runner, job):
    assert "nothing to run" in runner.run(job()).error


def test_the_program_is_looked_up_in_the_path_of_the_child(runner, job, tmp_path):
    tool = tmp_path / "mytool"
    tool.write_text("#!/bin/sh\necho mine\n")
    tool.chmod(0o755)
    work = job("mytool", environ={"PATH": "/nowhere"})
    assert "not found" in runner.run(work).error
    found = job("mytool", environ={"PATH": f"/nowhere:{tmp_path}:/bin:/usr/bin"})
    assert runner.run(found).stdout == "mine\n"


def test_a_relative_program_is_looked_up_in_the_directory_and_then_beside_its_file(runner, job, tmp_path):
    for place in ("project", "config"):
        (tmp_path / place / "hooks").mkdir(parents=True)
    only = tmp_path / "config" / "hooks" / "only"
    only.write_text("#!/bin/sh\npwd\n")
    only.chmod(0o755)
    project, config = str(tmp_path / "project"), str(tmp_path / "config")
    assert runner.run(job("hooks/only", cwd=project, base=config)).stdout == f"{project}\n"
    nearer = tmp_path / "project" / "hooks" / "only"
    nearer.write_text("#!/bin/sh\necho nearer\n")
    nearer.chmod(0o755)
    assert runner.run(job("hooks/only", cwd=project, base=config)).stdout == "nearer\n"


def test_the_environment_is_the_callers_minus_what_is_unset_plus_what_is_laid_over(runner, job):
    caller = {"PATH": os.environ["PATH"], "A": "1", "B": "2"}
    raw = runner.run(job("env", environ=caller, unset=frozenset({"B"})))
    lines = set(raw.stdout.split("\n"))
    assert "A=1" in lines
    assert not any(line.startswith("B=") for line in lines)


def test_a_value_that_is_too_long_is_passed_by_file(runner, job):
    script = '#!/bin/sh\ntest "$BIG" = "$BIG_FILE" && wc -c <"$BIG"; stat -c %a "$BIG"; ls -ld -- "$1" | cut -c1-10'
    words = ("sh", "-c", script.split("\n", 1)[1], "sh", "y" * 200_000)
    work = job(*words)
    raw = runner.run(with_environ(work, BIG="x" * 300_000))
    assert raw.stdout.split() == ["300000", "600", "-rw-------"]
    assert len(raw.notes) == 2


def test_many_large_values_together_are_passed_by_file_largest_first(runner, job):
    values = {f"V{number}": "v" * (100_000 + number) for number in range(80)}
    raw = runner.run(with_environ(job("sh", "-c", 'echo "${#V0} ${#V79}"; wc -c <"$V79"'), **values))
    short, long, size = raw.stdout.split()
    assert (short, size) == ("100000", "100079")
    assert int(long) < 1000


@pytest.mark.parametrize("bad", ["a\0b", "\ud800"])
def test_values_that_no_kernel_takes_do_not_raise(runner, job, bad):
    raw = runner.run(with_environ(job("printenv", "BAD"), BAD=bad))
    assert (raw.exit_code, raw.error) == (0, "")


def test_names_that_are_none_are_left_out_and_noted(runner, job):
    raw = runner.run(with_environ(job("true"), **{"A=B": "1", "": "2"}))
    assert (raw.exit_code, len(raw.notes)) == (0, 2)


def test_stdin_is_empty_when_there_is_no_payload(runner, job):
    raw = runner.run(job("cat", timeout=30))
    assert (raw.exit_code, raw.stdout, raw.timed_out) == (0, "", False)


def test_a_child_gets_the_usual_signals_back(runner, job):
    """Python ignores SIGPIPE; a shell pipeline that inherits this reports write errors instead of ending."""
    raw = runner.run(job("bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}"))
    assert raw.stdout == "y\n141\n"


def test_a_hook_has_no_terminal_that_it_could_block(runner, job):
    raw = runner.run(job("sh", "-c", "ps -o sid= -p $$; echo $$"))
    session, own = raw.stdout.split()
    assert session == own


# ── scripts ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_script_runs_under_its_shebang_from_a_private_file(runner, job):
    raw = runner.run(job(script='#!/bin/sh\nstat -c \'%a\' "$0" "$(dirname "$0")"; echo $0'))
    mode, directory, path = raw.stdout.split()
    assert (mode, directory) == ("700", "700")
    assert not os.path.exists(path)


@pytest.mark.parametrize(
    "shebang",
    [
        "#!/bin/sh",
        "#! /bin/sh",
        "#!/bin/sh\r",
        "#!/usr/bin/env sh",
        "#!/usr/bin/env  -S  sh   -e",
        "#!/bin/sh   -e  -u  ",
    ],
)
def test_every_spelling_of_a_shebang_is_understood(runner, job, shebang):
    raw = runner.run(job(script=f"{shebang}\necho hello\n"))
    assert (raw.exit_code, raw.stdout) == (0, "hello\n")


def test_a_script_with_dos_line_ends_runs(runner, job):
    assert runner.run(job(script="#!/bin/sh\r\nif true; then\r\necho yes\r\nfi\r\n")).stdout == "yes\n"


def test_the_program_that_a_dialect_names_gets_the_script(runner, job):
    assert runner.run(job(sys.executable, "-I", script="print('in python')\n")).stdout == "in python\n"


def test_a_script_reads_its_stdin(runner, job):
    assert runner.run(job(script="#!/bin/sh\ncat", stdin=b"payload")).stdout == "payload"


# ── detached ─────────────────────────────────────────────────────────────────────────────────────────


def wait_for(path: Path) -> str:
    assert eventually(lambda: path.exists() and path.read_text()), path
    return path.read_text()


def test_a_detached_hook_outlives_its_start_and_is_reaped(runner, job, tmp_path):
    out, enough = tmp_path / "out", tmp_path / "enough"
    waits = f"while [ ! -e {enough} ]; do sleep 0.02; done"
    script = f"#!/bin/sh\n{waits}\n{{ ps -o sid= -p $$; echo $$; cat; }} >{out}.new\nmv {out}.new {out}\n"
    raw = runner.start(job(script=script, stdin=b"payload"))
    assert (raw.error, out.exists()) == ("", False)
    enough.touch()
    session, own, payload = wait_for(out).split()
    assert (session, payload) == (own, "payload")
    assert eventually(lambda: not os.path.exists(f"/proc/{own}"))


def test_a_detached_hook_survives_the_end_of_its_process(tmp_path):
    import subprocess

    out = tmp_path / "out"
    code = Path(__file__).with_name("start_detached.py")
    subprocess.run([sys.executable, str(code), str(tmp_path / "state"), str(out)], check=True, timeout=60)
    assert wait_for(out) == "payload"


def test_a_detached_hook_that_cannot_start_says_so(runner, job, tmp_path):
    assert "not found" in runner.start(job("no-such-program-anywhere", stdin=b"x")).error
    assert "interpreter" in runner.start(job("bad_interpreter", stdin=b"x")).error
    scratch = tmp_path / "state" / "tmp"
    assert not scratch.exists() or list(scratch.iterdir()) == []


def test_what_long_gone_detached_hooks_left_is_swept_away(runner, job, tmp_path):
    old = tmp_path / "state" / "tmp" / "0123"
    old.mkdir(parents=True)
    (old / "script").write_text("x")
    os.utime(old, (1, 1))
    assert runner.start(job("cat", stdin=b"x")).error == ""
    assert not old.exists()


def test_the_payload_of_a_detached_hook_is_in_no_folder_and_its_files_go_when_it_ends(runner, job, tmp_path):
    out, enough = tmp_path / "out", tmp_path / "enough"
    script = f"#!/bin/sh\nwhile [ ! -e {enough} ]; do sleep 0.02; done\ncat >{out}.new\nmv {out}.new {out}\n"
    assert runner.start(job(script=script, stdin=b"s3cr3t-data")).error == ""
    scratch = tmp_path / "state" / "tmp"
    files = [file for file in scratch.rglob("*") if file.is_file()]
    assert files
    assert not any(b"s3cr3t-data" in file.read_bytes() for file in files)
    enough.touch()
    assert wait_for(out) == "s3cr3t-data"
    assert eventually(lambda: list(scratch.iterdir()) == [])


def test_what_detached_hooks_left_that_have_ended_is_swept_away(runner, job, tmp_path):
    import subprocess

    ended = subprocess.Popen(["true"], start_new_session=True)
    ended.wait()
    for name, pid in (("ended", ended.pid), ("runs", os.getpgrp())):
        left = tmp_path / "state" / "tmp" / name
        left.mkdir(parents=True)
        (left / f".of-{pid}").write_text("")
    assert runner.start(job("cat", stdin=b"x")).error == ""
    assert [left.name for left in (tmp_path / "state" / "tmp").iterdir()] == ["runs"]


def test_a_state_directory_that_cannot_be_used_is_a_failure_not_an_exception(runner, job, tmp_path):
    (tmp_path / "state").write_text("a file in the way")
    assert "cannot prepare the hook" in runner.run(job(script="#!/bin/sh\n")).error


def test_private_directories_are_private(runner, job, tmp_path):
    runner.run(job(script="#!/bin/sh\n"))
    assert stat.S_IMODE((tmp_path / "state" / "tmp").stat().st_mode) == 0o700


def with_environ(job, **values):
    from dataclasses import replace

    return replace(job, call=replace(job.call, environ=values))
