"""Where in a text the secrets are.

A text is searched as bytes, one per character, so that a place in one is a place in the other. Most texts are cleared
by plain searches for words; an expression is only tried where one of its words stands. Tokens and hashes are long
words: they are found in a copy that only tells letters from everything else. What is encoded (base64, hexadecimal,
URLs, escapes) or split (``"abc" + "def"``, a line that goes on) is decoded and searched in turn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.typed import TYPE_CHECKING, TypeAlias
from hookline.state.record.secret_patterns import (
    ASSIGNED,
    BEHIND,
    HARMLESS_NAMES,
    INSIDE,
    KEY_NAMES,
    NAMES,
    NOT_PASS,
    PHRASES,
    PLAIN_NAMES,
    PUBLIC_NAMES,
    ROOTS,
    SIGNLESS,
    TOKENS,
)

if TYPE_CHECKING:
    import re

#: Start, end and kind.
Span: TypeAlias = tuple[int, int, str]

#: The shortest token; what is shorter needs a name before it.
_SHORTEST = 14
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_IS_LETTER = bytes(120 if chr(byte) in _LETTERS else 32 for byte in range(256))
_LONG = b"x" * _SHORTEST
_BASE64_LETTERS = _LETTERS.replace(".", "+/")
_ESCAPES = (("\\n", " \n"), ("\\t", " \t"), ("\\r", " \r"), ("\\b", "  "), ("\\f", "  "))
_ESCAPED = lazy_pattern(r"\\[bfnrtu]")
#: How often something decoded is searched again.
_DEPTH = 2


def flatten(text: str) -> str:
    """A text of the same length with one byte for each character, and without escapes (of JSON in a text)."""
    if not text.isascii():
        if b"\xff" in text.encode("utf-16-le", "surrogatepass"):
            text = text.translate(_HALFWIDTH)
        text = text.encode("latin-1", "replace").decode("latin-1")
    if "\\" in text and _ESCAPED.search(text):
        for token in _like_escapes():
            text = text.replace(f"\\{token}", f" {token}")
        for escape, plain in _ESCAPES:
            text = text.replace(escape, plain)
        if "\\u" in text:
            text = _expression(r"\\u(?!00[2-7])[0-9a-fA-F]{4}").sub("      ", text)
    return text


@lru_cache(maxsize=1)
def _like_escapes() -> tuple[str, ...]:
    """Tokens that begin with the letter of an escape: "C:\\rk_live_…" has no carriage return in it."""
    return ("rk_", *(word for row in TOKENS for word in row[1].split() if word[0] in "bfnrt"))


#: Letters and signs as East Asian keyboards write them.
_HALFWIDTH = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}


def find_secrets(raw: str, known: Sequence[str] = (), words: Sequence[str] | None = None, depth: int = 0) -> list[Span]:
    """In no order; they may overlap. ``known`` are secrets that are searched for in what is decoded; ``words`` are
    those of the table that are in a text of which this is a part."""
    low = raw.lower() if raw.isascii() else raw.encode("latin-1").lower().decode("latin-1")
    found: list[Span] = []
    for word in words_in(low) if words is None else words:
        until = 0
        at = low.find(word)
        while at >= 0:
            if at >= until:
                for span in _spans_at(raw, low, at, word):
                    found.append(span)
                    until = span[1]
            at = low.find(word, at + len(word))
    _search_long_words(raw, low, found, known, depth)
    if depth < _DEPTH and _may_be_split(raw):
        found += _split(raw, known, depth)
    return found


def words_in(low: str) -> list[str]:
    """The words of rules that are in a text."""
    words: dict[str, None] = {}
    seen = {*filter(low.__contains__, ROOTS)}
    for root in tuple(seen):
        for word, part in _words_with(root):
            if (not part or part in words) and word in low:
                words[word] = None
    seen.update(words)
    for word, behind in BEHIND.items():
        if not seen.isdisjoint(behind) and word in low:
            words[word] = None
    return [*words, *filter(low.__contains__, _flags())] if " -" in low else [*words]


@lru_cache(maxsize=1)
def _flags() -> tuple[str, ...]:
    return tuple(word for word in _phrases() if word.startswith(" -"))


@lru_cache(maxsize=len(ROOTS))
def _words_with(root: str) -> list[tuple[str, str]]:
    """The words whose first root this is (of those without a root it is "secret"), the short ones first; each with the
    longest other one in it, without which it cannot be in a text."""
    known: list[tuple[str, str]] = []
    words = [word for word in {*_phrases(), *NAMES}.difference(_flags(), BEHIND) if root in word or root == "secret"]
    for word in sorted(words, key=lambda word: (len(word), word)):
        if next((one for one in ROOTS if one in word), "secret") == root:
            known.append((word, max((one for one, _ in known if one in word), key=len, default="")))
    return known


@lru_cache(maxsize=1024)
def _expression(pattern: str) -> re.Pattern[str]:
    import re  # most texts are cleared without

    return re.compile(pattern, re.ASCII)


# ---- long words ----


def _search_long_words(raw: str, low: str, found: list[Span], known: Sequence[str], depth: int) -> None:
    letters = raw.encode("latin-1").translate(_IS_LETTER)
    at = letters.find(_LONG)
    while at >= 0:
        start = letters.rfind(b" ", 0, at) + 1
        end = letters.find(b" ", at)
        end = len(raw) if end < 0 else end
        if raw[start - 1 : start] in ("+", "/"):  # base64 may be cut in pieces; a path is looked at as a whole
            head = raw[max(0, start - 400) : start]
            start -= len(head) - len(head.rstrip(_BASE64_LETTERS))
        word = low[start:end]
        if not word.strip(_HEX_DIGITS):  # a hash, most often: no token
            _search_assigned(raw, low, start, word, found)
            if depth < _DEPTH and not bytes.fromhex(word[:8]).translate(None, _PRINTABLE):
                found += _encoded(raw, word, start, known, depth)
            at = letters.find(_LONG, end)
            continue
        _search_parts(raw, low, start, word, found)
        if not word.replace("_", "").isalpha():
            for name, inside, pattern, _ in INSIDE:
                if inside in word and (match := _expression(pattern).search(raw, start, end)):
                    found.append((match.start(), match.end(), name.partition("/")[0]))
            _search_assigned(raw, low, start, word, found)
            if depth < _DEPTH:
                found += _encoded(raw, word, start, known, depth)
        at = letters.find(_LONG, end)


def _search_parts(raw: str, low: str, start: int, word: str, found: list[Span]) -> None:
    """Tokens that begin with the word, or behind a dot or a hyphen in it."""
    prefixes = _prefixes()
    for part in word.replace(".", "-").split("-"):
        if part[:2] in prefixes:
            for prefix, name, pattern in prefixes[part[:2]]:
                if low.startswith(prefix, start):
                    match = _expression(pattern).match(raw, start)
                    found += [(start, match.end(), name)] if match else []
        start += len(part) + 1


@lru_cache(maxsize=1)
def _prefixes() -> dict[str, list[tuple[str, str, str]]]:
    """By the first two letters: how a token begins, its kind, its expression."""
    table: dict[str, list[tuple[str, str, str]]] = {}
    for name, words, pattern, _ in TOKENS:
        for word in words.split():
            table.setdefault(word[: 1 if word[1] in "-." else 2], []).append((word, name.partition("/")[0], pattern))
    return table


_BETWEEN = " \t\r\n\"'`=\\:>,|([{"


def _search_assigned(raw: str, low: str, start: int, word: str, found: list[Span]) -> None:
    """A word that is assigned to a name of which we know how its secrets look."""
    before = low[max(0, start - 64) : start]
    name = before.rstrip(_BETWEEN)
    if len(name) == len(before) or _DIGITS.isdisjoint(word):
        return
    name = " ".join(name.rpartition("\n")[2].rpartition('"')[2].rsplit(None, 2)[-2:])
    for kind, pattern in _rules_for(name):
        match = _expression(rf"(?i:{pattern})(?![A-Za-z0-9])").match(raw, start)
        if match:
            found.append((start, match.end(), kind))


_DIGITS = frozenset("0123456789")


@lru_cache(maxsize=4096)
def _rules_for(name: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (rule.partition("/")[0], pattern)
        for rule, words, pattern, _ in ASSIGNED
        if any(word in name for word in words.split())
        and not (rule == "secret/generic" and any(public in name for public in PUBLIC_NAMES))
    )


_BASE64 = lazy_pattern(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/]{4,76})*={0,2}")
_HEX_DIGITS = "0123456789abcdef"


def _encoded(raw: str, word: str, start: int, known: Sequence[str], depth: int) -> Iterator[Span]:
    """A word that is text in base64 or hexadecimal digits, and has a secret in that text."""
    if not word[:12].strip(_HEX_DIGITS):
        pieces = _from_hex(word, start + len(word))
    elif raw.startswith(word, start):
        return  # base64 of a text has capital letters
    else:
        pieces = _from_base64(raw, start)
    for piece_end, decoded in pieces:
        if len(decoded) > _SHORTEST // 2 and not decoded.translate(None, _PRINTABLE):
            text = decoded.decode("ascii")
            if (
                any(form in text for form in known)
                or _LOGIN.fullmatch(text)
                or find_secrets(flatten(text), known, None, depth + 1)
            ):
                yield start, piece_end, "encoded"
                return


#: As in the header of basic authentication.
_LOGIN = lazy_pattern(r"[\w.@-]{2,60}:(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)[^\s/.:]{8,100}")
_PRINTABLE = bytes(range(32, 127)) + b"\t\r\n"


def _from_hex(word: str, end: int) -> list[tuple[int, bytes]]:
    try:
        return [(end, bytes.fromhex(word))]
    except ValueError:
        return []


def _from_base64(raw: str, start: int) -> list[tuple[int, bytes]]:
    from binascii import Error, a2b_base64  # only who has such a word needs it

    match = _BASE64.match(raw, start)
    if match is None:
        return []
    pieces = []
    for piece in dict.fromkeys((match[0], match[0].partition("\n")[0])):
        plain = piece.replace("-", "+").replace("_", "/").rstrip("=\r\n")
        try:
            if a2b_base64(plain[:16]).isascii():  # pictures are not
                pieces.append((start + len(piece), a2b_base64(plain[: len(plain) - (len(plain) % 4 == 1)] + "==")))
        except Error:
            continue
    return pieces


# ---- split and escaped texts ----

#: Each begins with a character of its own, which makes it quick to search for.
_JOINT = lazy_pattern(
    r"""%[0-9A-Fa-f]{2}|\\(?:x[0-9A-Fa-f]{2}|u00[2-7][0-9A-Fa-f]|(?<=[\w=-]\\)\r?\n(?=[\w-]))"""
    r"""|"(?<=[\w=-]")(?:\s{0,4}\+\s{0,40})?"(?=[\w-])|'(?<=[\w=-]')(?:\s{0,4}\+\s{0,40})?'(?=[\w-])"""
)


