"""Plain command lines, parsed without argparse: its import costs a tenth of a cold run.

Anything else (a mistake, --help, an abbreviation) is left to argparse, which can explain itself; both give the same
values for the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.typed import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSyntax:
    """The options of a command with their defaults; a list collects."""

    options: Mapping[str, Any]
    flags: frozenset[str] = frozenset()
    #: The name of the one positional word; "" for none.
    alone: str = ""
    #: Options that must be given.
    needed: frozenset[str] = frozenset()
    #: Option -> the only values it may have.
    choices: Mapping[str, frozenset[str]] = field(default_factory=empty)


def parse_plain(words: Sequence[str], known: CommandSyntax) -> SimpleNamespace | None:
    """The values, or None when argparse is needed."""
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
        given = value if equals else next(rest, None)
        if given is None or (not equals and given.startswith("-") and given != "-"):
            return None
        if given not in known.choices.get(name, {given}):
            return None
        found[name] = [*found[name], given] if known.options[name] == [] else given
    if len(alone) != bool(known.alone) or any(not found[name] for name in known.needed):
        return None
    return SimpleNamespace(**found, **({known.alone: alone[0]} if known.alone else {}))


#: Without one of these nobody is bypassed (``gateway.bypass``, which few calls load).
BYPASS_VARIABLES = frozenset({"HOOKLINE_PROBE", "HOOKLINE_DISTILLING", "HOOKLINE_DEPTH"})


def parse_seconds(deadline: str) -> float:
    """As the clients read it; 0.0 for anything that they do not understand."""
    try:
        seconds = float(deadline) if deadline else 0.0
    except ValueError:
        return 0.0
    return min(seconds, 86_400.0) if seconds > 0 else 0.0


#: The command line of ``hookline hook``, which the daemon reads too.
HOOK_SYNTAX = CommandSyntax(
    options={
        "agent": "",
        "event": "",
        "dialect": None,
        "config": [],
        "deadline": "",
        "on_failure": "ignore",
        "registration": "",
        "home": "",
        "config_dir": "",
        "state_dir": "",
        "data_dir": "",
        "runtime_dir": "",
    },
    flags=frozenset({"cold"}),
    needed=frozenset({"agent"}),
    choices={"on_failure": frozenset({"ignore", "deny"})},
)
