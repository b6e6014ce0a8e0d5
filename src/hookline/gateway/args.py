"""Command lines that are said in the plain way, read without argparse: its import costs a tenth of a cold run.

Whatever is not plain (a mistake, a question for help, an abbreviation) is left to the parser, which can explain itself;
both give the same values for the same words.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, empty, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a command understands, each option with what it is when nobody says it; a list collects."""

    options: Mapping[str, Any]
    flags: frozenset[str] = frozenset()
    #: The name of the one word that stands alone; "" for none.
    alone: str = ""
    #: Options that must be said.
    needed: frozenset[str] = frozenset()
    #: Option -> the only values it may have.
    choices: Mapping[str, frozenset[str]] = field(default_factory=empty)


def plainly(words: Sequence[str], known: Words) -> SimpleNamespace | None:
    """The values, or None when this is not the plain way."""
    found: dict[str, Any] = {name: [] if default == [] else default for name, default in known.options.items()}
    found |= dict.fromkeys(known.flags, False)
    alone: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            alone.append(word)
            continue
        option, equals, value = word.removeprefix("--").partition("=")
        name = option.replace("-", "_")
        if not word.startswith("--") or name not in found or (equals and name in known.flags):
            return None
        if name in known.flags:
            found[name] = True
            continue
        said = value if equals else next(rest, None)
        if said is None or (not equals and said.startswith("-") and said != "-"):
            return None
        if said not in known.choices.get(name, {said}):
            return None
        found[name] = [*found[name], said] if known.options[name] == [] else said
    if len(alone) != bool(known.alone) or any(not found[name] for name in known.needed):
        return None
    return SimpleNamespace(**found, **({known.alone: alone[0]} if known.alone else {}))


def seconds_of(deadline: str) -> float:
    """As the clients read it; 0.0 where nothing is said that they understand."""
    try:
        seconds = float(deadline) if deadline else 0.0
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), 86_400.0) if seconds == seconds else 0.0  # noqa: PLR0124  not a number


#: The command line of ``hookline hook``, which the daemon reads too.
HOOK_WORDS = Words(
    options={
        "agent": "",
        "event": "",
        "dialect": None,
        "config": [],
        "deadline": "",
        "on_failure": "ignore",
        "registration": "",
    },
    flags=frozenset({"cold"}),
    needed=frozenset({"agent"}),
    choices={"on_failure": frozenset({"ignore", "deny"})},
)