def _may_be_split(raw: str) -> bool:
    has = raw.__contains__
    return (
        (has("%") and _expression("%[0-9A-Fa-f]{2}").search(raw) is not None)
        or (has("\\") and any(map(has, ("\\x", "\\u00", "\\\n"))))
        or (has("+") and any(map(has, ('"+', "'+", '" +', "' +"))))
        or (has('""') and _expression(r'""(?<=[\w=-]"")[\w-]').search(raw) is not None)
        or (has("''") and _expression(r"''(?<=[\w=-]'')[\w-]").search(raw) is not None)
    )  # fmt: skip


def _split(raw: str, known: Sequence[str], depth: int) -> Iterator[Span]:
    """The secrets of the text as it reads when escapes are replaced and parts joined."""
    pieces: list[str] = []
    ours: list[int] = []  # where each piece begins in the joined text, and in the given one
    theirs: list[int] = []
    length = last = 0
    for joint in _JOINT.finditer(raw):
        for at, piece in ((last, raw[last : joint.start()]), (joint.start(), _meaning(joint[0]))):
            ours.append(length)
            theirs.append(at)
            pieces.append(piece)
            length += len(piece)
        last = joint.end()
    if not pieces:
        return
    ours.append(length)
    theirs.append(last)
    joined = "".join((*pieces, raw[last:]))

    def place(at: int, *, after: bool = False) -> int:
        piece = bisect_right(ours, at - after) - 1
        if piece % 2:  # an escape is one whole
            return theirs[piece + after]
        return theirs[piece] + at - ours[piece]

    spans = find_secrets(joined, known, None, depth + 1)
    spans += [(at, at + len(form), "encoded") for form in known if (at := joined.find(form)) >= 0]
    for start, end, kind in spans:
        yield place(start), place(end, after=True), kind


