"""What the shell's own commands do to the shell: variables, functions, folders, and texts that become commands."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.guard.arithmetic import changes
from hookline.guard.output import foresee_output
from hookline.guard.parameters import has_unknown, lookup, separators
from hookline.guard.reading import UNKNOWN, Word, cut, word
from hookline.guard.values import EMPTY, FUNCTION, LOOP, SHELL, Stream, concatenate, literal, unknown
from hookline.guard.wrappers import parse, wrapper_options

if TYPE_CHECKING:
    from hookline.guard.commands import Commands
    from hookline.guard.context import Execution

_FOLDERS = " folders"
_READ_VALUES = "adinNptu"
_AT_THE_END = re.compile("(?i)(SIG)?(EXIT|INT|TERM|HUP|QUIT|PIPE|[0-9]+)")


def _change_directory(shell: Commands, argv: list[Word], _call: Execution) -> None:
    operands = [each for each in argv[1:] if not re.fullmatch(r"-[LPe@]+|--", each.text)]
    _enter(shell, operands[0] if operands else word(shell.home_directory()))
    shell.status = None if operands and operands[0].text == "-" else True


def _enter(shell: Commands, target: Word) -> None:
    state, text = shell.state, literal(target)
    state.variables.pop("PWD", None)
    if text == "-" or (
        state.directory and UNKNOWN in state.directory.pieces and text and not text.startswith(("/", "~"))
    ):
        state.directory = unknown()
    elif text is None:
        relative = not target.prefix.startswith(("/", "~")) and state.directory is not None
        state.directory = concatenate(
            [state.directory or EMPTY, word("/"), target] if relative else [target], target.source
        )
    else:
        base = state.directory.text if state.directory else ""
        state.directory = word(posixpath.normpath(posixpath.join(base, text)) if text else base or ".", target.source)


def _print_directory(shell: Commands, argv: list[Word], _call: Execution) -> None:
    folder = None if len(argv) > 1 or "PWD" in shell.state.variables else lookup(shell, "PWD")
    shell.print(concatenate([folder, word("\n")]) if isinstance(folder, Word) else unknown((shell.invocations[-1],)))


def _push_directory(shell: Commands, argv: list[Word], _call: Execution) -> None:
    kept = shell.state.variables.get(_FOLDERS)
    stack = dict(kept) if isinstance(kept, dict) else {}
    stack[str(len(stack))] = shell.state.directory or word(".")
    shell.state.variables[_FOLDERS] = stack
    _enter(shell, argv[1] if len(argv) > 1 and not argv[1].text.startswith(("+", "-")) else word("-"))


def _pop_directory(shell: Commands, _argv: list[Word], _call: Execution) -> None:
    kept = shell.state.variables.get(_FOLDERS)
    stack = dict(kept) if isinstance(kept, dict) else {}
    shell.status = None
    before = stack.pop(str(len(stack) - 1), unknown())
    shell.state.variables[_FOLDERS] = stack
    shell.state.directory = None if before.text == "." else before


def _declare(shell: Commands, argv: list[Word], _call: Execution) -> None:
    flags = "".join(each.text[1:] for each in argv[1:] if each.text.startswith(("-", "+")))
    exports = literal(argv[0]) == "export" or "x" in flags
    shell.status = None if literal(argv[0]) == "local" else True
    if literal(argv[0]) == "local" and not shell.in_function:
        return
    for each in argv[1:]:
        if each.text.startswith(("-", "+")):
            continue
        name, equals, _ = each.prefix.partition("=")
        name = name.rstrip("+")
        if "f" in flags:
            name += "()"
        if flags == "n" and (target := literal(cut(each, len(name) + 1)) if equals else None):
            shell.state.aliases[f"reference {name}"] = target
        elif set("inul") & set(flags) and literal(argv[0]) not in {"export", "readonly"}:
            shell.state.exported |= {f"{name} "}
            shell.state.variables[name] = unknown()
        elif set("aA") & set(flags) and "=(" in each.prefix:  # a list in quotes
            shell.state.variables[name] = unknown(each.sources)
        elif (
            not equals and literal(argv[0]) in {"local", "declare", "typeset"} and "g" not in flags and "p" not in flags
        ):
            if shell.make_local(name) and literal(argv[0]) == "local":
                shell.state.variables[name] = None
        elif equals and not isinstance(shell.state.variables.get(name), dict):
            shell.set(name, cut(each, len(name) + 1) if each.prefix[len(name)] == "=" else unknown(each.sources))
        if exports:
            shell.state.exported = shell.state.exported - {name} if "n" in flags else shell.state.exported | {name}
        if literal(argv[0]) == "readonly" or "r" in flags:
            shell.state.exported |= {f"{name} "}
        if "A" in flags:
            shell.state.exported |= {f"{name} A"}


def _unset(shell: Commands, argv: list[Word], _call: Execution) -> None:
    for each in argv[1:]:
        name = literal(each)
        if name is None:
            continue
        if not any(flag.text == "-f" for flag in argv[1:]):
            name = name.partition("[")[0]
            kept = name != literal(each) or f"{name} " in shell.state.exported
            shell.state.variables[name] = unknown() if kept else None
        shell.state.functions.pop(name, None)


def _set(shell: Commands, argv: list[Word], _call: Execution) -> None:
    at = next(
        (n for n, each in enumerate(argv[1:], 1) if not each.text.startswith(("-", "+")) or each.text in {"-", "--"}),
        None,
    )
    if any(each.text in {"-o", "+o"} for each in argv[1:at]):
        return
    if at is not None:
        shell.state.positional = argv[at + (argv[at].text in {"-", "--"}) :]


def _shift(shell: Commands, argv: list[Word], _call: Execution) -> None:
    count = literal(argv[1]) if len(argv) > 1 else "1"
    shell.status = None
    given = shell.state.positional
    if given is not None:
        known = count is not None and count.isdigit() and not has_unknown(given[: int(count)])
        shell.state.positional = (
            (given[int(count or 0) :] if int(count or 0) <= len(given) else given) if known else None
        )


def _eval(shell: Commands, argv: list[Word], _call: Execution) -> None:
    words = argv[2:] if len(argv) > 1 and argv[1].text == "--" else argv[1:]
    text = concatenate([each for value in words for each in (word(" "), value)][1:])
    shell.code(Word(text.pieces, " ".join(each.source for each in words), text.sources), "eval")


def _source(shell: Commands, argv: list[Word], _call: Execution) -> None:
    shell.status = None
    if len(argv) < 2:
        return
    shell.matched_files(argv[1], "source")
    content = shell.file(argv[1])
    if content is None and argv[1].text in {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}:
        content = shell.stdin.word
    if content is not None:
        outer, arguments = shell.state.positional, argv[2:]
        returns, shell.state.returns = shell.state.returns, True
        shell.state.positional = arguments or outer
        text = Word(content.pieces, argv[1].source, content.sources)
        shell.scope(FUNCTION, lambda: shell.code(text, "source"))
        shell.state.positional = outer if arguments else shell.state.positional
        shell.state.returns = returns
    shell.status = None


def _trap(shell: Commands, argv: list[Word], _call: Execution) -> None:
    """What it runs is followed where the shell ends, with the variables as they are there; what runs again and again, at once."""
    operands = [each for each in argv[1:] if each.text not in {"--", "-p", "-l"}]
    if len(operands) > 1 and operands[0].text not in {"-", ""} and not operands[0].text.isdigit():
        shell.traps[operands[0]] = None
        if not all(_AT_THE_END.fullmatch(each.text) for each in operands[1:]):
            shell.doubt("a trap runs again and again", shell.invocations[-1].source, part=True)
            shell.run_traps()


def _alias(shell: Commands, argv: list[Word], _call: Execution) -> None:
    for each in argv[1:]:
        name, equals, text = each.text.partition("=")
        if equals:
            shell.state.aliases[name] = text if each.known else f"{name} {shell.hole(unknown(each.sources))}"


def _unalias(shell: Commands, argv: list[Word], _call: Execution) -> None:
    for each in argv[1:]:
        shell.state.aliases.pop(each.text, None)


def _hash(shell: Commands, argv: list[Word], _call: Execution) -> None:
    if len(argv) == 4 and argv[1].text == "-p":
        own = argv[3].text in {*BUILTINS, "echo", "kill", "pwd", "wait"}  # they come before programs, unless disabled
        shell.state.aliases[f"hash {argv[3].text}" if own else argv[3].text] = argv[2].text


def _enable(shell: Commands, argv: list[Word], _call: Execution) -> None:
    for each in argv[2:] if len(argv) > 1 and argv[1].text == "-n" else ():
        path = shell.state.aliases.get(f"hash {each.text}")
        shell.state.aliases.update({each.text: path} if path else {})


def _read(shell: Commands, argv: list[Word], _call: Execution) -> None:
    flags, names, at = "", list[str](), 1
    while at < len(argv):
        text = argv[at].text
        if text.startswith("-") and len(text) > 1 and not names:
            flags += text[1:]
            at += text[-1] in _READ_VALUES
        else:
            names.append(text)
        at += 1
    line = _descriptor(shell, argv).line()
    shell.status = None if line is None or line.pieces == (UNKNOWN,) else True
    if line is None:
        shell.status = False
        line = EMPTY
    if "r" not in flags and line.text.endswith("\\"):  # the line goes on, and may end before it does
        shell.status = None
    raw = "r" in flags or "\\" not in line.text
    known = raw and literal(line) is not None and not set(flags) & set("adiNn")
    if raw and UNKNOWN in line.pieces and line.prefix and len(names) == 1 and not set(flags) & set("adiNnu"):
        shell.set(names[0], line)
        return
    if "a" in flags:
        names = (
            [argv[next(n for n, each in enumerate(argv) if "a" in each.text[1:] and each.text[0] == "-") + 1].text]
            if len(argv) > 2
            else []
        )
        shell.state.variables |= dict.fromkeys(names, unknown(line.sources))
        return
    for name, value in (
        _fields(shell, line, names or ["REPLY"])
        if known
        else [(name, unknown(line.sources)) for name in names or ["REPLY"]]
    ):
        shell.set(name, value)


def _descriptor(shell: Commands, argv: list[Word]) -> Stream:
    """Standard input, or what ``-u`` names."""
    found = re.search(r"(?:^| )-\w*u ?(\d+)(?: |$)", " ".join(each.text for each in argv[1:]))
    return shell.stdin if found is None else Stream(shell.state.files.get(f"/dev/fd/{found[1]}"))


def _fields(shell: Commands, line: Word, names: list[str]) -> list[tuple[str, Word]]:
    signs = separators(shell)
    if signs is None:
        return [(name, unknown(line.sources)) for name in names]
    white, other = (_any_of([sign for sign in signs if sign.isspace() == blank]) for blank in (True, False))
    rest = line.text if names == ["REPLY"] else re.sub(rf"\A{white}+|{white}+\Z", "", line.text)
    found = list[tuple[str, Word]]()
    for name in names[:-1]:
        parts = re.split(rf"{white}+{other}?{white}*|{other}{white}*", rest, maxsplit=1)
        found.append((name, Word(tuple(filter(None, parts[:1])), "", line.sources)))
        rest = parts[1] if len(parts) > 1 else ""
    ends = re.search(rf"{other}\Z", rest) is not None  # bash drops it in some cases
    return [*found, (names[-1], unknown(line.sources) if ends else Word((rest,) if rest else (), "", line.sources))]


def _any_of(signs: list[str]) -> str:
    return f"[{re.escape(''.join(signs))}]" if signs else "(?:(?!))"


def _map_file(shell: Commands, argv: list[Word], _call: Execution) -> None:
    name = argv[-1].text if len(argv) > 1 and not argv[-1].text.startswith("-") else "MAPFILE"
    stream = _descriptor(shell, argv).word
    given = literal(stream) if stream else None
    plain = given is not None and re.fullmatch(r"-t(u ?\d+)?|-t -u ?\d+", " ".join(each.text for each in argv[1:-1]))
    special = {f"{name} ", f"{name} A"} & shell.state.exported  # then bash refuses, and what it held stays
    found = given.removesuffix("\n").split("\n") if plain and given and not special else None
    shell.state.variables[name] = (
        {str(n): word(text) for n, text in enumerate(found)} if found else unknown(stream.sources if stream else ())
    )


def _printf(shell: Commands, argv: list[Word], _call: Execution) -> None:
    into = literal(argv[2]) if len(argv) > 2 and argv[1].text == "-v" else None
    words = argv[3:] if into else argv[1:]
    args = [literal(each) for each in words]
    known = None if None in args else foresee_output("printf", [each or "" for each in args], None)
    sources = concatenate(words).sources
    # The printing program itself is a source, too, as it is for echo.
    sources = (*sources, shell.invocations[-1])
    value = _partly(words, sources) if known is None else Word((known,) if known else (), "", sources)
    if into:
        shell.set(into, value)
    else:
        shell.print(value)


def _partly(words: list[Word], sources: tuple[object, ...]) -> Word:
    r"""``printf '%s\n' "rm $x"``, by far the most common form, with what is known of it."""
    form = literal(words[0]) if words else None
    if form not in {"%s", "%s\\n", "%s ", "%s\n"} or len(words) < 2:
        return Word((UNKNOWN,), "", sources)  # type: ignore[arg-type]
    end = word({"%s": "", "%s ": " "}.get(form, "\n"))
    return Word(concatenate([each for value in words[1:] for each in (value, end)]).pieces, "", sources)  # type: ignore[arg-type]


def _let(shell: Commands, argv: list[Word], _call: Execution) -> None:
    for each in argv[1:]:
        for name in changes(each.text):
            shell.state.variables[name] = unknown()
    shell.status = None


def _end(shell: Commands, argv: list[Word], _call: Execution) -> None:
    if argv[0].text == "exit":
        shell.run_traps()
    _leave(shell, SHELL)


def _return(shell: Commands, _argv: list[Word], _call: Execution) -> None:
    _leave(shell, FUNCTION, certain=shell.state.returns)


def _break(shell: Commands, argv: list[Word], _call: Execution) -> None:
    count = literal(argv[1]) if len(argv) > 1 else "1"
    known = count is not None and count.isdecimal() and 0 < int(count) < FUNCTION
    around = min(int(count or 1), shell.state.loops) if known else 1
    level = LOOP * max(around, 1) - (argv[0].text == "continue")
    _leave(shell, level, certain=known and shell.state.loops > 0)


def _leave(shell: Commands, level: int, *, certain: bool = True) -> None:
    """Where there is nothing to leave, bash goes on, and other shells end."""
    shell.budget.spend(5 + len(shell.state.variables) // 20)
    shell.state.jump(level if certain or level > LOOP else SHELL)
    shell.status, shell.state.dead = None, shell.state.dead or certain


def _exec(shell: Commands, argv: list[Word], call: Execution) -> None:
    found = parse(argv[1:], wrapper_options("exec"))
    if found.rest:
        shell.invoke(found.rest, replace(_inner(call), redirects=call.redirects))
        _leave(shell, SHELL)
        return
    for closed in shell.closed:
        shell.state.descriptors.pop(closed or "1", None)
    for each in call.redirects:
        shell.state.descriptors[
            str(each.descriptor if each.descriptor is not None else 0 if each.operator == "<" else 1)
        ] = each


def _command(shell: Commands, argv: list[Word], call: Execution) -> None:
    found = parse(argv[1:], wrapper_options("command"))
    if found.given.any("v", "V"):
        text = literal(found.rest[0]) if len(found.rest) == 1 else None
        shell.print(unknown() if text is None else word(f"/usr/bin/{text}\n" if "/" not in text else text + "\n"))
        shell.status = None
    elif found.rest:
        shell.invoke(found.rest, _inner(call))


def _inner(call: Execution) -> Execution:
    """Behind ``command`` or ``exec``: the shell's own commands still are, functions and aliases are not."""
    return type(call)(call.source, (), call.environment, call.wrappers, direct=True)


