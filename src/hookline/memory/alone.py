"""Whether an agent runs without a person, where its transcripts do not show it: what is known while the hook is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core.agents import find_agent
from hookline.core.event import Event

if TYPE_CHECKING:
    from collections.abc import Sequence

#: An editor speaks for a person over standard input.
_EDITOR = frozenset({"--acp", "--experimental-acp"})
#: Without a screen.
_MODES = frozenset({"print", "json"})


def runs_alone(event: Event) -> bool:
    """Only while whoever called waits for the answer: its process, and those above it, may be gone afterwards."""
    agent = find_agent(event.agent)
    if agent is None or not agent.shows_alone:
        return False
    if agent.shows_alone == "mode":
        told = event.native.get("ctx")
        return isinstance(told, dict) and told.get("mode") in _MODES
    if not event.caller:
        return False
    from hookline.core.agent_processes import agent_from_words
    from hookline.core.processes import ancestors, command_words, reads_terminal

    pid = abs(event.caller)
    # Several: an agent may start itself again, and talk to that process through a pipe.
    found = [one for one in ((pid, command_words(pid)), *ancestors(pid)) if agent_from_words(one[1]) == agent.title]
    if not all(_EDITOR.isdisjoint(words) for _pid, words in found):
        return False
    prompted = any(_has_prompt(words) for _pid, words in found)
    return prompted or (bool(found) and all(reads_terminal(above) is False for above, _words in found))


def _has_prompt(words: Sequence[str]) -> bool:
    options = words[: words.index("--")] if "--" in words else words
    return any(word in {"-p", "--prompt"} or word.startswith(("-p=", "--prompt=")) for word in options)
