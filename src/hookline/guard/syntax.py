"""What the parser makes of a text: commands, the words in them and the parts of words, before anything is expanded."""

from __future__ import annotations

from typing import TypeAlias

from hookline.core._dataclass import dataclass, field


@dataclass(slots=True)
class LiteralText:
    """Letters as they stand; unquoted ones may still be braces, a tilde or a glob."""

    text: str
    quoted: bool


@dataclass(slots=True)
class Parameter:
    """``$name`` or ``${name…}``. ``operator`` is what follows the name, ``#`` or ``!`` before it is ``prefix``."""

    name: str
    quoted: bool
    prefix: str = ""
    index: str | None = None
    operator: str = ""
    #: What follows the operator; for ``/`` and ``:`` the second part stands in ``second``.
    argument: Raw | None = None
    second: Raw | None = None
    #: ``$name`` without braces: letters that a brace expansion puts behind it belong to the name.
    bare: bool = False


@dataclass(slots=True)
class Substitution:
    """``$(…)`` or backquotes, and ``<(…)`` or ``>(…)`` with their ``direction``."""

    script: ShellScript
    source: str
    quoted: bool
    direction: str = ""


@dataclass(slots=True)
class Arithmetic:
    raw: Raw
    quoted: bool


Part: TypeAlias = LiteralText | Parameter | Substitution | Arithmetic


@dataclass(slots=True)
class Raw:
    """A word before expansion."""

    parts: list[Part]
    source: str

    @property
    def plain(self) -> str | None:
        """The text of a word without quotes and expansions, else None."""
        only = self.parts[0] if len(self.parts) == 1 else None
        return only.text if isinstance(only, LiteralText) and not only.quoted else None


@dataclass(slots=True)
class Assignment:
    name: str
    index: str | None
    append: bool
    #: A list for ``name=(…)``.
    value: Raw | list[Raw | Assignment]
    source: str


@dataclass(slots=True)
class Redirection:
    operator: str
    target: Raw
    #: A number, or "{name}".
    descriptor: str
    #: The text of a heredoc.
    body: Raw | None = None


@dataclass(slots=True)
class Simple:
    words: list[Raw | Assignment]
    assignments: list[Assignment]
    redirections: list[Redirection]
    source: str


@dataclass(slots=True)
class Pipeline:
    stages: list[Command]
    negated: bool
    source: str


@dataclass(slots=True)
class Chain:
    """Commands with ``&&``, ``||``, ``;`` or ``&`` before each but the first."""

    items: list[tuple[str, Command]]


@dataclass(slots=True)
class ShellScript:
    items: list[tuple[Command, bool]] = field(default_factory=list)


@dataclass(slots=True)
class CommandGroup:
    body: ShellScript
    subshell: bool
    redirections: list[Redirection]
    source: str


@dataclass(slots=True)
class If:
    branches: list[tuple[ShellScript, ShellScript]]
    otherwise: ShellScript | None
    redirections: list[Redirection]


@dataclass(slots=True)
class While:
    condition: ShellScript
    body: ShellScript
    until: bool
    redirections: list[Redirection]
    source: str


@dataclass(slots=True)
class For:
    """``words`` is None for ``for x do``; ``select`` may take any of them, any number of times."""

    name: str
    words: list[Raw] | None
    body: ShellScript
    select: bool
    redirections: list[Redirection]


@dataclass(slots=True)
class Count:
    """``for ((…; …; …))``"""

    header: Raw
    body: ShellScript
    redirections: list[Redirection]


@dataclass(slots=True)
class Case:
    subject: Raw
    arms: list[tuple[list[Raw], ShellScript]]
    redirections: list[Redirection]


@dataclass(slots=True)
class FunctionDefinition:
    name: str
    body: Command
    source: str


@dataclass(slots=True)
class Test:
    """``[[ … ]]``, or ``(( … ))`` with its text as the only word."""

    words: list[Raw]
    arithmetic: bool
    redirections: list[Redirection]


@dataclass(slots=True)
class Coprocess:
    body: Command
    #: The array with the descriptors that it reads from and writes to.
    name: str


Command: TypeAlias = (
    Simple | Pipeline | Chain | CommandGroup | If | While | For | Count | Case | FunctionDefinition | Test | Coprocess
)
