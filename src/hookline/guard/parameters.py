"""``$x`` and ``${x…}``: what a variable holds, and what the operators in braces make of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hookline.guard.arithmetic import evaluate
from hookline.guard.reading import UNKNOWN, Glob, Word, word
from hookline.guard.scan import ansi
from hookline.guard.syntax import Parameter, Raw
from hookline.guard.values import EMPTY, Variable, concatenate, literal, unknown

if TYPE_CHECKING:
    from hookline.guard.context import ReadingContext

#: Set in nearly every shell, and to a path in most: their first letter is known, and they are not unset.
_PATHS = frozenset({"PATH", "PWD", "OLDPWD", "TMPDIR", "XDG_RUNTIME_DIR"})
_ALWAYS_SET = _PATHS | {
    "BASHPID", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HOSTNAME", "HOSTTYPE", "LANG", "LINENO", "LOGNAME",
    "MACHTYPE", "OPTIND", "OSTYPE", "PIPESTATUS", "PPID", "RANDOM", "SECONDS", "SHELLOPTS", "SHLVL", "TERM", "UID", "USER", "_",
}  # fmt: skip
_UNKNOWN_SIGNS = frozenset("?$!-0_")


def separators(shell: ReadingContext) -> str | None:
    """``$IFS``; None where it is not known."""
    value = shell.state.variables.get("IFS", " \t\n") if "IFS" in shell.state.variables else " \t\n"
    if isinstance(value, str):
        return value
    return literal(value) if isinstance(value, Word) else " \t\n" if value is None else None


def lookup(shell: ReadingContext, name: str) -> Variable:
    """What is in a variable; None if it is not set."""
    state = shell.state
    if state.aliases:  # declare -n
        name = state.aliases.get(f"reference {name}", name)
    if name in state.variables:
        return state.variables[name]
    if name.isdigit() and name != "0":
        if state.positional is None:
            return unknown()
        return _nth(state.positional, int(name))
    match name:
        case "#":
            return (
                unknown()
                if state.positional is None or has_unknown(state.positional)
                else word(str(len(state.positional)))
            )
        case "IFS":
            return word(" \t\n")
        case "HOME":
            return word(shell.home_directory())
        case "PWD" if state.directory is not None and shell.environment is not None:
            relative = not state.directory.prefix.startswith("/")
            base = [word(shell.environment["PWD"]), word("/")] if relative and "PWD" in shell.environment else []
            return concatenate([*base, state.directory], state.directory.source)
        case _ if name in _UNKNOWN_SIGNS:
            return unknown()
        case _:
            pass
    if shell.environment is not None and name in shell.environment:
        return word(shell.environment[name])
    if name in {"SHELL", "BASH"}:
        return word("/bin/bash")
    if name in _ALWAYS_SET or name.startswith("BASH_"):
        return Word(("/", UNKNOWN)) if name in _PATHS else unknown()
    return unknown() if shell.environment is None or not shell.complete else None


def _nth(values: list[Word], place: int) -> Word | None:
    """Behind a value that may be any number of fields, nobody knows which is which."""
    if has_unknown(values[: place - 1]):
        return unknown()
    value = values[place - 1] if place <= len(values) else None
    return (
        value
        if value is None or value.known
        else Word((value.prefix, UNKNOWN) if value.prefix else (UNKNOWN,), "", value.sources)
    )


def text_lookup(shell: ReadingContext, name: str) -> str | None:
    """A variable's text for arithmetic; None if unknown."""
    value = lookup(shell, name)
    value = value.get("0", EMPTY) if isinstance(value, dict) else value
    return "" if value is None else literal(value)


