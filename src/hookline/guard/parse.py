"""The commands of a text, as bash divides it. What bash would refuse is a doubt, and reading goes on behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookline.guard.scan import Scanner
from hookline.guard.syntax import (
    Assignment,
    Case,
    Chain,
    Command,
    CommandGroup,
    Coprocess,
    Count,
    For,
    FunctionDefinition,
    If,
    LiteralText,
    Pipeline,
    Raw,
    Redirection,
    ShellScript,
    Simple,
    Test,
    While,
)

_BLANK = re.compile(r"(?:[ \t]+|\\\n)+")
_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|time|coproc|\{|\}|!|\[\[)(?=[ \t\n;&|()<>]|$)"
)
_CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_PUNCTUATION = re.compile(r";;&|;;|;&|\)")
_REDIRECTION = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|(&>>|&>)", re.ASCII)
_INDEX = r"\[((?:[^\[\]\n]|\[[^\]\n]*\])*)\]"
_ASSIGNMENT = re.compile(rf"([A-Za-z_]\w*)(?:{_INDEX})?(\+?)=", re.ASCII)
_ELEMENT = re.compile(rf"{_INDEX}(\+?)=", re.ASCII)
_PARENTHESES = re.compile(r"[ \t]*\([ \t]*\)")
_FUNCTION_NAME = re.compile(r"[^ \t\n|&;()<>'\"\\$`]+")
_DECLARING = frozenset({"declare", "typeset", "export", "local", "readonly", "alias"})
_UNFINISHED = "a compound command is not finished"


class ScriptParser(Scanner):
    _heredocs: list[tuple[Redirection, str, bool, bool]]

    def statements(self, *stops: str) -> Iterator[tuple[Command, bool]]:
        """One command line after the other, and whether it runs in the background, up to one of ``stops``."""
        if not hasattr(self, "_heredocs"):
            self._heredocs = []
        held = list[tuple[Command, bool]]()
        while True:
            self._lines()
            if self.pos >= self.end or self._peek() in stops:
                yield from held
                return
            start = self.pos
            chain = self._chain()
            if chain is None:
                self.fail(
                    "bash cannot read this" if self._peek() not in _CLOSING else "a word of the shell stands alone",
                    start,
                )
                self._skip_odd(start)
                continue
            background = self._at("&") and not self._at("&&")
            if background or (self._at(";") and not _PUNCTUATION.match(self.text, self.pos)):
                self.pos += 1
            elif self.pos < self.end and not self._at("\n") and self._peek() not in stops:
                self.fail("bash cannot read this")
            held.append((chain, background))
            self._blanks()
            # The text of a heredoc stands behind the line: what is on the line waits for it.
            if not self._heredocs or self.pos >= self.end:
                yield from held
                held = []
            elif self._at("\n"):
                self._lines()
                yield from held
                held = []

    def _skip_odd(self, start: int) -> None:
        word = _KEYWORD.match(self.text, self.pos) or _PUNCTUATION.match(self.text, self.pos)
        self.pos = max(word.end() if word else self.pos + 1, start + 1)

    def script(self, *stops: str) -> ShellScript:
        self.budget.enter()
        script = ShellScript(list(self.statements(*stops)))
        self.budget.leave()
        return script

    def script_until(self, stop: str) -> ShellScript:
        outer, self._heredocs = getattr(self, "_heredocs", []), []
        script = self.script(stop)
        self._heredocs = outer
        if self._at(stop):
            self.pos += 1
        else:
            self.fail("a substitution or group is not closed")
        return script

    def script_in(self, text: str) -> ShellScript:
        return ScriptParser(text, self.budget, self.doubts).script()

    # ── moving on ────────────────────────────────────────────────────────────────────────────────────

    def _at(self, text: str) -> bool:
        return self.text.startswith(text, self.pos)

    def _blanks(self) -> None:
        if blank := _BLANK.match(self.text, self.pos):
            self.pos = blank.end()
        if self._at("#"):
            line = self.text.find("\n", self.pos)
            self.pos = self.end if line < 0 else line

    def _lines(self) -> None:
        """Over blanks, comments and newlines, and the heredocs that begin behind a newline."""
        while True:
            self._blanks()
            if not self._at("\n"):
                return
            self.budget.spend()
            self.pos += 1
            pending, self._heredocs = self._heredocs, []
            for heredoc in pending:
                self._heredoc(*heredoc)

    def _heredoc(self, redirection: Redirection, delimiter: str, strip: bool, literal: bool) -> None:
        end = ("^\t*" if strip else "^") + re.escape(delimiter) + "$"
        close = re.compile(end, re.MULTILINE).search(self.text, self.pos)
        if close is None:
            self.fail("a heredoc is not finished")
        body = self.text[self.pos : close.start() if close else self.end]
        self.pos = min(close.end() + 1, self.end) if close else self.end
        self.budget.spend(1 + len(body) // 1_000)
        body = re.sub(r"^\t+", "", body, flags=re.MULTILINE) if strip else body
        redirection.body = _literal(body) if literal else self.inner(body)

    def _peek(self) -> str:
        """The reserved word or closing sign at the position, else ""."""
        found = _KEYWORD.match(self.text, self.pos) or _PUNCTUATION.match(self.text, self.pos)
        return found[0] if found else ""

    def _take(self, word: str) -> bool:
        self._lines()
        if self._peek() == word:
            self.pos += len(word)
            return True
        return False

    def _expect(self, word: str, start: int) -> None:
        if not self._take(word):
            self.fail(_UNFINISHED, start)

    # ── lists and pipelines ──────────────────────────────────────────────────────────────────────────

    def _chain(self) -> Command | None:
        first = self._pipeline()
        if first is None:
            return None
        items = [("", first)]
        while True:
            self._blanks()
            self._join_operator()
            operator = self.text[self.pos : self.pos + 2]
            if operator not in {"&&", "||"}:
                return first if len(items) == 1 else Chain(items)
            self.pos += 2
            self._lines()
            following = self._pipeline()
            if following is None:
                self.fail("a command is missing")
                return Chain(items)
            items.append((operator, following))

    def _join_operator(self) -> None:
        if self.text[self.pos : self.pos + 1] in {"&", "|", ";", "<", ">"}:
            self.join_lines(self.pos + 1)

    def _pipeline(self) -> Command | None:
        start, negated = self.pos, False
        while self._peek() in {"!", "time"} or self._at("!("):
            self.budget.spend(2)
            negated ^= self._at("!")
            self.pos += 1 if self._at("!") else 4
            self._blanks()
            if self._at("-p") or self._at("--"):
                self.pos += 2
            self._blanks()
        first = self._command()
        if first is None:
            return Simple([], [], [], "") if self.pos > start and self._peek() not in _CLOSING else None
        stages = [first]
        while True:
            self._blanks()
            self._join_operator()
            if not self._at("|") or self._at("||"):
                break
            self.pos += 2 if self._at("|&") else 1
            self._lines()
            following = self._command()
            if following is None:
                self.fail("a command is missing")
                break
            stages.append(following)
        if len(stages) == 1 and not negated:
            return first
        return Pipeline(stages, negated, self.text[start : self.pos].strip())

    # ── commands ─────────────────────────────────────────────────────────────────────────────────────

    def _command(self) -> Command | None:
        self.budget.spend()
        start = self.pos
        word = self._peek()
        if self._at("(") or (word and word not in _CLOSING and word[0] not in ";)"):
            self.budget.enter()
            command = self._compound(word, start)
            self.budget.leave()
            return command
        return None if word else self._simple()

    def _compound(self, word: str, start: int) -> Command | None:
        if not word:
            return self._parenthesis(start)
        self.pos += len(word)
        match word:
            case "{":
                body = self.script("}")
                self._expect("}", start)
                return CommandGroup(
                    body, subshell=False, redirections=self._redirections(), source=self.text[start : self.pos]
                )
            case "if":
                return self._if(start)
            case "while" | "until":
                condition = self.script("do", "done")
                body = self._body(start)
                return While(condition, body, word == "until", self._redirections(), self.text[start : self.pos])
            case "for" | "select":
                return self._for(start, select=word == "select")
            case "case":
                return self._case(start)
            case "function":
                return self._function(start)
            case "[[":
                return self._test(start)
            case "coproc":
                return self._coprocess()
            case _:  # "!" and "time" behind a pipe, where bash refuses or runs a program of that name
                self.pos = start
                return self._simple()

    def _parenthesis(self, start: int) -> Command:
        self.join_lines(self.pos + 1)
        if self._at("((") and (close := self.arithmetic_end(self.pos)) >= 0:
            text = self.inner(self.text[self.pos + 2 : close - 1])
            self.pos = close + 1
            return Test([text], arithmetic=True, redirections=self._redirections())
        self.pos += 1
        body = self.script_until(")")
        return CommandGroup(body, subshell=True, redirections=self._redirections(), source=self.text[start : self.pos])

    def _if(self, start: int) -> Command:
        branches, otherwise = list[tuple[ShellScript, ShellScript]](), None
        while True:
            condition = self.script("then", "fi", "else", "elif")
            self._expect("then", start)
            branches.append((condition, self.script("elif", "else", "fi")))
            if not self._take("elif"):
                break
        if self._take("else"):
            otherwise = self.script("fi")
        self._expect("fi", start)
        return If(branches, otherwise, self._redirections())

    def _body(self, start: int) -> ShellScript:
        if self._take("{"):
            body = self.script("}")
            self._expect("}", start)
            return body
        self._expect("do", start)
        body = self.script("done")
        self._expect("done", start)
        return body

    def _for(self, start: int, *, select: bool) -> Command:
        self._blanks()
        if self._at("((") and (close := self.arithmetic_end(self.pos)) >= 0:
            header = self.inner(self.text[self.pos + 2 : close - 1])
            self.pos = close + 1
            self._separator()
            return Count(header, self._body(start), self._redirections())
        name = self.word()
        self._lines()
        words: list[Raw] | None = None
        if _in := re.compile(r"in(?=[ \t\n;]|$)").match(self.text, self.pos):
            self.pos = _in.end()
            words = self._words()
        self._separator()
        return For(name.source if name else "", words, self._body(start), select, self._redirections())

    def _separator(self) -> None:
        self._blanks()
        if self._at(";"):
            self.pos += 1
        self._lines()

    def _words(self) -> list[Raw]:
        words = list[Raw]()
        while True:
            self._blanks()
            word = self.word()
            if word is None:
                return words
            words.append(word)

    def _case(self, start: int) -> Command:
        self._blanks()
        subject = self.word() or _literal("")
        self._lines()
        if _in := re.compile(r"in(?=[ \t\n(]|$)").match(self.text, self.pos):
            self.pos = _in.end()
        else:
            self.fail(_UNFINISHED, start)
        arms = list[tuple[list[Raw], ShellScript]]()
        while not self._take("esac"):
            if self.pos >= self.end:
                self.fail(_UNFINISHED, start)
                break
            arms.append(self._arm())
        return Case(subject, arms, self._redirections())

    def _arm(self) -> tuple[list[Raw], ShellScript]:
        if self._at("("):
            self.pos += 1
        patterns = list[Raw]()
        while True:
            self._blanks()
            if pattern := self.word():
                patterns.append(pattern)
            self._blanks()
            if not self._at("|"):
                break
            self.pos += 1
        if self._at(")"):
            self.pos += 1
        else:
            self.fail("a pattern of case is not closed")
            self.pos += not patterns
        body = self.script(";;", ";&", ";;&", "esac")
        if (sign := self._peek()) in {";;", ";&", ";;&"}:
            self.pos += len(sign)
        return patterns, body

    def _function(self, start: int) -> Command | None:
        self._blanks()
        name = _FUNCTION_NAME.match(self.text, self.pos)
        if not name:
            return None
        self.pos = name.end()
        if parentheses := _PARENTHESES.match(self.text, self.pos):
            self.pos = parentheses.end()
        return self._function_body(name[0], start)

    def _function_body(self, name: str, start: int) -> Command:
        self._lines()
        body = self._command() or Simple([], [], [], "")
        return FunctionDefinition(name, body, self.text[start : self.pos])

    def _test(self, start: int) -> Command:
        words = list[Raw]()
        while True:
            self._lines()
            self.budget.spend()
            if self._at("]]"):
                self.pos += 2
                break
            if self.pos >= self.end:
                self.fail(_UNFINISHED, start)
                break
            if word := self.word():
                words.append(word)
            else:
                self.pos += 1
        return Test(words, arithmetic=False, redirections=self._redirections())

    def _coprocess(self) -> Command:
        self._blanks()
        name = re.compile(r"[A-Za-z_]\w*[ \t]+(?=\{[ \t\n]|\(|(?:if|while|until|for|case|select)\b)").match(
            self.text, self.pos
        )
        named = name and _KEYWORD.match(self.text, self.pos) is None
        self.pos = name.end() if name and named else self.pos
        return Coprocess(self._command() or Simple([], [], [], ""), name[0].strip() if name and named else "COPROC")

    # ── simple commands ──────────────────────────────────────────────────────────────────────────────

    def _simple(self) -> Command | None:
        start, simple = self.pos, Simple([], [], [], "")
        declaring = False
        while self.pos < self.end:
            self._blanks()
            if redirection := self._redirection():
                simple.redirections.append(redirection)
            elif (not simple.words or declaring) and (assignment := self._assignment()):
                (simple.words or simple.assignments).append(assignment)
            elif word := self.word():
                simple.words.append(word)
                declaring = declaring or (len(simple.words) <= 2 and word.plain in _DECLARING)
                if len(simple.words) == 1 and _PARENTHESES.match(self.text, self.pos) and not simple.assignments:
                    return self._named_function(word, start)
            else:
                break
        simple.source = self.text[start : self.pos].rstrip()
        return simple if simple.words or simple.assignments or simple.redirections else None

    def _named_function(self, word: Raw, start: int) -> Command:
        parentheses = _PARENTHESES.match(self.text, self.pos)
        self.pos = parentheses.end() if parentheses else self.pos
        return self._function_body(word.source, start)

    def _assignment(self) -> Assignment | None:
        start = self.pos
        found = _ASSIGNMENT.match(self.text, self.pos)
        if not found:
            return None
        self.pos = found.end()
        value: Raw | list[Raw | Assignment]
        value = self._array() if self._at("(") else self.word() or _literal("")
        return Assignment(found[1], found[2], bool(found[3]), value, self.text[start : self.pos])

    def _array(self) -> list[Raw | Assignment]:
        start, values = self.pos, list[Raw | Assignment]()
        self.pos += 1
        while True:
            self._lines()
            if self._at(")"):
                self.pos += 1
                return values
            begin = self.pos
            if element := _ELEMENT.match(self.text, self.pos):
                self.pos = element.end()
                value = self.word() or _literal("")
                values.append(Assignment("", element[1], bool(element[2]), value, self.text[begin : self.pos]))
            elif word := self.word():
                values.append(word)
            elif self.pos >= self.end:
                self.fail("an array is not closed", start)
                return values
            else:
                self.pos += 1

    def _redirections(self) -> list[Redirection]:
        found = list[Redirection]()
        while True:
            self._blanks()
            redirection = self._redirection()
            if redirection is None:
                return found
            found.append(redirection)

    def _redirection(self) -> Redirection | None:
        found = _REDIRECTION.match(self.text, self.pos)
        if not found or (found[2] in {"<", ">"} and self.text.startswith("(", found.end())):
            return None
        self.pos = found.end()
        self._blanks()
        operator = found[2] or found[3]
        target = self._dash() if operator in {"<&", ">&"} and self._at("-") else self.word()
        if target is None:
            self.fail("the target of a redirection is missing", found.start())
            target = _literal("")
        redirection = Redirection(operator, target, found[1] or "")
        if operator in {"<<", "<<-"}:
            delimiter, literal = _delimiter(target)
            self._heredocs.append((redirection, delimiter, operator == "<<-", literal))
        return redirection

    def _dash(self) -> Raw:
        """``<&-``: whatever follows is a word of its own."""
        self.pos += 1
        return Raw([LiteralText("-", quoted=False)], "-")


def _literal(text: str) -> Raw:
    return Raw([LiteralText(text, quoted=True)], text)


def _delimiter(target: Raw) -> tuple[str, bool]:
    """The line that ends a heredoc, and whether its text is taken as it stands."""
    literal = any(sign in target.source for sign in "'\"\\")
    text = re.sub(r"\\(.)|['\"]", r"\1", target.source.removeprefix("$")) if literal else target.source
    return text, literal
