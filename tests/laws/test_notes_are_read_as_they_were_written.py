"""What stands in a note's front matter is read as it was written, and what a start is told is never cut within a section."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.memory.inject.context_inject import Section, fit_sections
from hookline.memory.notes.front_matter import front_matter, parse_note

texts = st.text(max_size=60)  # without halves of characters, as is the default


@settings(max_examples=100)
@given(
    st.dictionaries(st.sampled_from(["session_id", "cwd", "project", "branch", "claude_version"]), texts, min_size=1)
)
def test_every_value_survives(fields: dict[str, str]) -> None:
    note = parse_note("x.md", front_matter(fields) + "\n## User\n\nhello\n")
    assert note is not None
    assert note.fields == fields
    assert note.prompt == "hello"


sections = st.lists(
    st.builds(Section, title=st.sampled_from("ABCDEF"), text=st.text("xyz\n", min_size=1, max_size=50),
              drops=st.integers(0, 4)),
    max_size=6, unique_by=lambda one: one.title,
)  # fmt: skip


@settings(max_examples=100)
@given(sections, st.integers(0, 200))
def test_only_whole_sections_go_and_never_those_that_stay(given_sections: list[Section], most: int) -> None:
    body = fit_sections(given_sections, most)
    stay = [str(one) for one in given_sections if not one.drops]
    assert all(one in body for one in stay)
    told = body.partition("\n\n")[2] if body.startswith("[truncated") else body
    droppable_left = any(str(one) in told for one in given_sections if one.drops)
    assert len(told) <= most or not droppable_left or not given_sections