def expand_parameter(shell: ReadingContext, part: Parameter) -> Word | list[Word] | Raw:
    if part.operator == "bad":
        return unknown(source=part.name)
    many = _many(shell, part)
    if many is not None:
        return _on_list(shell, part, many)
    name, index = part.name, part.index
    if part.prefix == "!":
        target = _single(shell, name, index)
        text = None if target is None else literal(target)
        if part.operator in {"*", "@"} or text is None or not (found := re.fullmatch(r"(\w+)(?:\[(.*)\])?", text)):
            shell.doubt("an indirect expansion cannot be followed", f"${{!{name}}}", part=True)
            return unknown()
        name, index = found[1], found[2]
    value = _single(shell, name, index)
    if part.prefix == "#":
        text = None if value is None else literal(value)
        return word(str(len(text or ""))) if value is None or text is not None else unknown(value.sources)
    return _operate(shell, part, name, value)


def _single(shell: ReadingContext, name: str, index: str | None) -> Word | None:
    array = lookup(shell, name)
    key = array_key(shell, name, array if isinstance(array, dict) else {}, index or "0")
    value = lookup(shell, name)  # what the subscript runs may have changed it
    if not isinstance(value, dict):
        return value if key == "0" or value is None else unknown(value.sources)
    if key is None or (has_unknown(list(value.values())) and key != "0"):
        return unknown()
    return value.get(key, unknown() if _holds_pairs(shell, name, value) else None)


def array_key(shell: ReadingContext, name: str, array: dict[str, Word], index: str) -> str | None:
    """What the text in brackets comes to; None where that is not known. The commands in it run."""
    text: str | None = index
    if index == "0":  # by far the most common
        return index
    if "$" in index or "`" in index:
        from hookline.guard.expand import expand_text

        text = literal(expand_text(shell, word(index)))
    if text is None or text in array:
        return text
    if _holds_pairs(shell, name, array):
        return text.strip("'\"")
    number = evaluate(text, lambda name: text_lookup(shell, name))
    shell.failures += number is None  # if it is no expression, nothing of the command happens
    last = max((int(key) for key in array if key.isdigit()), default=-1)
    return None if number is None else str(number if number >= 0 else last + 1 + number)


def _holds_pairs(shell: ReadingContext, name: str, array: dict[str, Word]) -> bool:
    return _is_associative(array) or f"{name} A" in shell.state.exported


def _is_associative(array: dict[str, Word]) -> bool:
    return any(not key.isdigit() for key in array)


def _unordered(value: object) -> bool:
    """Nobody foresees in which order bash tells the pairs of an associative array."""
    return isinstance(value, dict) and len(value) > 1 and _is_associative(value)


def _many(shell: ReadingContext, part: Parameter) -> list[Word] | None:
    """The values of ``$@``, ``$*``, ``${a[@]}``; None where one value is meant."""
    if part.prefix == "!" and part.index in {"@", "*"}:
        keys = lookup(shell, part.name)
        return [word(key) for key in keys] if isinstance(keys, dict) and not _unordered(keys) else [unknown()]
    if part.name in {"@", "*"} and not part.prefix:
        positional = shell.state.positional
        return [unknown()] if positional is None else positional
    if part.index in {"@", "*"} or (part.name in {"@", "*"} and part.prefix == "#"):
        value = shell.state.positional if part.name in {"@", "*"} else lookup(shell, part.name)
        values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
        if part.prefix == "#":
            values = [] if value is None and part.name not in {"@", "*"} else values
            return [unknown() if values is None or has_unknown(values) else word(str(len(values)))]
        if _unordered(value):
            return [unknown()]
        return (
            values
            if values is not None
            else []
            if value is None
            else [value]
            if isinstance(value, Word)
            else [unknown()]
        )
    return None


def has_unknown(values: list[Word]) -> bool:
    """Whether some of them may be any number of fields."""
    return any(not value.known or value.globs for value in values)


def _on_list(shell: ReadingContext, part: Parameter, values: list[Word]) -> Word | list[Word] | Raw:
    if part.operator == ":" and part.argument:
        values = _slice(shell, part, values)
    elif part.operator in {":-", "-", ":+", "+", ":=", ":?", "?"}:
        found = _default(shell, part, "@", values[0] if values else None, whole=values)
        if found is not values:
            return found
    elif part.operator:
        values = [_transform(shell, part, value) for value in values]
    if (part.name == "*" or part.index == "*") and part.quoted:
        signs, parts = separators(shell), values[:1]
        glue = unknown() if signs is None else word(signs[:1])
        certain = bool(values) and not _may_vanish(values[0])  # something stands before, so a separator follows
        for value in values[1:]:
            parts += [value] if _may_vanish(value) or not certain else [glue, value]
            certain = certain or not _may_vanish(value)
        return concatenate(parts)
    return values


