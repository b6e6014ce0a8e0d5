"""Directives in what the person wrote: ``:name[...]{...}``. Only those of a minimal runner; others stay as text.

They are read in the person's words only, never in an interlocutor's, and not inside code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hookline.core._dataclass import dataclass, field

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE_OR_COMMENT = re.compile(r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)|<!--.*?-->", re.DOTALL)


def text_to_send(raw: str) -> str:
    """Every block is preceded by a blank line, also the first, as Lectic's hooks know it; "" for nothing."""
    return "".join(f"\n\n{block}" for block in _blocks(raw))


def _blocks(raw: str) -> list[str]:
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

_START = re.compile(r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))|(?<![\w:\\]):(?P<name>[a-z_]+)\[", re.DOTALL)
_ATTRIBUTES = re.compile(r"\{[^{}\n]*\}")


@dataclass(slots=True, kw_only=True)
class _Effects:
    """What the directives of one message ask for besides text."""

    attachments: list[str] = field(default_factory=list[str])
    ask: str = ""
    aside: str = ""
    reset: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveContext:
    """What directives may use. ``command`` runs one line, without a shell, and gives what is put in its place."""

    environ: Mapping[str, str]
    command: Callable[[str], str]
    last: bool


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
        if found["code"] or found["name"] not in _KNOWN or end < 0:
            out.append(text[position : found.end()])
            position = found.end()
            continue
        out.append(text[position : found.start()])
        out.append(_carry_out(found["name"], text[found.end() : end], around, effects))
        position = end + 1
        attributes = _ATTRIBUTES.match(text, position)
        position = attributes.end() if attributes else position
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


def _carry_out(name: str, inner: str, around: DirectiveContext, effects: _Effects) -> str:
    if name == "verbatim":
        return inner
    if name == "discard" or (name == "once" and not around.last):
        # What is thrown away is still carried out by Lectic; running a program to throw it away helps nobody.
        return ""
    content = _outside(inner, around, effects)
    match name:
        case "once":
            return content
        case "env":
            return around.environ.get(content.strip(), "")
        case "cmd":
            return around.command(content)
        case "attach" if around.last:
            effects.attachments.append(content)
        case "ask":
            effects.ask = content.strip()
        case "aside" if around.last:
            effects.aside = content.strip()
        case "reset":
            effects.reset = True
        case _:
            pass
    return ""