def _meaning(joint: str) -> str:
    return chr(int(joint[-2:], 16)) if joint[0] == "%" or joint[1] in "xu" else ""


# ---- phrases and assignments ----


@lru_cache(maxsize=1)
def _phrases() -> dict[str, list[tuple[str, str, tuple[str, ...]]]]:
    """By word: the kind, the expression, the commands."""
    table: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {}
    for name, words, pattern, _, commands in PHRASES:
        for word in words:
            table.setdefault(word, []).append((name.partition("/")[0], pattern, tuple(commands.split())))
    return table


def _spans_at(raw: str, low: str, at: int, word: str) -> Iterator[Span]:
    for kind, pattern, commands in _phrases().get(word, ()):
        if not commands or _is_flag_of(commands, low, at):
            match = _expression(pattern).match(raw, at + (word[0] == " "))
            if match:
                yield from _span(match, kind)
    if word in NAMES:
        yield from _assignment(raw, low, at, word)


def _span(match: re.Match[str], kind: str) -> Iterator[Span]:
    named = match.re.groupindex
    if "value" not in named:
        yield match.start(1 if match.re.groups else 0), match.end(match.re.groups), kind
    elif _is_value(match["value"], quoted=True):
        shown = "whole" if "whole" in named else "value"
        yield match.start(shown), match.end(shown), kind


