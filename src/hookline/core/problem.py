"""Something wrong in a file, with the address where a person can mend it."""

from __future__ import annotations

from hookline.core._dataclass import dataclass
from hookline.core.typed import Literal

Severity = Literal["error", "warning", "note"]
#: Findings that code acts on, whatever their text says.
ProblemCode = Literal["unresolved-hook", "bad-command", "no-hooks", "unknown-tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding of a loader: where it is, what was found, what to write instead.

    ``pointer`` is a JSONPath-like address (``$.hook[2].timeout``) and ``line`` counts from 1; 0 means the
    file as a whole. An ``error`` means that something written there does not take effect; a ``warning``
    means that it does, but probably not as intended; a ``note`` says how it is understood.
    """

    file: str
    finding: str
    fix: str
    line: int = 0
    pointer: str = "$"
    severity: Severity = "error"
    code: ProblemCode | None = None
    #: The name that ``code`` is about.
    name: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        within = "" if self.pointer == "$" else f"{self.pointer}: "
        return f"{place}: {within}{self.finding}; {self.fix}"
