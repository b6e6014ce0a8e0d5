"""The document's names of keys and the editor's."""

from __future__ import annotations

import pytest

from hookline.dialects.lash.entry import ALIASES, NAMED
from hookline.shell.xonsh.keys import EDITOR_KEYS, editor_key, key_name


def test_every_name_of_the_document_has_a_key_and_comes_back():
    for name in NAMED - ALIASES.keys():
        spelled = editor_key(name)
        assert spelled is not None
        assert key_name(spelled) == name


def test_the_editor_knows_every_spelling():
    keys = pytest.importorskip("prompt_toolkit.keys").Keys
    assert {keys(spelled).value for spelled in EDITOR_KEYS.values()} == set(EDITOR_KEYS.values())


def test_keys_that_a_terminal_cannot_tell_apart_have_one_name():
    assert {name: editor_key(name) for name in ALIASES} == {
        "ctrl+i": "c-i",
        "ctrl+m": "c-m",
        "ctrl+h": "c-h",
        "ctrl+[": "escape",
    }
    assert key_name("c-i") == "tab"


def test_characters_are_their_own_names_and_the_rest_has_none():
    assert [key_name(key) for key in ("a", "A", " ", ">", "\x01", "f13", "<bracketed-paste>")] == [
        "a", "A", " ", ">", None, None, None,
    ]  # fmt: skip