def _is_flag_of(commands: tuple[str, ...], low: str, at: int) -> bool:
    window = low[max(0, at - 400) : at]
    if not any(map(window.__contains__, commands)):
        return False
    window = window[max(map(window.rfind, "\n;|&")) + 1 :]
    return any(map(window.__contains__, commands))


def _needs_no_sign(name: str, before: str) -> bool:
    return name in SIGNLESS or _SETTING.search(before) is not None


#: ``aws configure set NAME VALUE``, ``#define NAME "VALUE"`` and their like.
_SETTING = lazy_pattern(r"(?:\bset|setx|\bdefine) (?:--\w+ )?\S*\Z")
_REST = lazy_pattern(r"[A-Za-z0-9_.-]{0,60}")
_OPERATOR = lazy_pattern(
    r"""\\{0,8}["']?\]?(\s{0,4}(?:=>|:=|\?=|={1,3}|:)\s{0,4}|,\s{0,3}(?=\\{0,8}["'])|\s{1,4}value\s?=\s?|(?:[ \t]{1,4}))(?!\s)"""
)
_VALUE = lazy_pattern(
    r"""(?as)(?:[bBrRN]{1,2}(?=["']))?(?P<quote>\\{0,8}["'])(?P<quoted>.*?)(?:(?<!\\)(?P=quote)|\Z)|(?P<bare>[^\s"'`&;<>|{\[][^\s"'`&;<>|]{0,511})"""
)
_MORE = lazy_pattern(r"[^\s\"'`&;<>|]*")


def _assignment(raw: str, low: str, at: int, name: str) -> Iterator[Span]:
    """``name = value``, ``"name": "value"``, ``--name value`` and their like, where the name announces a secret."""
    rest = _REST.match(raw, at)
    end = rest.end() if rest else at
    before = low[max(0, at - 48) : at]
    start = at - (len(before) - len(before.rstrip(_LETTERS)))
    if end - at > len(name) and low.find(name, at + 1, end) >= 0:
        return  # found again, further on
    whole = low[start:end].rstrip(".-")
    end = start + len(whole)
    shouted = raw[start:end].isupper()
    if not announces(whole, shouted=shouted):
        return
    operator = _OPERATOR.match(raw, end)
    if operator is None:
        return
    sign = operator[1].strip()
    if (
        not sign
        and not whole.startswith("-")
        and (raw.startswith("-", operator.end()) or not _needs_no_sign(whole, before))
    ):
        return
    match = _VALUE.match(raw, operator.end())
    if match is None:
        return
    begin, value = operator.end(), match["quoted"]
    firm = any(map(whole.__contains__, ("pass", "pwd", "secret")))
    if value is not None:
        sure = sign in {"=", ":", "=>", ":=", "?=", "value=", "value ="} and not whole.endswith("auth")
        if (firm or len(value) > 2) and _is_value(value, quoted=True) and (sure or _RANDOM.match(value)):
            yield begin, match.end(), "secret"
    elif not sign.startswith("==") and _is_bare_secret(
        raw, start, begin, match["bare"], glued=operator[1] == "=" or (not sign and whole.startswith("-")), firm=firm
    ):
        more = _MORE.match(raw, match.end())
        yield begin, more.end() if more else match.end(), "secret"


def _is_bare_secret(raw: str, name_at: int, at: int, value: str, *, glued: bool, firm: bool) -> bool:
    """Whether what follows an assignment without quotes is a secret, and no code, prose or number."""
    bare = value.rstrip(",.)}]:\\")
    word = bare.replace("_", "").isalpha()
    if not _is_value(bare, quoted=False) or (word and value[len(bare) :][:1] in (")", ",")):  # f(token=token)
        return False
    if bare.isdigit():
        return len(bare) >= (4 if firm and glued else 6)
    if not _STRONG.isdisjoint(bare):
        return firm or len(bare) >= (3 if glued else 6)
    if glued:
        if _PROSE_AFTER.match(raw, at + len(value)) and raw[at - 1 : at] == " ":  # "the --password options are"
            return False
        return firm or len(bare) >= 3  # as many letters as nobody calls a token
    # Two words: a line of a file, and not of a program or of prose.
    last = raw[at + len(value) : at + len(value) + 2].lstrip(" \t\r\\")[:1] in ("", "\n", "#", '"', "'")
    first = not raw[max(0, name_at - 40) : name_at].rpartition("\n")[2].strip(" \t-\"'")
    return (
        last
        and first
        and not bare.istitle()
        and not _CAMEL.fullmatch(bare)
        and len(bare) > 4
        and raw[at - 2 : at] == ": "
    )  # as above


