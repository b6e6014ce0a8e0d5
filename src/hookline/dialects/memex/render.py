"""Hooks as memex writes them: a line per phase in ``[HOOKS]``, a section per hook.

Only hook agents of the four phases can be written; everything else is a loss with the hook's address.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from hookline.core.hook import AgentRun, Gates, HookSpec, Matcher, Scope
from hookline.core.problem import Problem
from hookline.dialects.base import Rendered
from hookline.dialects.memex.config import HOOK, HOOKS, TIMEOUT, names, quote
from hookline.dialects.memex.prompts import PHASES, Phase, looks_like_a_path

_PLAIN = {"flow": "chain", "after_deny": "continue", "on_failure": "ignore"}


def render(specs: Sequence[HookSpec]) -> Rendered:
    """A hook in several phases has one section; if two differ under one name, the later is lost."""
    lists: dict[str, list[str]] = {}
    sections: dict[str, str] = {}
    losses: list[Problem] = []
    for spec in specs:
        found = list(_losses(spec))
        losses.extend(found)
        if any(loss.severity == "error" for loss in found):
            continue
        phase, section = _phase(spec), _section(spec)
        assert phase is not None
        if sections.setdefault(spec.name, section) != section:
            losses.append(_lost(spec, "another hook of the same name says something else", "rename one of them"))
            continue
        lists.setdefault(phase.name, []).append(spec.name)
    return Rendered(text=_text(lists, sections), losses=tuple(losses))


def _text(lists: dict[str, list[str]], sections: dict[str, str]) -> str:
    if not lists:
        return ""
    head = [f"[{HOOKS}]", *(f"{phase} = {','.join(lists[phase])}" for phase in PHASES if phase in lists)]
    used = {name for listed in lists.values() for name in listed}
    bodies = [f"[{HOOK}{name}]\n{section}" for name, section in sections.items() if name in used]
    return "\n\n".join(["\n".join(head), *bodies]) + "\n"


def _phase(spec: HookSpec) -> Phase | None:
    """The phase it was written for; for a hook of another dialect, the phase of its event."""
    phase = PHASES.get(spec.native_event) if spec.dialect == "memex" else None
    by_event = {"UserPromptSubmit": "pre_turn", "Stop": "post_turn", "SessionEnd": "session_end"}
    return phase or PHASES.get(by_event.get(spec.event, ""))


# ── what can be written ───────────────────────────────────────────────────────────────────────────────


def _section(spec: HookSpec) -> str:
    return "".join(f"{key} = {value}\n" for key, value in _options(spec) if value).rstrip("\n")


def _options(spec: HookSpec) -> Iterator[tuple[str, str]]:
    action, gates, output = spec.action, spec.gates, spec.output
    assert isinstance(action, AgentRun)
    yield "enable", "" if spec.enabled else "false"
    yield "model", quote(action.model) if action.model else ""
    yield "prompt", _prompt(spec, action)
    if action.tools is not None:
        yield "tools", ",".join(action.tools) or "None"
    yield "steps", str(action.steps) if action.steps != 1 else ""
    yield "mode", "silent" if output.inject == "none" else str(spec.extra.get("mode", ""))
    yield "runner", action.runner if action.runner != "internal" else ""
    yield "external_cmd", shlex.join(action.command).replace("%", "%%")
    if output.inject != "none":
        yield "label", quote(output.label) if output.label != f"hook:{spec.name}" else ""
        yield "prefix", quote(output.prefix.removesuffix("\n")) if output.prefix else ""
    yield "timeout", f"{spec.timeout:g}" if spec.timeout not in (None, TIMEOUT) else ""
    yield "when_every_n_turns", str(gates.every_n_turns or "")
    yield "when_min_turn", str(gates.min_turn or "")
    yield "when_message_contains", ",".join(gates.message_contains).replace("%", "%%")
    yield "when_role", gates.role


def _prompt(spec: HookSpec, action: AgentRun) -> str:
    """The source if it is known, else the text, its further lines indented as the syntax asks."""
    source = spec.extra.get("prompt")
    text = quote(source if isinstance(source, str) else action.prompt) if source or action.prompt else ""
    return text.replace("\n", "\n    ")


# ── what cannot ──────────────────────────────────────────────────────────────────────────────────────


def _lost(spec: HookSpec, finding: str, fix: str, *, whole: bool = True) -> Problem:
    return spec.origin.problem(f"{spec.name}: {finding}", fix, "error" if whole else "warning")


def _losses(spec: HookSpec) -> Iterator[Problem]:
    """An error means that the hook is left out, a warning that it is written without something."""
    action = spec.action
    phase = _phase(spec)
    if not isinstance(action, AgentRun):
        yield _lost(spec, f"memex hooks are agents, not a {type(action).__name__.lower()}", "keep it where it is")
        return
    if phase is None:
        yield _lost(spec, f"memex has no phase for {spec.event}", "keep it where it is")
        return
    if spec.name.strip() != spec.name or any(sign in spec.name for sign in ",[]\n'\"") or not spec.name:
        yield _lost(spec, "the name cannot stand in a list", "rename it without commas, quotes and brackets")
    if spec.output.inject == "none" and not phase.silent:
        yield _lost(spec, f"a silent hook does not run in {phase.name}", "let it inject, or move it to post_turn")
    if isinstance(spec.extra.get("prompt"), str) is False:
        yield from _prompt_losses(spec, action.prompt)
    if any(names(part) != (part,) for part in spec.gates.message_contains):
        yield _lost(spec, "a text of message_contains has a comma, quotes or outer blanks", "split it")
    if spec.output.inject not in {"none", phase.placement} or spec.output.icon or spec.output.attributes:
        yield _lost(spec, "memex has no such kind of output", "plain context is written", whole=False)
    left = [what for what, plain in _left_out(spec, phase) if not plain]
    if left:
        yield _lost(spec, f"{', '.join(left)}: not supported by memex", "it is left out", whole=False)


def _prompt_losses(spec: HookSpec, prompt: str) -> Iterator[Problem]:
    lines = prompt.split("\n")
    if any(line != line.strip() or line.startswith(("#", ";")) for line in lines[1:]) or "\r" in prompt:
        yield _lost(spec, "the prompt has lines that an INI file cannot hold", "put it into a file and name that")
    if looks_like_a_path(prompt):
        yield _lost(spec, "the prompt would be read as the name of a file", "put it into a file and name that")


def _left_out(spec: HookSpec, phase: Phase) -> Iterator[tuple[str, bool]]:
    """(what it is called, whether it is as memex has it anyway)"""
    gates = spec.gates
    writable = Gates(
        every_n_turns=gates.every_n_turns, min_turn=gates.min_turn, message_contains=gates.message_contains,
        role=gates.role, needs_turn=gates.needs_turn, once_per_session=phase.once, typed_only=phase.once,
        claim_first=phase.once,
    )  # fmt: skip
    yield "other when conditions", gates == writable
    yield "a matcher", spec.matcher == Matcher()
    yield "a scope", spec.scope == Scope()
    yield "an environment", not spec.environ
    yield "its mode", spec.mode == ("background" if spec.output.inject == "none" and phase.background else "sync")
    yield "no limit of time", spec.timeout is not None
    for name, plain in _PLAIN.items():
        yield name, getattr(spec, name) == plain
    yield "a separate order", spec.order == 0