def _may_vanish(value: Word) -> bool:
    """It may be no field at all, and then has no separator."""
    return UNKNOWN in value.pieces and not any(isinstance(piece, str) for piece in value.pieces)


def _slice(shell: ReadingContext, part: Parameter, values: list[Word]) -> list[Word]:
    array = lookup(shell, part.name)
    sparse = isinstance(array, dict) and [*array] != [str(place) for place in range(len(array))]
    if has_unknown(values) or sparse:
        return [unknown()]
    bounds = [_integer(shell, raw) for raw in (part.argument, part.second)]
    if bounds[0] is None or (part.second and bounds[1] is None):
        return [unknown()]
    if part.name in {"@", "*"}:
        values = [unknown(), *values]  # $0 is the first of them
    first = bounds[0] + (len(values) if bounds[0] < 0 else 0)
    if first < 0 or (bounds[1] or 0) < 0:
        return [unknown()]
    return values[first:][: bounds[1]] if part.second else values[first:]


def _integer(shell: ReadingContext, raw: Raw | None) -> int | None:
    from hookline.guard.expand import number

    if raw is None:
        return None
    text = literal(number(shell, raw))
    return None if text is None else int(text)


def _operate(shell: ReadingContext, part: Parameter, name: str, value: Word | None) -> Word | list[Word] | Raw:
    if part.operator in {":-", "-", ":=", "=", ":+", "+", ":?", "?"}:
        return _default(shell, part, name, value)
    if value is None:
        return EMPTY
    return _transform(shell, part, value) if part.operator else value


def _default(
    shell: ReadingContext, part: Parameter, name: str, value: Word | None, whole: list[Word] | None = None
) -> Word | list[Word] | Raw:
    """``${x:-y}`` and its kin. Of a variable that nothing here sets it is ``y``: set elsewhere is the rarer case."""
    from hookline.guard.expand import scalar

    kind, empty_counts = part.operator[-1], part.operator[0] == ":"
    elsewhere = value is not None and value.pieces == (UNKNOWN,) and name not in shell.state.variables
    missing = value is None or (empty_counts and not value.pieces) or (elsewhere and name not in _ALWAYS_SET)
    given = whole if whole is not None else value if value is not None else EMPTY
    if kind == "+":
        if value is not None and not value.known and not value.prefix:
            if part.argument:
                scalar(shell, part.argument)
            return unknown(value.sources)
        return EMPTY if missing else _argument(shell, part)
    if not missing:
        return given
    if kind == "?":
        return unknown()
    if kind == "=" and part.argument:
        shell.state.variables[name] = assigned = scalar(shell, part.argument, assigned=True)
        return assigned
    return _argument(shell, part)


def _argument(shell: ReadingContext, part: Parameter) -> Word | list[Word] | Raw:
    """What stands behind the operator; unquoted, it is expanded in the place of the parameter."""
    from hookline.guard.expand import part_value, scalar

    if part.argument is None:
        return EMPTY
    if part.quoted:
        parts = part.argument.parts
        if any(isinstance(one, Parameter) and "@" in {one.name, one.index} for one in parts):  # "${x:-$@}" is many
            values = part_value(shell, parts[0]) if len(parts) == 1 else unknown(scalar(shell, part.argument).sources)
            return EMPTY if values == [] else values
        return scalar(shell, part.argument, assigned=True)
    return part.argument


