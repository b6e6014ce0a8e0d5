"""The command line that an agent is given, and the shell tail that still blocks when hookline itself is gone."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

_SH = ("/bin/sh", "-c")
#: Before a program whose words are held back until it has ended well.
_HELD = "o=$("


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """What one registration runs."""

    program: str
    agent: str
    event: str
    #: Seconds after which hookline gives up, which must be before the agent does.
    deadline: int
    #: The scope that it stands in: an event that comes through two registrations is known by their names.
    scope: str = "user"
    #: A hookline that cannot answer refuses; otherwise it decides nothing.
    closed: bool = False
    #: The JSON that refuses, with {event} and {reason}; None: exit code 2 and the reason on stderr.
    block: Mapping[str, Any] | None = None
    #: Exit codes that are answers, besides 0.
    answers: tuple[int, ...] = (2,)
    #: The exit code that decides nothing, where the agent takes other failures for a refusal; None: all of them do.
    neutral: int | None = None
    #: The agent runs it with the person's own shell, which may be one that reads no such lines (fish).
    any_shell: bool = False

    @property
    def registration(self) -> str:
        """What this registration is called, in ``--registration``."""
        return f"{self.scope}/{self.agent}"

    def text(self) -> str:
        words = [
            self.program, "hook", "--agent", self.agent, "--event", self.event, "--registration", self.registration,
            "--deadline", str(self.deadline),
        ]  # fmt: skip
        if not self.closed:
            return shlex.join(words) + ("" if self.neutral is None else f" || exit {self.neutral}")
        line = self._blocking(shlex.join([*words, "--on-failure", "deny"]))
        return shlex.join([*_SH, line]) if self.any_shell else line

    def _blocking(self, call: str) -> str:
        """Every end that is no answer becomes the agent's own form of a block: the program is broken or gone.

        Where the block is printed, nothing of what the program printed may stand before it: two objects are none.
        """
        reason = f"hookline failed on {self.event} and a hook there must not be skipped, so this is refused"
        passing = "".join(f"[ $c = {code} ] && exit {code}; " for code in self.answers)
        if self.block is None:
            return f"{call} || {{ c=$?; {passing}echo {shlex.quote(reason)} >&2; exit 2; }}"
        refusal = json.dumps(self.block).replace("{event}", self.event).replace("{reason}", reason)
        return f'{_HELD}{call}) || {{ c=$?; {passing}o={shlex.quote(refusal)}; }}; printf %s "$o"'


def command_program(command: str) -> str:
    """The program of a registered command; "" if it cannot be read."""
    try:
        if command.startswith(shlex.join(_SH)):
            command = shlex.split(command)[2]
        return shlex.split(command.removeprefix(_HELD).partition(" || ")[0])[0]
    except (ValueError, IndexError):
        return ""
