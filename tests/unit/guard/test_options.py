"""GivenOptions as a program's own parser takes them."""

from __future__ import annotations

from hookline.guard.options import parse_options
from hookline.guard.reading import UNKNOWN, Word, word

RM = "rR,recursive f,force t:,target-directory: S?,suffix?"


def _words(text: str) -> list[Word]:
    return [word(part) for part in text.split()]


def test_a_cluster_gives_each_of_its_letters() -> None:
    options = parse_options(_words("-rf a b"), RM)
    assert ("recursive" in options, "force" in options) == (True, True)
    assert [one.text for one in options.operands] == ["a", "b"]


def test_a_value_is_attached_or_the_next_word() -> None:
    for line in ("-rt x a", "-rtx a", "--target-directory=x -r a", "--target-directory x -r a", "--targ x -r a"):
        options = parse_options(_words(line), RM)
        assert (options.last("target-directory"), [one.text for one in options.operands]) == (
            Word(("x",), options.last("target-directory").source),  # type: ignore[union-attr]
            ["a"],
        )


def test_an_optional_value_is_taken_only_if_attached() -> None:
    assert [one.text for one in parse_options(_words("-S x"), RM).operands] == ["x"]
    assert [one.text for one in parse_options(_words("-S.bak x"), RM).values("suffix")] == [".bak"]


def test_an_abbreviation_must_be_the_only_one() -> None:
    assert "force" in parse_options(_words("--fo"), RM)
    both = parse_options(_words("--force"), "force force-with-lease?")
    assert ("force" in both, "force-with-lease" in both) == (True, False)
    assert parse_options(_words("--forc"), "force force-with-lease?").unknown == ("--forc",)


def test_nothing_after_two_dashes_is_an_option() -> None:
    options = parse_options(_words("-- -rf"), RM)
    assert ("recursive" in options, [one.text for one in options.after]) == (False, ["-rf"])


def test_an_unknown_value_stays_unknown() -> None:
    value = parse_options([Word(("--target-directory=", UNKNOWN))], RM).last("target-directory")
    assert value is not None
    assert not value.known
