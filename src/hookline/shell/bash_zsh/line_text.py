"""Split a command line into commands for hooks. An approximation: the shell expands the line later."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

_PIPES = frozenset({"|", "|&"})
_ENDS = _PIPES | {"||", "&&", ";", "&", ";;", "(", ")", "\n"}
#: A command in here is a command of its own, and what follows it are further words of the one around it.
_SUBSTITUTIONS = frozenset({"<(", ">("})
#: Reserved words before a command.
_RESERVED = frozenset(
    {"{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "time", "esac", "coproc"}
)
#: Builtins that run the command after them; with an option other than these they do something else.
_MODIFIERS = frozenset({"command", "builtin", "exec", "noglob", "nocorrect", "-"})
_MODIFIER_OPTIONS = frozenset({"-p", "--"})
_EXEC_OPTIONS = frozenset({"-c", "-l", "-cl", "-lc"})
_REDIRECTS = frozenset({">", ">>", "<", "<<", "<<<", ">|", "&>", "&>>", ">&", "<&", "<>"})
#: Places that are no files.
_DESCRIPTORS = frozenset({"1", "2", "-", "/dev/null"})
#: What a function in the place of a refused command calls itself, and what would lead elsewhere: nothing stands in for it.
_NOT_REPLACED = frozenset({"break", "builtin", "continue", "exit", "local", "return", "set", "trap"})
_SIGNS = "|&;<>()\n"
_OPERATORS = re.compile(r"[<>]\(|\|\||&&|;;|\|&|&>>|&>|>>|>\||>&|<<<|<<|<&|<>|[|&;<>()\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")
#: A number or {name} right before a redirection is its descriptor, not a word: 2>&1. Quoted text is skipped.
_DESCRIPTOR = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?:(?<![^\s|;()])|(?<=&&))(\d+|\{[A-Za-z_]\w*\})(?=[<>])""", re.DOTALL
)
_MARK = "\x1f"
#: ``$'…'`` and comments, where quotes have another meaning. Quoted text is skipped.
_ODD_QUOTES = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|\$'((?:\\.|[^'\\])*)'|(?<![^\s;|&()])(\#[^\n]*)""", re.DOTALL
)
_QUOTING = re.compile(r"""\\.|\$\(|["'`]""", re.DOTALL)
#: For quotes that do not match.
_UNQUOTED = re.compile(r"[|&;<>()\n]+|[^\s|&;<>()]+")
_NO_QUOTES = str.maketrans("", "", "'\"`")
_HERE = re.compile(r"(?<!<)<<(-?)[ \t]*(['\"]?)([A-Za-z0-9_.-]+)\2")


#: Names that a function may have in both shells.
_NAME = re.compile(r"[A-Za-z0-9_/+@%-][A-Za-z0-9_./+:@%-]*")
_HEADER = re.compile(r"^\s*(?:function\s+)?[^\s(){}]+\s*\(\s*\)\s*(\{?)\s*$", re.MULTILINE)
_DEFINES = re.compile(r"\s*(?:function\s+[^\s(){}]+\s*(?:\(\s*\))?|[^\s(){};&|<>'\"$`]+\s*\(\s*\))\s*\{")
_LOOPS = frozenset({"while", "until", "for", "select", "case"})
#: A coprocess of bash has a name only before a compound command.
_COPROC = re.compile(r"\bcoproc\s+[A-Za-z_]\w*(?=\s+(?:[{(]|\[\[|(?:if|while|until|for|select|case)\s))")


def bodies(functions: str) -> str:
    """The commands of function definitions as a shell prints them, without the names that they define."""
    return _HEADER.sub(r"\1", functions)


def only_defines(text: str) -> bool:
    """It defines one function and runs nothing."""
    if not _DEFINES.match(text):
        return False
    depth, words = 0, _words(text.rstrip().rstrip(";"))
    for index, word in enumerate(words):
        depth += (word == "{") - (word == "}")
        if word == "}" and depth == 0:
            return len(words) % 2 != index % 2 and _REDIRECTS.issuperset(words[index + 1 :: 2])
    return False


def can_be_replaced(command: dict[str, Any]) -> bool:
    """A function in the place of this command keeps it from doing anything: no file is opened, nothing else is run."""
    return (
        _NAME.fullmatch(command["word"]) is not None
        and command["word"] not in _NOT_REPLACED
        and all(
            one["op"].lstrip("0123456789") in {"<<", "<<<"} or one["path"] in _DESCRIPTORS
            for one in command["redirects"]
        )
        and not _substitutes(command)
    )


