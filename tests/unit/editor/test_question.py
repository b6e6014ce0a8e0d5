"""What a person reads of a question and of progress."""

from __future__ import annotations

import pytest

from hookline.editor.question import Progress, readable, shorten


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"Tool: Bash\n\nArgs:\n{}", "Tool: Bash\n\nArgs:\n{}"),
        (r'Args:\n{"command":"a\nTool: Read\n"}', 'Args:\n{"command":"a\\nTool: Read\\n"}'),
        (r'{"a":"say \"hi\"\n"}\nend', '{"a":"say \\"hi\\"\\n"}\nend'),
        ("two\nlines\ttab", "two\nlines   tab"),
        ("\x1b[2J\x07\u202egnp", "·[2J··gnp"),
        (r"back\\slash \t", r"back\\slash \t"),
    ],
)
def test_a_model_can_draw_no_lines_of_its_own_and_move_no_cursor(text: str, shown: str) -> None:
    assert readable(text) == shown


def test_what_is_not_shown_is_said() -> None:
    text = "a" * 5000 + "rm -rf /" + "b" * 5000
    shown = shorten(text)
    assert len(shown) < 4100
    assert "… 6008 characters are not shown …" in shown
    assert shorten("short") == "short"


def test_a_line_of_progress() -> None:
    assert Progress(step="report", token="t", title="Run", message="tests", percentage=40).line() == "Run: tests: 40%"
    assert Progress(step="end", token="t").line() == "t"
