"""``hookline help TOPIC`` shows the pages of the manual."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hookline.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_a_topic_is_the_page_of_that_name(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "fail-closed"]) == 0
    assert capsys.readouterr().out == (DOCS / "how-to" / "fail-closed.md").read_text(encoding="utf-8")


def test_a_page_is_found_by_words_of_its_title(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "fails", "closed"]) == 0
    assert capsys.readouterr().out.startswith("# Write a guard that fails closed\n")


def test_a_command_comes_first_and_names_its_page(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "guard"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: hookline guard")
    assert out.endswith("The manual: hookline help how-to/guard\n")


def test_every_page_is_a_topic(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "topics"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    parts = ("tutorial", "how-to", "cookbook", "from", "explanation", "reference")
    pages = (path for part in parts for path in (DOCS / part).glob("*.md") if path.name != "README.md")
    assert listed == {str(path.relative_to(DOCS)).removesuffix(".md") for path in pages}


def test_an_unknown_topic_names_the_list(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "fail-close"]) == 64
    assert "did you mean 'fail-closed'" in (err := capsys.readouterr().err)
    assert "hookline help topics" in err


def test_the_library_is_described_and_not_only_named(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "reference/python"]) == 0
    shown = capsys.readouterr().out
    assert ":::" not in shown
    assert (
        "- `hookline.Engine`: A set of hooks, and everything needed to fire them. More: `python -m pydoc hookline.Engine`\n- `hookline.hook`: "
        in shown
    )


def test_a_part_of_the_manual_lists_its_pages(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "tutorial"]) == 0
    assert capsys.readouterr().out.split() == ["tutorial/first-hook", "Guard", "an", "agent,", "in", "ten", "minutes"]


def test_what_is_no_page_names_the_pages_that_mention_it(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "Windows"]) == 64
    assert "mentioned in: hookline help explanation/platforms" in capsys.readouterr().err


def test_at_a_terminal_a_link_is_the_command_that_shows_its_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("LESS", "FRX")  # set for the pager, and must not reach other tests
    monkeypatch.setenv("TERM", "dumb")
    assert main(["help", "block-a-command"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "register hookline with them (hookline help how-to/deploy)." in shown

    main(["help", "first-hook"])
    assert "to follow along. (For a guard" in (shown := " ".join(capsys.readouterr().out.split()))
    assert "here you learn how hooks work.) you need hookline" in shown.lower()  # and no picture between them


def test_without_the_library_for_colours_a_page_opens_in_the_pager_all_the_same(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("LESS", "FRX")  # set for the pager, and must not reach other tests
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("pydoc.pager", lambda text: sys.stdout.write(f"PAGER {text}"))
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["help", "block-a-command"]) == 0
    shown = capfd.readouterr().out
    assert shown.startswith("PAGER # ")
    assert "(`hookline help how-to/deploy`)" in shown


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_about_help_is_the_overview(capsys: pytest.CaptureFixture[str], option: str):
    assert main(["help", option]) == 0
    assert capsys.readouterr().out.startswith("usage: hookline COMMAND")


@pytest.mark.parametrize("command", ["guard", "deploy", "fire"])
def test_help_fits_a_narrow_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str):
    monkeypatch.setenv("COLUMNS", "200")
    main([command, "--help"])
    wide = capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "60")
    main([command, "--help"])
    narrow = capsys.readouterr().out

    assert max(map(len, wide.splitlines())) > 100
    examples = [line for line in narrow.splitlines() if line.startswith(f"  hookline {command}")]
    assert examples
    assert [line for line in narrow.splitlines() if len(line) > 60 and line not in examples] == []
