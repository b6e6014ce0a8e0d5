"""Directives in what the person wrote: ``:name[...]{...}``, and macros of the same form; others stay as text.

They are read in the person's words only, never in an interlocutor's, and not inside code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hookline.core._dataclass import dataclass, empty, field, replace
from hookline.core.errors import DataError

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE_OR_COMMENT = re.compile(r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)|<!--.*?-->", re.DOTALL)


def text_to_send(raw: str) -> str:
    """Every block is preceded by a blank line, also the first, as Lectic's hooks know it; "" for nothing."""
    return "".join(f"\n\n{block}" for block in markdown_blocks(raw))


def markdown_blocks(raw: str) -> list[str]:
    """Paragraphs, fences and so on: what stands between blank lines, a fence being one piece."""
    found: list[list[str]] = [[]]
    for inside, piece in _split_fences(raw.replace("\r\n", "\n")):
        for line in piece.removesuffix("\n").split("\n"):
            if inside or line.strip():
                found[-1].append(line)
            else:
                found.append([])
    return [text for lines in found if (text := "\n".join(lines)).strip()]


def remove_comments(raw: str) -> str:
    """Comments go, code keeps them."""
    return "".join(
        text if inside else _CODE_OR_COMMENT.sub(lambda found: found[0] if found["ticks"] else "", text)
        for inside, text in _split_fences(raw)
    )


def _split_fences(raw: str) -> list[tuple[bool, str]]:
    """The text cut into pieces inside and outside of fenced code; together they are the text."""
    pieces: list[tuple[bool, list[str]]] = []
    fence = ""
    for line in re.split(r"(?<=\n)", raw):
        mark = _FENCE.match(line)
        inside = bool(fence)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip(" \r\n`~"):
                fence = ""
        elif mark:
            fence, inside = mark[1], True
        if pieces and pieces[-1][0] == inside:
            pieces[-1][1].append(line)
        else:
            pieces.append((inside, [line]))
    return [(inside, "".join(lines)) for inside, lines in pieces]


_KNOWN = frozenset({"attach", "ask", "aside", "reset", "cmd", "env", "verbatim", "once", "discard"})

_START = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))|(?<![\w:\\]):(?P<name>[A-Za-z][\w-]*)\[", re.DOTALL
)
_ATTRIBUTES = re.compile(r"\{[^{}\n]*\}")
_ATTRIBUTE = re.compile(r"""([\w:-]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'{}]+)))?""")
#: Macros in what macros give.
_DEEPEST = 100


@dataclass(slots=True, kw_only=True)
class _Effects:
    """What the directives of one message ask for besides text."""

    #: Text and attributes of each.
    attachments: list[tuple[str, Mapping[str, str]]] = field(default_factory=list[tuple[str, Mapping[str, str]]])
    ask: str = ""
    aside: str = ""
    reset: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Macro:
    """``pre`` sees the text as it is written and may replace all of it; ``post`` gets what it expands to."""

    pre: str = ""
    post: str = ""
    env: Mapping[str, str] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveContext:
    """What directives may use. ``command`` runs one line, without a shell, and gives what is put in its place;
    ``load`` does so for the text of a macro with its variables."""

    environ: Mapping[str, str]
    command: Callable[[str], str]
    last: bool
    macros: Mapping[str, Macro] = field(default_factory=empty)
    load: Callable[[str, Mapping[str, str]], str] = lambda text, _variables: text
    #: What macros know of the message.
    variables: Mapping[str, str] = field(default_factory=empty)
    depth: int = 0


def expand_directives(raw: str, around: DirectiveContext) -> tuple[str, _Effects]:
    """The text with its directives carried out, and what else they ask for."""
    effects = _Effects()
    text = "".join(piece if inside else _outside(piece, around, effects) for inside, piece in _split_fences(raw))
    return text, effects


def _outside(text: str, around: DirectiveContext, effects: _Effects) -> str:
    out: list[str] = []
    position = 0
    while (found := _START.search(text, position)) is not None:
        end = -1 if found["code"] else _closing(text, found.end())
        name = (found["name"] or "").lower()
        if found["code"] or not (name in _KNOWN or name in around.macros) or end < 0:
            out.append(text[position : found.end()])
            position = found.end()
            continue
        out.append(text[position : found.start()])
        attributes = _ATTRIBUTES.match(text, end + 1)
        position = attributes.end() if attributes else end + 1
        given = _read_attributes(attributes[0]) if attributes else {}
        inner = text[found.end() : end]
        work = _carry_out if name in _KNOWN else _expand_macro
        out.append(work(name, inner, given, around, effects))
    out.append(text[position:])
    return "".join(out)


def _closing(text: str, start: int) -> int:
    """The bracket that closes the one before ``start``; inner pairs are skipped."""
    depth = 1
    for position in range(start, len(text)):
        if text[position] == "[":
            depth += 1
        elif text[position] == "]":
            depth -= 1
            if depth == 0:
                return position
    return -1


def _read_attributes(text: str) -> dict[str, str]:
    found = _ATTRIBUTE.finditer(text[1:-1])
    return {one[1]: next((value for value in one.groups()[1:] if value is not None), "") for one in found}


def _expand_macro(name: str, inner: str, given: Mapping[str, str], around: DirectiveContext, effects: _Effects) -> str:
    macro = around.macros[name]
    variables = {**macro.env, **around.variables, **given}
    if around.depth > _DEEPEST:
        raise DataError("Macro recursion depth limit exceeded")
    deeper = replace(around, depth=around.depth + 1)
    if macro.pre and (before := around.load(macro.pre, {**variables, "ARG": given.get("ARG", inner)})):
        return _outside(before, deeper, effects)
    content = _outside(inner, deeper, effects)
    return around.load(macro.post, {**variables, "ARG": given.get("ARG", content)}) if macro.post else content


def _carry_out(name: str, inner: str, given: Mapping[str, str], around: DirectiveContext, effects: _Effects) -> str:
    if name == "verbatim":
        return inner
    if name in {"once", "attach"} and not around.last:
        return ""
    content = _outside(inner, around, effects)
    match name:
        case "once":
            return content
        case "env":
            return around.environ.get(content.strip(), "")
        case "cmd":
            return around.command(content)
        case "attach":
            effects.attachments.append((content, given))
        case "ask":
            effects.ask = content.strip()
        case "aside" if around.last:
            effects.aside = content.strip()
        case "reset":
            effects.reset = True
        case _:
            pass
    return ""
