"""What the person wrote, as it is sent: without comments, blocks one blank line apart."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE_OR_COMMENT = re.compile(r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)|<!--.*?-->", re.DOTALL)


def text_to_send(raw: str) -> str:
    """Every block is preceded by a blank line, also the first, as Lectic's hooks know it; "" for nothing."""
    return "".join(f"\n\n{block}" for block in _blocks(raw))


def _blocks(raw: str) -> list[str]:
    """Paragraphs, fences and so on: what stands between blank lines, a fence being one piece."""
    found: list[str] = []
    lines: list[str] = []
    fence = ""

    def close() -> None:
        text = "\n".join(lines)
        lines.clear()
        if text.strip():
            found.append(text)

    for line in raw.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip(" `~"):
                fence = ""
        elif mark:
            fence = mark[1]
            lines.append(line)
        elif line.strip():
            lines.append(line)
        else:
            close()
    close()
    return found


def remove_comments(raw: str) -> str:
    """Comments go, code keeps them."""
    pieces: list[str] = []
    for inside, text in split_fences(raw):
        pieces.append(text if inside else _CODE_OR_COMMENT.sub(_kept, text))
    return "".join(pieces)


def _kept(found: re.Match[str]) -> str:
    return "" if found["ticks"] is None else found[0]


def split_fences(raw: str) -> list[tuple[bool, str]]:
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
