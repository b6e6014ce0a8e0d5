"""What small programs print, where their arguments and their input are known: enough to see through ``base64 -d | sh``."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable

from hookline.guard.scan import ansi, decode

#: Longer texts are not followed: nobody types them, and they take time.
_LONGEST = 200_000
_PRINTF = re.compile(r"%(?:%|([-0 +#]*)(\*|\d*)(?:\.(\*|\d*))?([a-zA-Z]))")
_CLASSES = {
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "lower": "abcdefghijklmnopqrstuvwxyz", "digit": "0123456789",
    "space": " \t\n\r\f\v", "blank": " \t", "alpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "alnum": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
}  # fmt: skip
_SET = re.compile(r"\[:(\w+):\]|(\\[0-7]{1,3}|\\.|[^\\])(?:-(\\[0-7]{1,3}|\\.|[^\\]))?", re.DOTALL)
_ECHO = re.compile(r"\\(\\|0[0-7]{0,3}|[1-7'\"?])")
_SED_COMMAND = re.compile(r"\s*[sy](\W)[^;]*\1[^;]*\1g?\s*")
_PRINTS = re.compile(r"\s*(print|puts|echo|console\.log)\b[ (]*([\"'])([^\"'\\$@%#]*)\2\s*\)?\s*;?\s*")
_FIELD = re.compile(r"\s*\{\s*print\s+\$(\d+)\s*;?\s*\}\s*")


def foresee_output(name: str, args: list[str], given: str | None) -> str | None:
    """What the program prints, or None. ``given`` is its standard input, None if unknown."""
    program = _PROGRAMS.get(name)
    if program is None or len(given or "") > _LONGEST or sum(map(len, args)) > _LONGEST:
        return None
    try:
        printed = program(args, given)
    except (ValueError, IndexError, KeyError, UnicodeError, OverflowError, re.error, binascii.Error):
        return None
    return printed if printed is None or len(printed) <= _LONGEST else None


def echo_options(args: list[str]) -> tuple[int, bool, bool]:
    """How many words are options, whether a newline ends the text, whether escapes count."""
    newline, escapes, count = True, False, 0
    for each in args:
        if not re.fullmatch(r"-[neE]+", each):
            break
        newline = newline and "n" not in each
        for letter in each:
            escapes = {"e": True, "E": False}.get(letter, escapes)
        count += 1
    return count, newline, escapes


def unescape(text: str, *, octal: bool = False) -> str:
    r"""As ``echo -e`` and ``%b`` do: ``\0101`` too, ``\c`` ends the text, and ``\101`` counts only for ``%b``."""
    before = "".join(re.split(r"(?<!\\)((?:\\\\)*)\\c", text, maxsplit=1)[:2]) if "\\c" in text else text
    return decode(_ECHO.sub(lambda found: _echo_escape(found[1], octal=octal), before))


def _echo_escape(code: str, *, octal: bool) -> str:
    if code[0] == "0" and code != "0":
        return "\\" + code[1:]
    return "\\" + code if code in {"\\", "0"} or (octal and code in "1234567") else "\\\\" + code


def _printf(args: list[str], _given: str | None) -> str | None:
    if args[:1] == ["--"]:
        args = args[1:]
    if not args or args[0].startswith("-"):
        return None
    form, rest, out = decode(re.sub(r"\\0([0-7]{1,2})", r"\\\1", args[0])), args[1:], ""
    if "\\c" in args[0] or ("\\u" in args[0].lower() and not form.isascii()):
        return None
    if any("\\c" in each for each in rest[: -1 if args[0].endswith("%b") else None]) and "%" in args[0]:
        return None  # for ``%b``, all that follows is not printed
    while True:
        used = len(rest)
        text, rest = _printf_once(form, rest)
        out += text
        if not rest or len(rest) == used or len(out) > _LONGEST:
            return out


def _printf_once(form: str, rest: list[str]) -> tuple[str, list[str]]:
    rest = list(rest)

    def one(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        flags, width, precision, kind = found[1], found[2], found[3], found[4]
        if "*" in {width, precision} or kind not in "sbcdiuxXo":
            raise ValueError(kind)
        value = rest.pop(0) if rest else ""
        return _formatted(flags, width, precision, kind, value)

    return _PRINTF.sub(one, form), rest


def _formatted(flags: str, width: str, precision: str | None, kind: str, value: str) -> str:
    if max(int(width or 0), int(precision or 0)) > _LONGEST:
        raise ValueError(width)
    if kind in "diuxXo":
        number = ord(value[1]) if value[:1] in {"'", '"'} else int(value or "0", 0)
        return f"%{flags}{width}{'' if precision is None else '.' + precision}{kind}" % number
    text = unescape(value, octal=True) if kind == "b" else value[:1] if kind == "c" else value
    text = text if precision is None else text[: int(precision or 0)]
    return text.ljust(int(width or 0)) if "-" in flags else text.rjust(int(width or 0))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _filter(options: str, change: Callable[[str, str], str | None]) -> Callable[[list[str], str | None], str | None]:
    """A program that reads standard input when no file is named; ``options`` is what its arguments may look like."""
    allowed = re.compile(options)

    def program(args: list[str], given: str | None) -> str | None:
        flags = " ".join(args).removesuffix(" -") if args != ["-"] else ""
        return change(given, flags) if given is not None and allowed.fullmatch(flags) else None

    return program


def _base64(given: str, flags: str) -> str | None:
    if re.search(r"-[iw0-9]*[dD]|--d", flags):
        cleaned = re.sub(r"[^A-Za-z0-9+/=]" if "i" in flags.replace("--decode", "") else r"\n", "", given)
        cleaned = cleaned.rstrip("=") if len(cleaned) % 4 else cleaned
        return _text(binascii.a2b_base64(cleaned + "=" * (-len(cleaned) % 4)))
    whole = binascii.b2a_base64(_raw(given), newline=False).decode()
    return (
        whole + "\n"
        if re.search(r"-w ?0|wrap=0", flags) is None and len(whole) <= 76
        else whole
        if "0" in flags
        else None
    )


def _xxd(given: str, flags: str) -> str | None:
    words = set(re.findall(r"[rp]|ps|revert|plain|postscript", flags))
    if not {"r", "revert"} & words:
        return _raw(given).hex() + "\n" if len(given) <= 30 and "p" in words else None
    plain = {"p", "ps", "plain", "postscript"} & words
    return _text(bytes.fromhex(re.sub(r"[^0-9A-Fa-f]", "", given))) if plain else None


def _tr(args: list[str], given: str | None) -> str | None:
    flags = "".join(arg[1:] for arg in args if re.fullmatch(r"-[dscCt]+", arg))
    sets = [_characters(arg) for arg in args if not re.fullmatch(r"-[dscCt]+", arg)]
    if given is None or not sets or "t" in flags:
        return None
    inside = set(sets[0])
    other = bool(set("cC") & set(flags))

    def chosen(letter: str) -> bool:
        return (letter in inside) != other

    if "d" in flags:
        return None if "s" in flags else "".join(letter for letter in given if not chosen(letter))
    if len(sets) == 1:
        return (
            "".join(c for n, c in enumerate(given) if not (n and c == given[n - 1] and chosen(c)))
            if "s" in flags
            else None
        )
    if "s" in flags or not sets[1]:
        return None
    if other:
        return "".join(sets[1][-1] if chosen(letter) else letter for letter in given)
    to = sets[1] + sets[1][-1] * (len(sets[0]) - len(sets[1]))
    return given.translate(dict(zip(map(ord, reversed(sets[0])), reversed(to[: len(sets[0])]), strict=True)))


def _characters(text: str) -> str:
    found = ""
    for part in _SET.finditer(text):
        if part[1]:
            found += _CLASSES[part[1]]
            continue
        first = ansi(part[2])
        last = ansi(part[3]) if part[3] else first
        if len(first) != 1 or len(last) != 1 or first > last:
            raise ValueError(text)
        found += "".join(map(chr, range(ord(first), ord(last) + 1)))
    return found


def _each_line(text: str, change: Callable[[str], str]) -> str:
    ended = text.endswith("\n")
    return "\n".join(map(change, text.removesuffix("\n").split("\n"))) + "\n" * ended


def _cut(args: list[str], given: str | None) -> str | None:
    found = re.fullmatch(
        r"(?:-d ?(?:'?)(.)(?:'?) )?-([cbf]) ?(\d*)(-?)(\d*)|-f ?(\d+) -d ?(.)", " ".join(args), re.DOTALL
    )
    if found is None or given is None:
        return None
    kind, first, dash, last = (found[2], found[3], found[4], found[5]) if found[2] else ("f", found[6], "", "")
    start = int(first or 1) - 1
    stop = None if dash and not last else int(last or first)
    if kind != "f":
        return _each_line(given, lambda line: line[start:stop])
    sign = found[1] or found[7] or "\t"
    return _each_line(given, lambda line: sign.join(line.split(sign)[start:stop]) if sign in line else line)


def _some_lines(given: str, flags: str, *, end: bool) -> str | None:
    count = int(re.sub(r"\D", "", flags) or 10)
    if re.search(r"[-+]\d*$|=-|n ?-|n ?\+|c ?\+|c ?-", flags) and not re.fullmatch(r"-\d+|", flags):
        return None
    if "c" in flags.replace("count", ""):
        raw = _raw(given)
        return _text(raw[len(raw) - count :] if end else raw[:count])
    lines = given.splitlines(keepends=True)
    return "".join(lines[len(lines) - count if count < len(lines) else 0 :] if end else lines[:count])


def _sed(args: list[str], given: str | None) -> str | None:
    extended = any(arg in {"-E", "-r"} for arg in args)
    rest = [arg for arg in args if arg not in {"-E", "-r", "-e"}]
    if given is None or len(rest) != 1 or len(given) > 5_000:
        return None
    parts = re.split(r"[;\n]", rest[0])
    for command in parts if all(map(_SED_COMMAND.fullmatch, parts)) else [rest[0]]:
        given = _sed_command(command.strip(), given, extended=extended)
        if given is None:
            return None
    return given


def _sed_command(command: str, given: str, *, extended: bool) -> str | None:
    if len(command) < 4 or command[0] not in "sy" or command[1] in "\\\n":
        return None
    parts = re.split(rf"(?<!\\){re.escape(command[1])}", command[2:])
    if len(parts) != 3 or "\\" in parts[0] + parts[1] or parts[2] not in {"", "g"}:
        return None
    old, new, flag = parts
    if command[0] == "y":
        return given.translate(dict(zip(map(ord, old), new, strict=True)))
    if (extended and re.search(r"[(){}+?|]", old)) or old.count("*") + old.count("+") > 1:
        return None
    expression = old if extended else re.sub(r"([(){}+?|])", r"\\\1", old)
    compiled = re.compile(expression)
    return _each_line(
        given, lambda line: compiled.sub(lambda found: new.replace("&", found[0]), line, count=0 if flag else 1)
    )


def _prints(args: list[str], _given: str | None) -> str | None:
    """``python -c 'print("rm -rf /")'``, and the same in other languages: one text, and no more."""
    found = _PRINTS.fullmatch(args[1]) if len(args) == 2 and args[0] in {"-c", "-e", "-r", "-E"} else None
    return None if found is None else found[3] + "\n" * (args[0] == "-c" or found[1] in {"puts", "console.log"})


def _awk(args: list[str], given: str | None) -> str | None:
    begins = re.fullmatch(r"\s*BEGIN\s*\{(.*)\}\s*", args[0]) if len(args) == 1 else None
    if begins is not None:
        return _prints(["-c", begins[1]], None)
    found = _FIELD.fullmatch(args[0]) if len(args) == 1 else None
    if found is None or given is None:
        return None
    place = int(found[1])
    return _each_line(given, lambda line: line if place == 0 else (line.split() + [""] * place)[place - 1])


def _seq(args: list[str], _given: str | None) -> str | None:
    numbers = [int(arg) for arg in args]
    first, step, last = (
        (1, 1, *numbers) if len(numbers) == 1 else (numbers[0], 1, numbers[1]) if len(numbers) == 2 else numbers
    )
    found = range(first, last + (1 if step > 0 else -1), step)
    return "".join(f"{each}\n" for each in found) if len(found) <= 1_000 else None


def _where(args: list[str], _given: str | None) -> str | None:
    """The folder is a guess; the name, by which a program is judged, is not."""
    names = [arg for arg in args if not arg.startswith("-")]
    return f"{names[0] if '/' in names[0] else '/usr/bin/' + names[0]}\n" if len(names) == 1 else None


_PROGRAMS: dict[str, Callable[[list[str], str | None], str | None]] = {
    "printf": _printf,
    "base64": _filter(r"|(-[diD]+|--decode|--dec?o?d?e?|-w ?\d+|--wrap=\d+|-di|--ignore-garbage|-i| )+", _base64),
    "xxd": _filter(r"(-[rp]+|-ps|-revert|-plain| )+", _xxd),
    "tr": _tr,
    "rev": _filter(r"", lambda given, _: _each_line(given, lambda line: line[::-1])),
    "tac": _filter(r"", lambda given, _: "".join(reversed(given.splitlines(keepends=True)))),
    "head": _filter(r"|-\d+|-[nc] ?\d+|--(lines|bytes)=\d+", lambda given, flags: _some_lines(given, flags.replace("bytes", "c"), end=False)),
    "tail": _filter(r"|-\d+|-[nc] ?\d+|--(lines|bytes)=\d+", lambda given, flags: _some_lines(given, flags.replace("bytes", "c"), end=True)),
    "cut": _cut,
    "sed": _sed,
    "awk": _awk,
    **dict.fromkeys(("python", "python3", "perl", "ruby", "node", "php"), _prints),
    "seq": _seq,
    "which": _where,
    "true": lambda _args, _given: "",
    "false": lambda _args, _given: "",
    "test": lambda _args, _given: "",
    "sleep": lambda _args, _given: "",
}  # fmt: skip