_PROSE_AFTER = lazy_pattern(r"[.,;:]?(?: [a-z]+){2}")
_RANDOM = lazy_pattern(r"(?=.*[0-9])(?![A-Za-z_.-]+[0-9]{0,2}\Z)[^\s]{8,}")
_CAMEL = lazy_pattern(r"(?:[A-Z][a-z]+)+|[A-Z_]+")
_STRONG = frozenset("0123456789!@#$%^*+~")
_NOT_A_VALUE = lazy_pattern(
    r"""(?as)(?ix:
      \$ (?: \{.* | \(.* | [A-Za-z_]\w*(?: \W | [:/$].* )? | \d ) | %\w+% | %[sdvrq] | <.* | \{.* | \[.* | @\w+@ | `.* | \#\{.*
    | [*.x_-]{2,} | \W*
    | (?: none | null | nil | undefined | true | false | yes | no | on | off | required | optional | str | string | int
        | integer | number | bool | boolean | bytes | text | any | object | value | values | include | omit | same-origin
        | redacted | hidden | masked | missing | empty | unset | invalid | expired | default | self | this | cls
        | test | dummy | fake | example | placeholder | your[-_ ].* | \#[0-9a-f]{3,8} | (?-i: _? (?:[A-Z][a-z]+){2,} )
        | basic | bearer | oauth2? | password | secret | token | prompt | env | file ) [;,]?
    | [~^<>=v]* \d+ (?: \.\d+ ){1,3} (?: [-+.][\w.]* )? | \d{1,5}:\d{1,5} (?:/\w+)?
    | (?: https? | file | git ) ://.*
    | (?: ~ | \.{1,2} | [A-Za-z]: )? [/\\] (?![\w.+/-]*(?-i:[A-Z])[\w+/-]*\d) [\w.@{}$-]+ (?: [/\\] [\w.@{}$*-]+ )* /?
    )"""
)
_CODE = lazy_pattern(
    r"""(?x: [A-Za-z_][\w.]{0,200} \( .* | [A-Za-z_]\w{0,100} (?: (?: \. | -> | :: ) [A-Za-z_]\w{0,100} )+ | [A-Za-z_][\w.]{0,100} \[ .* | \( .* | & .* | f["'].* | \w+\?\.\w.* )"""
)
_PROSE = lazy_pattern(r"(?:[A-Z][a-z]+|[a-z]+)(?:[ ][A-Za-z'/]+){2,}[ ]?[.:?!\xe2]*|[A-Z][^\d]*[ ][^\d]*[.:?!]")


def _is_value(value: str, *, quoted: bool) -> bool:
    """Whether this could be a secret, and no placeholder, variable, path, address, version, expression or sentence."""
    if value.startswith(("[redacted:", ")", ",", ";", "]", "}", "\n")) or _NOT_A_VALUE.fullmatch(value.strip()):
        return False
    return not (_PROSE if quoted else _CODE).fullmatch(value)


@lru_cache(maxsize=4096)  # the names in payloads are few, and come again with every event
def announces(name: str, *, shouted: bool = False) -> bool:
    """Whether what is called so is a secret. ``tokens`` is a count, ``key`` a keyboard's."""
    text = name.lstrip("-._").replace("-", "_").replace(".", "_")
    if text.endswith(HARMLESS_NAMES) or "tokeniz" in text or "author" in text.replace("authoriz", ""):
        return False
    if any(part in text for part in (*PLAIN_NAMES, *KEY_NAMES)) or text.endswith(("token", "token_value", "pwd")):
        return True
    if shouted and "_token_" in text:
        return True
    if text in SIGNLESS:
        return True
    if text.endswith("pass"):
        return text == "pass" or (not text.endswith(NOT_PASS) and (shouted or text.endswith("_pass")))
    if text.endswith("_key"):
        return shouted and not any(public in text for public in PUBLIC_NAMES)
    return text in ("auth", "pw") or text.endswith(("_auth", "_pw"))