def writes_around(command: dict[str, Any], functions: str) -> bool:
    """It writes a file for other commands: after ``}``, ``done`` or ``|``, with ``$( )``, or as one of the functions."""
    name = re.escape(command["word"])
    defined = re.compile(rf"(?<![^\s;&|(){{}}])(?:function\s+{name}\b|{name}\s*\(\s*\))")
    around = not command["word"] or command["piped"] or _substitutes(command) or defined.search(functions) is not None
    return around and not all(
        "<" in one["op"].replace("<>", ">") or one["path"] in _DESCRIPTORS for one in command["redirects"]
    )


def _substitutes(command: dict[str, Any]) -> bool:
    words = (command["command"], *command["args"], *command["env"].values())
    return any("$(" in word or "`" in word or word.endswith(("$", "=", "(")) for word in words)


def is_plain(text: str) -> bool:
    """A list of commands that can all be replaced: neither a loop nor an assignment."""
    found = commands(text, with_env=True)
    return (
        bool(found)
        and all(map(can_be_replaced, found))
        and not any(sign in text for sign in "(){}`\n")
        and not _LOOPS.intersection(_words(text))
        and not any(_ASSIGNMENT.match(word) for word in _words(text))
    )


def commands(text: str, *, with_env: bool = False) -> list[dict[str, Any]]:
    """Every simple command in the text, with its redirections."""
    found = _commands(text)
    return found if with_env else [{name: one[name] for name in ("command", "args", "redirects")} for one in found]


