"""Any text is a query: nothing in it is obeyed, and every word of a note finds it."""

from __future__ import annotations

import sqlite3

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.memory.notes.index import LAYOUT, NoteIndex
from hookline.memory.notes.note_files import Note
from hookline.memory.notes.search import parse_query, search, snippet, split_words
from hookline.memory.notes.words import space_cjk, unspace_cjk

SIGNS = st.text("\"'()*^:{}+-~ANDORNEAR \n\0\\%_;#§|é数パa1", max_size=30)


def made(*texts: str) -> NoteIndex:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for migration in LAYOUT.migrations:
        for statement in migration:
            connection.execute(statement)
    connection.execute("INSERT INTO files (folder, name, signature) VALUES ('f', 'n', 's')")
    index = NoteIndex(connection, str)
    for text in texts:
        index._note(1, Note(kind="decision", title=text, scope="everywhere"), {})
    return index


@given(text=st.text(max_size=60) | SIGNS)
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_a_query(text: str) -> None:
    index = made("anything at all", text)
    for scopes in ((), ("everywhere", "f0")):
        search(index, parse_query(text), scopes=scopes)


@given(
    text=st.text(st.characters(codec="utf-8", categories=["Lu", "Ll", "Nd", "Zs"], max_codepoint=0x24F), max_size=60)
)
@settings(max_examples=100, deadline=None)
def test_every_word_of_a_note_finds_it(text: str) -> None:
    index = made(text)
    for word in split_words(text):
        assert search(index, parse_query(word)), word


@given(text=st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_spacing_is_undone_between_characters(text: str) -> None:
    assert "".join(unspace_cjk(space_cjk(text)).split()) == "".join(text.split())


@given(body=st.text(max_size=400), words=st.lists(st.text(min_size=1, max_size=8), max_size=3))
@settings(max_examples=100, deadline=None)
def test_what_is_shown_of_a_note_is_one_short_line(body: str, words: list[str]) -> None:
    shown = snippet(body, words)
    assert "\n" not in shown
    assert len(shown) <= 162


def test_a_pasted_text_without_spaces_is_read_in_one_go() -> None:
    """A million letters; a search that tried each of them as the beginning of a name would take hours."""
    for text in ("x" * 1_000_000, "--" * 500_000, "a." * 500_000, "_" * 1_000_000, "aB" * 500_000):
        assert len(parse_query(text).parts) <= 32
