"""``hookline help TOPIC`` shows the pages of the manual."""

from __future__ import annotations

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
