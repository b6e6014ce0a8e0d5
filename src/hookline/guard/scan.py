"""Words as they stand in a text: quotes, escapes and ``$…`` become parts. Nothing is expanded here."""

from __future__ import annotations

import re

from hookline.guard.budget import Budget
from hookline.guard.reading import Doubt
from hookline.guard.syntax import Arithmetic, LiteralText, Parameter, Part, Raw, ShellScript, Substitution

_PLAIN = re.compile(r"[^ \t\n|&;()<>'\"\\$`]+")
_ANSI_END = re.compile(r"(?:[^'\\]|\\.)*", re.DOTALL)
_ANSI = re.compile(
    r"\\(x[0-9A-Fa-f]{1,2}|x\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL
)
_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED = re.compile(r"([!#]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|~~?|@[A-Za-z]|[*@](?=\})|:")
_PARENTHESES = re.compile(r"[()'\"\\`]")
_PATTERN_START = frozenset("?*+@!")
_UNTIL: dict[tuple[str, bool], re.Pattern[str]] = {}


def ansi(text: str) -> str:
    r"""What stands between ``$'`` and ``'``: ``\n``, ``\x72``, ``\162``, ``\u0072`` and the like are letters."""
    return decode(text).partition("\0")[0]


def decode(text: str) -> str:
    """The letters that escapes stand for, with a NUL where one is written."""
    return _ANSI.sub(_ansi_letter, text)


def _ansi_letter(found: re.Match[str]) -> str:
    code = found[1]
    head, digits = code[0], code[1:].strip("{}")
    if head in "xuU" and digits:
        return _letter(int(digits, 16) & 0xFF if head == "x" else int(digits, 16))
    if head in "01234567":
        return _letter(int(code, 8) & 0xFF)
    if head == "c" and digits:
        return chr(ord(digits.upper()) & 0x1F) if ord(digits) < 128 else digits
    return _ANSI_LETTERS.get(head, head if head in "\\'\"?" else "\\" + code)


def _letter(number: int) -> str:
    return chr(number) if number < 0x110000 else "\ufffd"


