"""Hooks of any dialect as lash writes them: a ``[hooks]`` section, and ``[plugins]`` where there are any.

All entries of one event are on one line, because lash itself reads an event's line once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hookline.core.event import EVENTS
from hookline.core.hook import Command, Gates, HookSpec, Matcher, Output, Plugin, Scope
from hookline.core.problem import Problem
from hookline.dialects.base import Rendered
from hookline.dialects.lash.entry import TYPES, LashOptions, options_text

#: What would be read back as the end of the entry, of the line, or as a comment.
_UNSAYABLE = re.compile(r"[,\n\r\0]|(?:^|\s)#|^\s|\s$|^$")


def render(specs: Sequence[HookSpec]) -> Rendered:
    """``parse(render(specs))`` gives the same hooks, event by event; what lash does not support is a loss."""
    lines: dict[str, list[str]] = {}
    plugins: dict[str, str] = {}
    losses: list[Problem] = []
    for spec in specs:
        found = list(_losses(spec))
        losses.extend(found)
        if any(loss.severity == "error" for loss in found):
            continue
        if isinstance(spec.action, Plugin):
            plugins.setdefault(spec.action.name, _plugin(spec, spec.action))
        else:
            lines.setdefault(spec.event, []).append(_entry(spec))
    return Rendered(text=_text(lines, plugins), losses=tuple(losses))


def _text(lines: dict[str, list[str]], plugins: dict[str, str]) -> str:
    parts = ["[hooks]", *(f"{event} = {', '.join(entries)}" for event, entries in lines.items())] if lines else []
    if plugins:
        parts += [*([""] if parts else []), "[plugins]", *(f"{name} = {path}" for name, path in plugins.items())]
    return "\n".join(parts) + "\n" if parts else ""


def _entry(spec: HookSpec) -> str:
    word = _type(spec)
    default = TYPES[word][1]
    options = LashOptions(
        on_failure="deny" if spec.on_failure != "ignore" else None,
        timeout=spec.timeout if spec.timeout is not None and spec.timeout != default else None,
    )
    return f"{word}{options_text(options)}:{_path(spec)}"


def _plugin(spec: HookSpec, plugin: Plugin) -> str:
    extra = spec.extra
    options = LashOptions(on_failure=extra.get("on_failure"), timeout=extra.get("timeout"))
    path = str(extra.get("written") or plugin.path)
    written = options_text(options)
    return f"plugin{written}:{path}" if written else path


def _path(spec: HookSpec) -> str:
    if spec.dialect == "lash":
        return spec.name  # as it was written, ``~`` and all
    return spec.action.argv[0] if isinstance(spec.action, Command) and spec.action.argv else ""


def _type(spec: HookSpec) -> str:
    written = spec.extra.get("type")
    if spec.dialect == "lash" and isinstance(written, str) and written in TYPES:
        return written
    return {"sync": "blocking", "apply-later": "async_apply"}.get(spec.mode, "observe")


# ── what is lost ─────────────────────────────────────────────────────────────────────────────────────


def _losses(spec: HookSpec) -> Iterator[Problem]:
    """An error: the hook is left out. A warning: it is written, and means a little less."""
    for severe, finding in (*_fatal(spec), *_partial(spec)):
        fix = "keep this hook in its own dialect and name the file as a [[source]]"
        yield spec.origin.problem(f"hook {spec.name}: {finding}", fix, "error" if severe else "warning")


def _fatal(spec: HookSpec) -> Iterator[tuple[bool, str]]:
    if not spec.enabled:
        yield True, "lash cannot write a hook that is turned off"
    if spec.event not in EVENTS:
        yield True, f"lash has no event {spec.event}"
    if isinstance(spec.action, Plugin):
        if re.search(r"[=\n\r\0\[#]|^\s|\s$|^$", spec.action.name):
            yield True, "this name cannot be written in plugins.conf"
    elif not isinstance(spec.action, Command) or spec.action.form != "argv" or len(spec.action.argv) != 1:
        yield True, "lash runs an executable without arguments, and nothing else"
    elif _UNSAYABLE.search(_path(spec)):
        yield True, "this path cannot be written in a line of lash"
    if spec.dialect != "lash" and (spec.matcher != Matcher() or spec.gates != Gates() or spec.scope != Scope()):
        # Left out, since a guard for one tool would otherwise judge them all.
        yield True, "conditions beyond the name of the event: not supported by lash"


def _partial(spec: HookSpec) -> Iterator[tuple[bool, str]]:
    if spec.dialect == "lash":
        return
    yield False, f"it was written for {spec.dialect} and will be called as a lash hook"
    if spec.output != Output():
        yield False, "lash has no place for a hook's text"
    if spec.on_failure == "abort":
        yield False, "lash cannot abort a run; it will deny"
    if spec.environ:
        yield False, "lash sets no environment for a hook"
    if spec.mode == "detached":
        yield False, "lash's observers are not detached"
