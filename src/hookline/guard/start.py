"""Programs that start others: shells, ``sudo``, ``xargs``, ``ssh`` and their kin hand on what stands in their words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.guard.arguments import hand_on, inner, join_words, run_fd, run_find, run_parallel, run_xargs
from hookline.guard.git_commands import GIT_COMMANDS
from hookline.guard.parameters import has_unknown
from hookline.guard.reading import UNKNOWN, Word, cut, word
from hookline.guard.values import Stream, Variable, unknown
from hookline.guard.wrappers import Options, WrappedCommand, parse, wrapper, wrapper_options

if TYPE_CHECKING:
    from hookline.guard.commands import Commands
    from hookline.guard.context import Execution

#: Shells with a syntax of their own, whose plain commands look like bash's.
_FOREIGN_SHELLS = frozenset({"fish", "csh", "tcsh", "nu", "xonsh", "elvish"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "rbash", "yash"}) | _FOREIGN_SHELLS
#: Interpreters of other languages: what they are given on standard input is read as what stands in a file.
_LANGUAGES = re.compile(r"(python|perl|ruby|php|lua)[\d.]*|node|bun|deno|tsx")
_SHEBANG = re.compile(r"#!\s*(?:\S*/env\s+)?\S*?([^/\s]*(?:python|perl|ruby|php|node)[\d.]*)\b")
_SPLITS = re.compile(r"-[iv0]*S|--s[a-z-]*=?")
_SHELL_FLAGS = re.compile(r"[-+][A-Za-z]+")
#: What a shell sets by itself, whatever environment it is given.
_SET_BY_BASH = ("PATH", "PWD", "OLDPWD", "SHLVL", "_", "IFS", "UID", "EUID", "PPID", "HOSTNAME", "HOSTTYPE", "OSTYPE", "BASH", "BASH_VERSION", "TERM", "SHELL", "PS4", "OPTIND")  # fmt: skip


def start(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    """False if the program starts no other, as far as its words say."""
    if name in _SHELLS:
        return _shell(shell, name, argv, call)
    if special := _SPECIAL.get(name):
        return special(shell, name, argv, call)
    if (options := wrapper(name)) is not None:
        if options.after:  # ``poetry run program``: a sub-command in front of the command
            argv = parse(argv[1:], replace(options, operands=0)).rest
            if not argv or argv[0].text not in options.after:
                return False
        return (_code if options.shell else _wrapper)(shell, name, argv, call, options)
    if _LANGUAGES.fullmatch(name):
        script = next((each for each in argv[1:] if not each.text.startswith("-")), None)
        return script is not None and _as_input(shell, argv[0], shell.file(script), call)
    content = shell.file(argv[0]) if "/" in argv[0].text else None
    if content is not None and content.pieces:
        if found := _SHEBANG.match(content.prefix):
            return _as_input(shell, word(found[1]), content, call)
        shell.child_code(Word(content.pieces, argv[0].source, content.sources), argv[0].text, call, arguments=argv[1:])
        return True
    return False


def _as_input(shell: Commands, program: Word, content: Word | None, call: Execution) -> bool:
    """``python3 x.py``, where this very command wrote x.py: as if its text stood on standard input."""
    if content is not None and content.pieces:
        outer, shell.stdin = shell.stdin, Stream(content)
        shell.emit([program], call)
        shell.stdin = outer
        shell.print(unknown((shell.invocations[-1],)))
    return content is not None


def _divided(shell: Commands, argv: list[Word]) -> list[Word]:
    """``env -S 'rm -rf' /`` as the words that it makes of itself: those of the text, then those behind it."""
    for at, each in enumerate(argv):
        if found := _SPLITS.match(each.prefix):
            inside = cut(each, len(found[0]))
            behind = at + 1 if inside.pieces else at + 2
            value = inside if inside.pieces or behind > len(argv) else argv[at + 1]
            return [*argv[:at], *_words(shell, value), *argv[behind:]]
        if at and not each.text.startswith("-") and argv[at - 1].text not in {"-u", "-C", "-P"}:
            break
    return argv


def _wrapper(shell: Commands, name: str, argv: list[Word], call: Execution, options: Options) -> bool:
    found = parse((_divided(shell, argv) if name == "env" else argv)[1:], options)
    code = found.given.last(*options.code)
    rest = found.rest
    handed = inner(call, name)
    handed.environment = found.assignments
    kept = shell.state, shell.environment, shell.complete
    if name == "env" and (found.given.any("i", "ignore-environment") or any(each.text == "-" for each in argv)):
        shell.state, shell.environment, shell.complete = shell.state.copy(), {}, True
        shell.state.exported = frozenset(_SET_BY_BASH)
        shell.state.variables = dict.fromkeys(_SET_BY_BASH, unknown())
    elif name == "env" and (unset := found.given.values("u", "unset")):
        shell.state = shell.state.copy()
        shell.state.variables |= dict.fromkeys((each.text for each in unset), None)
    outer = shell.state.directory
    folder = found.given.last(*options.directory)
    shell.state.directory = folder or outer
    if found.given.abbreviated:
        shell.invoke([*found.given.values(*found.given.given)[-1:], *rest], inner(call, name))
    if code is not None:
        shell.child_code(code, name, call)
        done = True
    elif len(rest) == 1 and any(sign.isspace() for sign in rest[0].prefix):  # yarn exec 'rm -rf ~'
        shell.child_code(rest[0], name, call)
        done = True
    elif rest:
        shell.invoke(rest, handed)
        if not rest[0].known and len(rest) > 1:
            shell.invoke(rest[1:], inner(call, name))
        done = True
    else:
        done = _interactive(shell, name, found, call)
    shell.state, shell.environment, shell.complete = kept
    shell.state.directory = outer
    return done


def _interactive(shell: Commands, name: str, found: WrappedCommand, call: Execution) -> bool:
    """``sudo -i`` and ``sudo -s`` without a command read it from standard input."""
    if name in {"sudo", "doas", "chroot", "unshare"} and (
        name in {"chroot", "unshare"} or found.given.any("i", "s", "shell", "login")
    ):
        return _from_input(shell, name, call)
    return False


def _words(shell: Commands, text: Word) -> list[Word]:
    """A text that a program divides into words by itself, as ``env -S`` does."""
    from hookline.guard.expand import fields
    from hookline.guard.parse import ScriptParser
    from hookline.guard.syntax import Raw, Simple

    letters = "".join(piece if isinstance(piece, str) else shell.hole(unknown(text.sources)) for piece in text.pieces)
    found = [command for command, _ in ScriptParser("x " + letters, shell.budget, shell.doubts).statements()]
    first = found[0] if found else None
    raws = [raw for raw in first.words[1:] if isinstance(raw, Raw)] if isinstance(first, Simple) else []
    return [each for raw in raws for each in fields(shell, raw)]


# ── shells ───────────────────────────────────────────────────────────────────────────────────────────


def _shell(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    at, code, checks = 1, False, False
    if name == "bash" and "BASH_ENV" in shell.state.exported:
        _start_file(shell, shell.state.variables.get("BASH_ENV"), call)
    while at < len(argv):
        text = argv[at].text
        if text in {"--", "-"}:
            at += 1
            break
        if text.startswith("--"):
            if text in {"--command", "--commands"} and name in _FOREIGN_SHELLS:
                code = True
            if text in {"--rcfile", "--init-file"} and at + 1 < len(argv):
                _start_file(shell, argv[at + 1], call)
            at += 1 + (text in {"--rcfile", "--init-file", "--init-command"})
            continue
        if not _SHELL_FLAGS.fullmatch(text):
            break
        code = code or ("c" in text and text[0] == "-")
        checks = checks or ("n" in text and text[0] == "-" and name != "fish")
        at += 1 + (text[-1] in "oO")
    rest = argv[at:]
    if name in _FOREIGN_SHELLS and code:
        shell.doubt("the text is for another shell, whose syntax is not bash's", call.source, part=True)
    if checks:
        return True
    if code:
        if rest:
            shell.child_code(rest[0], name, call, arguments=None if has_unknown(rest[1:2]) else rest[2:])
        return True
    reads_input = not rest or any(re.fullmatch(r"-[A-Za-z]*s[A-Za-z]*", each.text) for each in argv[1:at])
    if reads_input or rest[0].text in {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}:
        return _from_input(shell, name, call, rest if reads_input else rest[1:])
    _run_file(shell, name, rest, call)
    return True


def _run_file(shell: Commands, name: str, words: list[Word], call: Execution) -> None:
    shell.matched_files(words[0], name)
    content = shell.file(words[0])
    if content is None:
        shell.status = None
        shell.print(unknown((shell.invocations[-1],)))
        if not words[0].known:
            shell.doubt(f"{name} runs a file that is only known when it runs", words[0].source)
    else:
        shell.child_code(Word(content.pieces, words[0].source, content.sources), name, call, arguments=words[1:])


def _start_file(shell: Commands, path: Variable, call: Execution) -> None:
    """A shell reads it before anything else."""
    content = shell.file(path) if isinstance(path, Word) else None
    if content is not None and isinstance(path, Word):
        shell.child_code(Word(content.pieces, path.source, content.sources), "bash", call)


def _from_input(shell: Commands, name: str, call: Execution, arguments: Sequence[Word] = ()) -> bool:
    given = shell.stdin.word
    if given is None or (shell.upstream and given.pieces == (UNKNOWN,)):
        shell.print(unknown((shell.invocations[-1],)))
        if shell.upstream:
            shell.doubt(f"{name} runs a text that is only known when it runs", shell.upstream[-1].source, piped=True)
    elif given.pieces:
        source = given.source or (shell.upstream[-1].source if shell.upstream else given.text)
        outer, shell.stdin = shell.stdin, Stream(None)
        shell.child_code(Word(given.pieces, source, given.sources), name, call, arguments=arguments)
        shell.stdin = outer
    shell.status = None
    return True


def _code(shell: Commands, name: str, argv: list[Word], call: Execution, options: Options) -> bool:
    """Those that hand a text to a shell: ``su -c``, ``watch``, ``ssh``."""
    found = parse(argv[1:], options)
    outer, shell.remote = shell.remote, shell.remote or options.remote
    try:
        code = found.given.last(*options.code)
        if options.code:
            if code is not None:
                shell.child_code(code, name, call)
            elif name == "su":
                return _from_input(shell, name, call)
            elif options.operands:  # BSD's script FILE COMMAND…
                return hand_on(shell, name, parse(argv[1:], replace(options, permuted=False)).rest, call)
            return code is not None
        rest = found.rest
        if name == "ssh" and rest and rest[0].text.startswith("-"):
            rest = parse(rest, Options(letters=options.letters)).rest
        if not rest:
            return options.remote and _from_input(shell, name, call)
        if name == "watch" and found.given.any("x", "exec"):
            return hand_on(shell, name, rest, call)
        shell.child_code(join_words(rest), name, call)
        return True
    finally:
        shell.remote = outer


def _container(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    rest = parse(argv[1:], wrapper_options("docker")).rest
    while rest and rest[0].text in {"compose", "container"}:
        rest = parse(rest[1:], wrapper_options("docker")).rest
    options = wrapper(f"docker: {rest[0].text}") if rest else None
    if options is None:
        return False
    found = parse(rest[1:], options)
    entry = found.given.last("entrypoint")
    outer, shell.remote = shell.remote, True
    done = hand_on(shell, name, ([entry] if entry and entry.pieces else []) + found.rest, call)
    shell.remote = outer
    return done


def _kubectl(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    found = parse(argv[1:], wrapper_options("kubectl"))
    words = [each.text for each in found.operands]
    if not {"exec", "debug", "run"} & set(words):
        return False
    rest = found.rest or found.operands[words.index("exec") + 2 :] if "exec" in words else found.rest
    outer, shell.remote = shell.remote, True
    done = hand_on(shell, name, rest, call)
    shell.remote = outer
    return done


def _git(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    found = parse(argv[1:], wrapper_options("git"))
    aliases = {key.removeprefix("git "): text for key, text in shell.state.aliases.items() if key.startswith("git ")}
    for each, following in zip(argv[1:], [*argv[2:], word("")], strict=False):
        setting = following.text if each.text == "-c" else each.text[2:] if each.text.startswith("-c") else ""
        if setting.lower().startswith("alias.") and "=" in setting:
            key, _, value = setting.partition("=")
            aliases[key[6:]] = value
    if not found.rest:
        return False
    command = found.rest[0].text
    if command == "config":
        _git_config(shell, found.rest)
        return False
    if (text := aliases.get(command)) is None or command in GIT_COMMANDS:
        return False
    if text.startswith("!"):
        shell.child_code(join_words([word(text[1:]), *found.rest[1:]]), name, call)
        return True
    if len(aliases) > 1 or text.split()[:1] != [command]:
        before = argv[: len(argv) - len(found.rest)]
        kept = shell.state.aliases
        shell.state.aliases = {key: value for key, value in kept.items() if key != f"git {command}"}
        shell.emit([*before, *_words(shell, word(text)), *found.rest[1:]], inner(call, name))
        shell.state.aliases = kept
    return False


def _git_config(shell: Commands, words: list[Word]) -> None:
    operands = [each.text for each in words[1:] if not each.text.startswith("-")]
    if len(operands) >= 2 and operands[0].lower().startswith("alias."):
        shell.state.aliases[f"git {operands[0][6:]}"] = operands[1]


def _scheduled(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    """``at`` and ``batch`` run what stands on their input, later."""
    if any(each.text.startswith(("-l", "-r", "-d", "-c", "-q")) for each in argv[1:]):
        return False
    return _from_input(shell, name, call)


#: Options of tmux's commands that take a value, where they are not those of most.
_TMUX_VALUES = {"run": "censtxyFlpd", "sen": "Nt"}
_KEY = re.compile(r"Enter|KPEnter|Space|Tab|Escape|[CM]-\S")


def _terminal(shell: Commands, name: str, argv: list[Word], call: Execution) -> bool:
    """``tmux new-session 'command'``, ``screen -dm command``."""
    if name == "screen":
        return hand_on(shell, name, parse(argv[1:], Options(letters="SchtTpeXR")).rest, call)
    rest = parse(argv[1:], Options(letters="cfLST")).rest
    command = rest[0].text if rest else ""
    if not re.fullmatch(
        r"new(-session|w|-window)?|splitw|split-window|run(-shell)?|respawn-pane|send(-keys)?", command
    ):
        return False
    words = parse(rest[1:], Options(letters=_TMUX_VALUES.get(command[:3], "censtxyFlp"))).rest
    words = [each for each in words if not (command.startswith("send") and _KEY.fullmatch(each.text))]
    if words:
        shell.child_code(join_words(words), name, call)
    return bool(words)


_SPECIAL: dict[str, Callable[[Commands, str, list[Word], Execution], bool]] = {
    **dict.fromkeys(("xargs", "gxargs"), run_xargs), "parallel": run_parallel,
    **dict.fromkeys(("find", "gfind"), run_find), **dict.fromkeys(("fd", "fdfind"), run_fd),
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose", "podman-compose"), _container),
    **dict.fromkeys(("kubectl", "oc", "k", "k3s"), _kubectl), **dict.fromkeys(("git", "hub"), _git),
    **dict.fromkeys(("at", "batch"), _scheduled), **dict.fromkeys(("tmux", "screen"), _terminal),
}  # fmt: skip