class Scanner:
    """Reads words from ``text`` at ``pos``. What bash would refuse is noted in ``doubts``; reading goes on."""

    def __init__(self, text: str, budget: Budget, doubts: list[Doubt]) -> None:
        self.text, self.end, self.pos = text, len(text), 0
        self.budget, self.doubts = budget, doubts
        self._in_braces = 0

    def script_until(self, stop: str) -> ShellScript:
        """The commands up to ``stop``, which is consumed."""
        raise NotImplementedError

    def script_in(self, text: str) -> ShellScript:
        """The commands of another text."""
        raise NotImplementedError

    def fail(self, reason: str, start: int | None = None) -> None:
        if len(self.doubts) < 20:
            around = self.text[self.pos if start is None else start :][:60]
            self.doubts.append(Doubt(reason=reason, source=around, syntax=True))

    def word(self) -> Raw | None:
        """The word at the position; None where none begins."""
        start, parts = self.pos, list[Part]()
        while self.pos < self.end:
            self.budget.spend()
            if plain := _PLAIN.match(self.text, self.pos):
                self.pos = plain.end()
                parts.append(LiteralText(plain[0], quoted=False))
                continue
            if not self._special(parts) and not self._pattern(parts):
                break
        return Raw(parts, self.text[start : self.pos]) if self.pos > start else None

    def _special(self, parts: list[Part]) -> bool:
        """Quotes, escapes, ``$`` and process substitution outside of double quotes."""
        match self.text[self.pos]:
            case "'":
                self._single(parts)
            case '"':
                self._double(parts)
            case "\\":
                self._escape(parts)
            case "$":
                self._dollar(parts, quoted=False)
            case "`":
                self._backquote(parts, quoted=False)
            case "<" | ">" as direction if self.text.startswith("(", self.pos + 1):
                start, self.pos = self.pos, self.pos + 2
                script = self.script_until(")")
                parts.append(Substitution(script, self.text[start : self.pos], quoted=False, direction=direction))
            case _:
                return False
        return True

    def _pattern(self, parts: list[Part]) -> bool:
        """``@(a|b)`` and its kin, which some shells read as one pattern."""
        last = parts[-1] if parts else None
        if (
            self.text[self.pos] != "("
            or not isinstance(last, LiteralText)
            or last.quoted
            or last.text[-1] not in _PATTERN_START
        ):
            return False
        close = self._closing(self.pos, 0)
        if close < 0 or "\n" in self.text[self.pos : close]:
            return False
        parts.append(LiteralText(self.text[self.pos : close + 1], quoted=False))
        self.pos = close + 1
        return True

    def _single(self, parts: list[Part]) -> None:
        close = self.text.find("'", self.pos + 1)
        if close < 0:
            self.fail("a quote is not closed")
            close = self.end
        parts.append(LiteralText(self.text[self.pos + 1 : close], quoted=True))
        self.pos = min(close + 1, self.end)

    def _double(self, parts: list[Part]) -> None:
        start, self.pos = self.pos, self.pos + 1
        # Nothing at all in quotes is an empty word; ``"$@"`` without arguments is none.
        parts += self.until('"', quoted=True).parts or [LiteralText("", quoted=True)]
        if self.pos >= self.end:
            self.fail("a quote is not closed", start)
        self.pos = min(self.pos + 1, self.end)

    def _escape(self, parts: list[Part]) -> None:
        letter = self.text[self.pos + 1 : self.pos + 2]
        if not letter:  # bash keeps it or not, and may take the next line of a text around it for the rest of this one
            self.fail("a backslash ends the text")
        self.pos = min(self.pos + 2, self.end)
        if letter != "\n":
            parts.append(LiteralText(letter or "\\", quoted=True))

    def until(self, stops: str, *, quoted: bool, single: bool = False, brace: bool = False) -> Raw:
        r"""Parts up to an unquoted character of ``stops``, which is left there. ``single``: ``'`` quotes here.
        ``brace``: an expansion goes on around it, so that ``\}`` is a brace."""
        plain = _plain_until(stops, single or not quoted or "}" in stops)
        start, parts = self.pos, list[Part]()
        while self.pos < self.end:
            self.budget.spend()
            if run := plain.match(self.text, self.pos):
                self.pos = run.end()
                parts.append(LiteralText(run[0], quoted))
                continue
            letter = self.text[self.pos]
            if letter in stops:
                break
            if not quoted or (letter == "'" and single):
                if not self._special(parts):
                    parts.append(LiteralText(letter, quoted))
                    self.pos += 1
            elif letter == '"':
                self._inner_double(parts, stops)
            elif letter == "'":
                self._inner_single(parts)
            elif letter in "<>":
                parts.append(LiteralText(letter, quoted=True))
                self.pos += 1
            elif letter == "\\":
                self._quoted_escape(parts, stops + "}" * brace)
            elif letter == "$":
                self._dollar(parts, quoted=True)
            else:
                self._backquote(parts, quoted=True)
        return Raw(parts, self.text[start : self.pos])

    def _inner_double(self, parts: list[Part], stops: str) -> None:
        """A double quote where it does not end the text: inside ``"${x:-"…"}"`` it quotes, elsewhere it is a letter."""
        if "}" in stops:
            self._double(parts)
        else:
            parts.append(LiteralText('"', quoted=True))
            self.pos += 1

    def _inner_single(self, parts: list[Part]) -> None:
        """``'`` inside ``"${x:-…}"`` is a letter, but a brace between two of them does not end the expansion."""
        parts.append(LiteralText("'", quoted=True))
        self.pos += 1
        close = self.text.find("'", self.pos)
        if close >= 0:
            if '"' in self.text[self.pos : close]:
                self.doubts.append(
                    Doubt(
                        reason="quotes inside an expansion end in ways that differ",
                        source=self.text[self.pos :][:60],
                        part=True,
                    )
                )
            inner = self.until("'", quoted=True, brace=True)
            parts += [*inner.parts, LiteralText("'", quoted=True)]
            self.pos += 1

    def _quoted_escape(self, parts: list[Part], stops: str) -> None:
        letter = self.text[self.pos + 1 : self.pos + 2]
        special = letter and (letter in "$`\\\n" or letter in stops or (letter == '"' and stops))
        if letter != "\n":
            parts.append(LiteralText(letter if special else "\\" + letter, quoted=True))
        self.pos = min(self.pos + 2, self.end)

    def _backquote(self, parts: list[Part], *, quoted: bool) -> None:
        start = close = self.pos
        self.budget.spend(10)
        while True:
            close += 1
            if close >= self.end:
                self.fail("a backquote is not closed", start)
                break
            if self.text[close] == "`":
                break
            if self.text[close] == "\\":
                close += 1
            self.budget.spend()
        escaped = '$`\\"' if quoted else "$`\\"
        inner = re.sub(rf"\\([{re.escape(escaped)}])", r"\1", self.text[start + 1 : close])
        self.pos = min(close + 1, self.end)
        parts.append(Substitution(self.script_in(inner), self.text[start : self.pos], quoted))

    # ── what begins with a dollar ────────────────────────────────────────────────────────────────────

    def join_lines(self, at: int) -> None:
        """Bash removes an escaped newline even between ``$`` and ``(``."""
        while self.text.startswith("\\\n", at):
            self.budget.spend(5 + self.end // 1_000)
            self.text = self.text[:at] + self.text[at + 2 :]
            self.end -= 2

    def _dollar(self, parts: list[Part], *, quoted: bool) -> None:
        start = self.pos
        self.join_lines(start + 1)
        following = self.text[start + 1 : start + 2]
        if following == "(":
            parts.append(self._dollar_parenthesis(start, quoted=quoted))
        elif following == "{":
            parts.append(self._braced(start, quoted=quoted))
        elif following == "[":
            parts.append(self._bracket(start, quoted=quoted))
        elif following == "'" and not quoted:
            found = _ANSI_END.match(self.text, start + 2)
            close = found.end() if found else self.end
            text = ansi(self.text[start + 2 : close])
            # Inside ``"$(… ${x:-$'a b'})"`` bash forgets these quotes, elsewhere it does not.
            odd = self._in_braces and any(letter in text for letter in " \t\n")
            parts.append(Parameter("", quoted, operator="bad") if odd else LiteralText(text, quoted=True))
            if close >= self.end:
                self.fail("a quote is not closed", start)
            self.pos = min(close + 1, self.end)
        elif following == '"' and not quoted:
            self.pos = start + 1
            self._double(parts)
        elif name := _NAME.match(self.text, start + 1):
            self.pos = name.end()
            parts.append(Parameter(self._long_name(name[0]), quoted, bare=True))
        else:
            self.pos = start + 1
            parts.append(LiteralText("$", quoted))

    def _long_name(self, name: str) -> str:
        while self.text.startswith("\\\n", self.pos) and (name[0].isalpha() or name[0] == "_"):
            self.join_lines(self.pos)
            more = re.compile(r"\w*", re.ASCII).match(self.text, self.pos)
            name += more[0] if more else ""
            self.pos += len(more[0]) if more else 0
        return name

    def _dollar_parenthesis(self, start: int, *, quoted: bool) -> Part:
        self.join_lines(start + 2)
        if self.text.startswith("(", start + 2) and (close := self.arithmetic_end(start + 1)) >= 0:
            inner = self.text[start + 3 : close - 1]
            self.pos = close + 1
            return Arithmetic(self.inner(inner), quoted)
        self.pos = start + 2
        script = self.script_until(")")
        return Substitution(script, self.text[start : self.pos], quoted)

    def inner(self, text: str) -> Raw:
        """A text that is expanded as if in double quotes: arithmetic, the body of a heredoc."""
        scanner = type(self)(text, self.budget, self.doubts)
        return scanner.until("", quoted=True)

    def arithmetic_end(self, start: int) -> int:
        """Where the ``((`` at ``start`` ends, or -1: then it opens two subshells."""
        close = self._closing(start, 0)
        inner = self._closing(start + 1, 0)
        return close if close >= 0 and inner == close - 1 else -1

    def _closing(self, start: int, depth: int) -> int:
        at = start
        while found := _PARENTHESES.search(self.text, at):
            self.budget.spend()
            at = found.end()
            match found[0]:
                case "(":
                    depth += 1
                case ")":
                    depth -= 1
                    if depth == 0:
                        return at - 1
                case "\\":
                    at += 1
                case quote:
                    at = self.text.find(quote, at) + 1
                    if at == 0:
                        return -1
        return -1

    def _bracket(self, start: int, *, quoted: bool) -> Part:
        close = self.text.find("]", start)
        if close < 0:
            self.pos = start + 1
            return LiteralText("$", quoted=True)
        self.pos = close + 1
        return Arithmetic(self.inner(self.text[start + 2 : close]), quoted)

    def _braced(self, start: int, *, quoted: bool) -> Part:
        self.pos = start + 2
        self.join_lines(self.pos)
        if self.text[self.pos : self.pos + 1] in {" ", "\t", "\n", "|"}:
            self.pos += 1
            return Substitution(self.script_until("}"), self.text[start : self.pos], quoted)
        part = self._parameter(start, quoted=quoted)
        if not self.text.startswith("}", self.pos):
            self.fail("an expansion in braces cannot be read", start)
            self.until("}", quoted=quoted)
            part = Parameter("", quoted, operator="bad")
        self.pos = min(self.pos + 1, self.end)
        return part

    def _parameter(self, start: int, *, quoted: bool) -> Parameter:
        found = _BRACED.match(self.text, self.pos)
        if self.text.startswith("#}", self.pos) or not found:
            length = self.text.startswith("#}", self.pos)
            self.pos += length
            return Parameter("#" if length else "", quoted, operator="" if length else "bad")
        part = Parameter(found[2], quoted, prefix=found[1])
        self.pos = found.end()
        if self.text.startswith("[", self.pos):
            part.index = self._index()
        if operator := _OPERATOR.match(self.text, self.pos):
            part.operator = operator[0]
            self.pos = operator.end()
            self._arguments(part, quoted=quoted)
        return part

    def _index(self) -> str:
        start, depth = self.pos + 1, 0
        while self.pos < self.end:
            self.budget.spend()
            depth += {"[": 1, "]": -1}.get(self.text[self.pos], 0)
            self.pos += 1
            if depth == 0:
                break
        return self.text[start : self.pos - 1]

    def _arguments(self, part: Parameter, *, quoted: bool) -> None:
        single = part.operator[0] in "#%/^,"
        self.budget.enter()
        self._in_braces += 1
        stops = {"/": "/}", ":": ":}"}.get(
            part.operator[0] if len(part.operator) == 1 or part.operator[0] == "/" else "", "}"
        )
        # Patterns are patterns in double quotes, too.
        part.argument = self.until(stops, quoted=quoted and not single, single=single)
        if stops != "}" and self.text.startswith(stops[0], self.pos):
            self.pos += 1
            part.second = self.until("}", quoted=quoted, single=single)
        self._in_braces -= 1
        self.budget.leave()


def _plain_until(stops: str, single: bool) -> re.Pattern[str]:
    key = (stops, single)
    if key not in _UNTIL:
        quotes = "'\"" if single else '"'
        _UNTIL[key] = re.compile(
            rf"[^{re.escape(stops)}{quotes}\\$`<>]+" if single else rf"[^{re.escape(stops)}{quotes}\\$`]+"
        )
    return _UNTIL[key]