def _status(value: bool | None) -> Callable[[Commands, list[Word], Execution], None]:
    def builtin(shell: Commands, _argv: list[Word], _call: Execution) -> None:
        shell.status = value

    return builtin


def _options(shell: Commands, argv: list[Word], _call: Execution) -> None:
    names = [each.text for each in argv[1:]]
    if literal(argv[0]) == "getopts" and len(names) > 1:
        shell.state.variables[names[1]] = shell.state.variables["OPTARG"] = unknown()
    shell.status = None


def _shell_options(shell: Commands, argv: list[Word], _call: Execution) -> None:
    if {"nullglob", "failglob"} & {each.text for each in argv[1:]}:
        shell.doubt("a pattern that matches nothing may be no word at all", shell.invocations[-1].source, part=True)


_UNSURE, _SUCCESS, _FAILURE = (_status(value=value) for value in (None, True, False))
BUILTINS: dict[str, Callable[[Commands, list[Word], Execution], None]] = {
    **dict.fromkeys(("cd", "chdir"), _change_directory), "pushd": _push_directory, "popd": _pop_directory, "pwd": _print_directory,
    **dict.fromkeys(("declare", "typeset", "export", "local", "readonly"), _declare), "unset": _unset, "set": _set,
    "shift": _shift, "eval": _eval, **dict.fromkeys(("source", "."), _source), "trap": _trap, "alias": _alias,
    "unalias": _unalias, "hash": _hash, "enable": _enable, "read": _read, "let": _let, "printf": _printf,
    **dict.fromkeys(("mapfile", "readarray"), _map_file), "getopts": _options,
    **dict.fromkeys(("exit", "logout"), _end), "return": _return, **dict.fromkeys(("break", "continue"), _break), "exec": _exec,
    **dict.fromkeys(("command", "builtin"), _command),
    **dict.fromkeys((":", "true"), _SUCCESS), "shopt": _shell_options, "false": _FAILURE, **dict.fromkeys(("test", "["), _UNSURE),
}  # fmt: skip
