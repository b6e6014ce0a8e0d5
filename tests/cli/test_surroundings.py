"""A command works, or says why not, whatever its caller has closed, filled or deleted."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hookline.core.paths import account_home

DENY = '[[hook]]\nname = "no"\non = "Stop"\nshell = "echo no >&2; exit 2"\n'
ALLOW = DENY.replace("exit 2", "exit 0")
FIRE = "fire Stop --config hook.toml"
HOOK = "hook --agent native --cold --event Stop --config hook.toml"


def started(project, words: str, around: str, hook: str = DENY) -> subprocess.CompletedProcess[str]:
    project.write("hook.toml", hook)
    line = f'printf "{{}}" | "$0" -m hookline {words} {around}'
    return subprocess.run(
        ["/bin/sh", "-c", line, sys.executable], cwd=project.path,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("around", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize(("words", "refusal"), [(FIRE, 1), (FIRE + " --json", 1), (HOOK, 2)])
def test_a_refusal_is_a_refusal_whether_or_not_it_can_be_told(project, around, words, refusal):
    if "<&-" in around and words == HOOK:
        refusal = 65  # there is no event
    assert started(project, words, around).returncode == refusal


def test_an_answer_that_cannot_be_written_is_no_allow(project):
    assert started(project, FIRE, ">/dev/full", ALLOW).returncode == 74
    done = started(project, "status", ">/dev/full")
    assert (done.returncode, "bug" in done.stderr) == (74, False)


def test_a_reader_that_went_away_does_not_turn_a_refusal_into_an_allow(project):
    script = (
        "import subprocess, sys, os\n"
        "r, w = os.pipe(); os.close(r)\n"
        "sys.exit(subprocess.call([sys.executable, '-m', 'hookline', *sys.argv[1:]], stdout=w))\n"
    )
    project.write("hook.toml", DENY)
    done = subprocess.run(
        [sys.executable, "-c", script, *FIRE.split()], cwd=project.path,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr


def test_a_guard_stands_though_the_working_directory_was_deleted(project):
    project.write(".hookline/hookline.toml", DENY)
    assert project.run("trust", "--yes").code == 0
    work = project.path / "work"
    work.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", 'rmdir "$PWD"; printf "{}" | "$0" -m hookline hook --agent native --cold --event Stop', sys.executable],
        cwd=work, env={"PATH": os.environ["PATH"], "HOME": str(project.home), "PWD": str(work)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, "directory no longer exists" in done.stderr) == (2, True)


# ── encodings ────────────────────────────────────────────────────────────────────────────────────────


def told_in(project, encoding: str, *words: str, stdin: str = "", cwd=None) -> subprocess.CompletedProcess[bytes]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), "PYTHONIOENCODING": encoding}
    return subprocess.run(
        [sys.executable, "-m", "hookline", *words], cwd=cwd or project.path, env=environ, input=stdin.encode(),
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("words", [("doctor",), ("help", "knowledge")])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_lacks_a_sign_is_shown_its_number(project, encoding, words):
    done = told_in(project, encoding, *words)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u2" in done.stdout


def test_a_locale_that_has_ascii_only_is_shown_numbers_too(project):
    """Python then escapes bytes that are no text, and nothing else."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), "LC_ALL": "POSIX", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "doctor"], cwd=project.path, env=environ, capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u2713" in done.stdout


def test_a_refusal_is_told_where_its_reason_cannot_be_written_as_it_is(project):
    project.write("hook.toml", DENY.replace("echo no", "echo geht nicht ✗"))
    done = told_in(project, "ascii", *FIRE.split())
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"geht nicht \\u2717" in done.stdout


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems know only names that are text")
@pytest.mark.parametrize(
    "words", [("check",), ("status",), ("deploy", "--agent", "codex", "--scope", "project", "--dry-run")]
)
def test_a_directory_whose_name_is_no_text_is_like_any_other(project, words):
    place = os.fsencode(project.path) + b"/\xff"
    os.mkdir(place)
    os.makedirs(place + b"/.git")
    os.makedirs(place + b"/.hookline")
    with open(place + b"/.hookline/hookline.toml", "w", encoding="utf-8") as file:
        file.write('[[hook]]\nname = "no"\non = "Stop"\nrun = "./nowhere"\n')  # there is something to warn of
    done = told_in(project, "utf-8:strict", *words, cwd=place)
    assert done.returncode == 0, done.stderr
    assert b"bug" not in done.stderr
    assert b"\\udcff" in done.stdout + done.stderr


@pytest.mark.parametrize(("words", "code"), [("chat -p -", 65), ("run", 1), ("fire Stop --data -", 65)])
def test_standard_input_that_is_no_text_is_named_with_the_place(project, words, code):
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), "PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(
        [sys.executable, "-m", "hookline", *words.split()], cwd=project.path, env=environ, input=b"hel\xfflo",
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (code, b"")
    assert b"hookline: standard input is not UTF-8: invalid start byte at byte 3" in done.stderr


def test_what_is_a_files_content_is_utf_8_whatever_the_terminal_is(project):
    project.write("hook.toml", DENY.replace("echo no", "echo geht nicht ✗"))
    done = told_in(project, "latin-1", "convert", "--from", "native", "--to", "native", "hook.toml")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "geht nicht ✗" in done.stdout.decode()
    done = told_in(project, "latin-1", "run", stdin="Grüße ✓\n")
    assert done.returncode == 1  # there is nobody to answer
    assert done.stdout.decode().startswith("Grüße ✓\n")


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems know only names that are text")
@pytest.mark.parametrize(
    "words",
    [
        "log --hook ODD",
        "log --session ODD",
        "replay ODD",
        "hooks add ODD --on Stop --shell true",
        "hooks add x --on Stop --shell ODD",
    ],
)
def test_a_word_that_is_no_text_is_a_wrong_word(project, words):
    assert project.fire("Stop").code == 0  # there is a record to look into
    given = [word.replace("ODD", os.fsdecode(b"a\xff")) for word in words.split()]
    done = told_in(project, "utf-8:strict", *given)
    assert (done.returncode, done.stdout) == (64, b"")
    assert b"'a\\udcff' is not UTF-8 text" in done.stderr
    assert not (project.home / ".config/hookline/hookline.toml").exists()


@pytest.mark.parametrize("home", ["", "relative", "./here"])
def test_a_home_that_is_no_absolute_path_is_the_accounts(project, home):
    before = sorted(project.path.iterdir())
    told = project.run("status", "--json", HOME=home).json
    assert told["state_dir"] == os.path.join(account_home(), ".local/state/hookline")
    assert sorted(project.path.iterdir()) == before


@pytest.mark.parametrize(
    "words", ["status", "trust", "list", "deploy --agent claude", "hook --agent claude --cold --event Stop"]
)
def test_without_any_home_a_command_says_which_variable_to_set(project, words):
    nobody = "import pwd, sys; pwd.getpwuid = lambda uid: {}[uid]; import hookline.cli as cli; sys.exit(cli.main())"
    done = subprocess.run(
        [sys.executable, "-c", nobody, *words.split()], cwd=project.path, input="{}", capture_output=True, text=True,
        env={"PATH": os.environ["PATH"]}, timeout=60, check=False,
    )  # fmt: skip
    told = "hookline: HOME is not set, and this account has no home directory; set HOME to a directory of your own\n"
    assert (done.returncode, done.stderr) == (74, told)