def expand_commands(text: str, aliases: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every command that the text starts: through aliases and ``eval`` too."""
    return [each for one in _commands(text) for each in _unaliased(one, aliases)]


def _unaliased(one: dict[str, Any], aliases: Mapping[str, str]) -> list[dict[str, Any]]:
    """The last command of an alias gets the words after it."""
    name = one["command"]
    if name == "eval":
        return [one, *expand_commands(" ".join(one["args"]), aliases)]
    if name not in aliases:
        return [one]
    found = expand_commands(aliases[name], {other: text for other, text in aliases.items() if other != name})
    if found:
        found[-1]["args"] = [*found[-1]["args"], *one["args"]]
        found[-1]["redirects"] = [*found[-1]["redirects"], *one["redirects"]]
    return found


def _commands(text: str) -> list[dict[str, Any]]:
    bodies: list[str] = []
    # The bodies of here-documents are not commands.
    text = "\n".join(_command_lines(text, bodies)) if "<<" in text else text
    text = _ODD_QUOTES.sub(_plain_quotes, text) if "$'" in text or "#" in text else text
    found = _CommandReader(_words(_mark_descriptors(_COPROC.sub("coproc", text)))).read()
    inner = (*_in_quotes(text), *_in_quotes("\n".join(bodies), inside=True))
    return [*found, *(one for each in inner for one in _commands(each))]


class _CommandReader:
    """Groups words into commands, in the order in which they end."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = iter([*words, ";"])
        self._found: list[dict[str, Any]] = []
        self._current = _empty()
        #: The descriptor of the redirection that follows, and the word before this one.
        self._descriptor = self._last = ""
        #: Commands around the open parentheses; None for those of a subshell.
        self._around: list[dict[str, Any] | None] = []
        #: How many "case" are open: a ")" in them ends a pattern.
        self._cases = 0

    def read(self) -> list[dict[str, Any]]:
        for word in self._words:
            before, self._last = self._last, word
            if not self._current["command"]:
                self._cases += (word == "case") - (word == "esac")
            self._take(word, before)
        never_closed = [one for one in self._around if one is not None and one["command"]]
        return self._found + never_closed

    def _take(self, word: str, before: str) -> None:
        if len(word) > 1 and word[0] == word[-1] == _MARK:
            self._descriptor = word[1:-1]
        elif word in _SUBSTITUTIONS or (word == "(" and before.endswith("$")):
            self._current["args"] += [word] if self._current["command"] and word != "(" else []
            self._open(_empty())
        elif word == "(" and _ASSIGNMENT.fullmatch(before):
            self._open(_empty(in_list=True))
        elif word in _ENDS:
            if word != "\n" or not self._current["in_list"]:
                self._end(word)
        elif word in _REDIRECTS:
            self._redirect(word)
        elif not self._leads_to_command(word, before):
            self._add(word)

    def _open(self, inner: dict[str, Any]) -> None:
        self._around.append(self._current)
        self._current = inner

    def _end(self, word: str) -> None:
        if self._current["command"] or self._current["redirects"]:
            self._found.append(self._current)
        self._current = _empty(piped=word in _PIPES)
        if word == "(":
            self._around.append(None)
        elif word == ")" and not self._cases and self._around:
            self._current = self._around.pop() or self._current

    def _redirect(self, word: str) -> None:
        self._last = next(self._words, "")
        self._current["redirects"].append({"op": f"{self._descriptor}{word}", "path": self._last})
        self._descriptor = ""
        if self._last in _SUBSTITUTIONS:
            self._open(_empty())

    def _leads_to_command(self, word: str, before: str) -> bool:
        """Neither a command nor a word of one: an option of ``command``, ``exec`` or ``time``, or the name of a function."""
        command = self._current["command"]
        is_first = command in _MODIFIERS and not self._current["args"]
        if is_first and word in _MODIFIER_OPTIONS:
            return True
        if is_first and command == "exec" and word in _EXEC_OPTIONS | {"-a"}:
            self._last = next(self._words, "") if word == "-a" else word
        elif word == "function" and not command:
            self._last = next((each for each in self._words if each in {"{", "(", "\n"}), "")
            self._around += [None] if self._last == "(" else []
        elif before == "time" and word in _MODIFIER_OPTIONS:
            self._last = before
        else:
            return False
        return True

    def _add(self, word: str) -> None:
        current = self._current
        if current["command"] in _MODIFIERS and not current["args"] and not word.startswith("-"):
            current["command"] = word
        elif current["command"] or current["in_list"]:
            current["args"].append(word)
        elif _ASSIGNMENT.match(word):
            name, _, value = word.partition("=")
            current["env"][name.removesuffix("+")] = value
        else:
            current["command"] = current["word"] = "" if word in _RESERVED else word


def _in_quotes(text: str, *, inside: bool = False) -> Iterator[str]:
    """What stands in ``"$(…)"`` and in backticks: the words of a line keep it as one word.

    ``inside``: all of the text is in quotes, and quotes in it are none.
    """
    if not inside and '"' not in text and "`" not in text:
        return
    place, quoted = 0, inside
    while (found := _QUOTING.search(text, place)) is not None:
        place, sign = found.end(), found[0]
        if sign == '"':
            quoted = inside or not quoted
        elif sign == "'" and not quoted:
            place = text.find("'", place) + 1 or len(text)
        elif sign == "`":
            end = text.find("`", place) % (len(text) + 1)
            yield text[place:end].replace("\\", "")
            place = end + 1
        elif sign == "$(" and quoted:
            end = _closing(text, place)
            yield text[place:end]
            place = end + 1


def _closing(text: str, place: int) -> int:
    """Where the parenthesis before ``place`` is closed."""
    depth = 1
    for end in range(place, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return end
    return len(text)


def one_command(text: str) -> tuple[str, list[str]]:
    """The first command and its words."""
    first = next(iter(commands(text)), None)
    return (first["command"], first["args"]) if first else (text, [])


def in_background(text: str) -> bool:
    return text.rstrip().endswith("&") and not text.rstrip().endswith("&&")


def _mark_descriptors(text: str) -> str:
    """Turn descriptors into separate words that no typed text looks like."""
    if _MARK in text:
        return text.replace(_MARK, " ")
    return _DESCRIPTOR.sub(lambda found: f"{_MARK}{found[1]}{_MARK}" if found[1] else found[0], text)


@lru_cache(maxsize=8)  # each question about a line splits it again
def _words(text: str) -> Sequence[str]:
    lexer = shlex.shlex(text.replace("\\\n", ""), posix=True, punctuation_chars=_SIGNS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return [piece for word in lexer for piece in _operators(word)]
    except ValueError:  # an open quote, or one that the shell reads in another way: rather too many commands
        return [piece for word in _UNQUOTED.findall(text) for piece in _operators(word)]


def _plain_quotes(found: re.Match[str]) -> str:
    if found[1] is not None:
        return shlex.quote(found[1].replace("\\'", "'"))
    return found[2].translate(_NO_QUOTES) if found[2] else found[0]


def _operators(word: str) -> list[str]:
    """Adjacent characters without a space are several operators: ``);(``."""
    return _OPERATORS.findall(word) if word and all(sign in _SIGNS for sign in word) else [word]


def _command_lines(text: str, bodies: list[str]) -> Iterator[str]:
    """The lines that are no here-document; ``bodies`` gets the lines of those that the shell expands."""
    waiting: list[tuple[str, str, str]] = []
    lines = text.split("\n")
    ends = {line.lstrip("\t") for line in lines}  # without one it is a shift, or in quotes
    for line in lines:
        if waiting:
            dash, quote, end = waiting[0]
            if (line.lstrip("\t") if dash else line) == end:
                waiting.pop(0)
            elif not quote:
                bodies.append(line)
            continue
        waiting = [each for each in _HERE.findall(line) if each[2] in ends]
        yield line


def _empty(*, piped: bool = False, in_list: bool = False) -> dict[str, Any]:
    """``in_list``: in the words of an array, which are no command."""
    return {"command": "", "args": [], "redirects": [], "env": {}, "word": "", "piped": piped, "in_list": in_list}