def _transform(shell: ReadingContext, part: Parameter, value: Word) -> Word:
    from hookline.guard.expand import expand_text, scalar

    operator = part.operator
    if operator == ":":
        return _substring(shell, part, value)
    text = literal(value)
    argument = part.argument or Raw([], "")
    if text is None:
        return unknown(value.sources)
    match operator[0]:
        case "^" | "," if not argument.parts:
            changed = {
                "^^": text.upper(),
                ",,": text.lower(),
                "^": text[:1].upper() + text[1:],
                ",": text[:1].lower() + text[1:],
            }
            return Word((changed[operator],), "", value.sources)
        case "@" if operator[1] in "UuLE":
            changed = {"U": text.upper(), "u": text[:1].upper() + text[1:], "L": text.lower(), "E": ansi(text)}
            return Word((changed[operator[1]],), "", value.sources)
        case "@" if operator[1] == "P":
            expand_text(shell, word(text))  # the commands in it run
        case "#" | "%" | "/":
            second = scalar(shell, part.second, assigned=True) if part.second else EMPTY
            found = _replace(shell, operator, text, argument, second)
            return (
                unknown(value.sources)
                if found is None
                else Word((found,) if found else (), "", value.sources + second.sources)
            )
        case _:
            pass
    return unknown(value.sources)


def _substring(shell: ReadingContext, part: Parameter, value: Word) -> Word:
    start, length = _integer(shell, part.argument), _integer(shell, part.second)
    head, text = value.prefix, literal(value)
    if start is None or (part.second and length is None):
        return unknown(value.sources)
    if text is None:
        inside = start >= 0 and length is not None and length >= 0 and start + length <= len(head)
        return Word((head[start:][:length],), "", value.sources) if inside else unknown(value.sources)
    if start < 0:
        start = len(text) + start
        if start < 0:
            return EMPTY
    cut = text[start:] if length is None else text[start:][:length] if length >= 0 else text[start : len(text) + length]
    return Word((cut,) if cut else (), "", value.sources)


def _replace(shell: ReadingContext, operator: str, text: str, argument: Raw, second: Word) -> str | None:
    from hookline.guard.expand import pattern

    new = literal(second)
    expression = _regular_expression(pattern(shell, argument), lazy=operator in {"#", "%"})
    if expression is None or new is None or not _affordable(expression, text):
        return None
    shell.budget.spend(1 + len(text) // 50)
    match operator:
        case "#" | "##":
            found = re.match(expression, text, re.DOTALL)
            return text[found.end() :] if found else text
        case "%" | "%%":
            starts = range(len(text), -1, -1) if operator == "%" else range(len(text) + 1)
            compiled = re.compile(expression, re.DOTALL)
            return next((text[:at] for at in starts if compiled.fullmatch(text, at)), text)
        case "/#":
            return re.sub(rf"\A(?:{expression})", lambda _: new, text, count=1, flags=re.DOTALL)
        case "/%":
            return re.sub(rf"(?:{expression})\Z", lambda _: new, text, count=1, flags=re.DOTALL)
        case _:
            return (
                re.sub(expression, lambda _: new, text, count=operator == "/", flags=re.DOTALL) if expression else text
            )


def _affordable(expression: str, text: str) -> bool:
    """A pattern with many stars over a long text would take too long to try."""
    stars = expression.count(".*")
    return len(text) <= (20_000, 1_000, 100, 0)[min(stars, 3)]


def _regular_expression(value: Word, *, lazy: bool = False) -> str | None:
    """A glob as a regular expression; None where a part of it is unknown."""
    made, bracket = "", False
    for piece in value.pieces:
        if isinstance(piece, Glob):
            if piece.text not in {"*", "?", "["}:
                return None
            bracket = piece.text == "["
            made += {"*": ".*?" if lazy else ".*", "?": ".", "[": ""}[piece.text]
        elif isinstance(piece, str):
            if bracket:
                inner, _, piece = piece[0] + piece[1:].partition("]")[0], "", piece[1:].partition("]")[2]  # noqa: PLW2901
                if "[" in inner:
                    return None
                made += (
                    f"[{'^' if inner[0] in '!^' else ''}{inner.lstrip('!^') if inner[0] in '!^' else inner}]".replace(
                        "\\", "\\\\"
                    )
                )
            bracket = False
            made += re.escape(piece)
        else:
            return None
    return None if bracket else made
