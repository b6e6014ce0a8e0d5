"""The reference is what the code says today."""

from __future__ import annotations

import tomllib

from hookline.dialects.native.kinds import Wrong


def test_the_generated_parts_are_current(reference):
    assert list(reference.stale()) == []


def test_two_runs_write_the_same(reference):
    first = {name: make() for name, make in reference.BLOCKS.items()}
    assert first == {name: make() for name, make in reference.BLOCKS.items()}


def test_every_key_has_an_example_that_is_right(reference):
    for table, fields in reference.FIELDS.items():
        assert {field.key for field in fields} == reference.EXAMPLES[table].keys()
        for field in fields:
            example = tomllib.loads(f"x = {reference.EXAMPLES[table][field.key][0]}")["x"]
            assert not isinstance(field.kind.read(example), Wrong), (table, field.key)


def test_every_command_and_every_exit_code_is_in_the_reference(reference):
    pages = {name: (reference.PAGES / name).read_text(encoding="utf-8") for name in ("cli.md", "exit-codes.md")}
    assert all(f"## hookline {name}\n" in pages["cli.md"] for name in reference.COMMANDS)
    assert all(f"| `{code}` |" in pages["exit-codes.md"] for code in reference.EXIT_CODES)
