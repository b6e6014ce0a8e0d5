"""A new hook: from form fields to a ``[[hook]]`` table, checked before it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hookline.config.syntax import parse_text
from hookline.core._dataclass import dataclass
from hookline.core.problem import Problem
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.native.render import quote
from hookline.tui.toml_edit import append_table

Kind = Literal["run", "shell", "prompt", "python", "http", "plugin"]
KINDS: tuple[Kind, ...] = ("run", "shell", "prompt", "python", "http", "plugin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The form's fields. Empty ones are left out, so that the defaults apply."""

    name: str
    on: tuple[str, ...]
    kind: Kind
    what: str
    match: str = ""
    timeout: str = ""
    on_failure: str = ""
    mode: str = ""
    inject: str = ""
    description: str = ""

    def table(self) -> str:
        """The ``[[hook]]`` table as text."""
        events = quote(self.on[0]) if len(self.on) == 1 else f"[{', '.join(map(quote, self.on))}]"
        lines = ["[[hook]]", f"name = {quote(self.name)}"]
        lines += [f"description = {quote(self.description)}"] if self.description else []
        lines += [f"on = {events}"]
        lines += [f"match = {quote(self.match)}"] if self.match else []
        lines += [f"{self.kind} = {quote(self.what)}"]
        for key in ("timeout", "on_failure", "mode", "inject"):
            if value := getattr(self, key):
                lines.append(f"{key} = {quote(value)}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _DraftCheck:
    """The new file, or why it would be wrong."""

    text: str = ""
    findings: tuple[str, ...] = ()


def check_draft(draft: Draft, text: str, path: str, lookup: Lookup) -> _DraftCheck:
    """Check the new file with the loader that will read it."""
    missing = [
        word for word, given in (("a name", draft.name), ("an event", draft.on), ("an action", draft.what)) if not given
    ]
    if missing:
        return _DraftCheck(findings=(f"the hook needs {' and '.join(missing)}",))
    before, broken = _names(text, path, lookup)
    if broken and any(one.pointer == "$" for one in broken):
        return _DraftCheck(findings=("the file has errors; see: hookline check", *map(str, broken)))
    if draft.name in before:
        return _DraftCheck(findings=(f"{path} already has a hook {draft.name!r}; choose another name",))
    fresh = append_table(text, draft.table())
    after, problems = _names(fresh, path, lookup)
    known = {(one.pointer, one.finding) for one in broken}
    new = [one for one in problems if one.severity == "error" and (one.pointer, one.finding) not in known]
    if new or after != (*before, *(draft.name for _ in draft.on)):
        return _DraftCheck(
            findings=tuple(f"{one.finding}; {one.fix}" for one in new) or ("the file cannot take this hook",)
        )
    return _DraftCheck(text=fresh)


def _names(text: str, path: str, lookup: Lookup) -> tuple[tuple[str, ...], Sequence[Problem]]:
    document = parse_text(path, text, "toml")
    if document.tree is None:
        return (), document.problems
    layer = Layer(path=path, name="user", syntax="toml", text=text, tree=document.tree, line=document.line)
    parsed = dialect_named("native").parse([layer], lookup)
    return tuple(spec.name for spec in parsed.specs), parsed.problems
