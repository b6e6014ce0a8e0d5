"""The command line: one module per command, one table of them, one place where errors become exit codes."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.cli.stdio import take_what_is_missing
from hookline.core.errors import ConfigError, DataError, HooklineError, StateError, UsageError, shortage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

#: Command -> what it does, in the order of ``--help``. Only the module of the command that is used is imported.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "fire": "fire an event and print the decision",
        "explain": "show which hooks would run for an event, and why the others would not",
        "list": "show every hook: where it is written, trusted or not, how it has been doing",
        "check": "report every problem of every configuration file",
        "log": "show what was fired and what came of it",
        "status": "show what hookline knows of this machine and this project",
        "doctor": "find out whether your hooks really fire: every agent, and hookline itself",
        "replay": "run a recorded event again, or as another agent would have sent it",
        "trust": "approve the hooks of this project, by their content",
        "hooks": "look after hooks: browse, switch off and on, add, delete, try",
        "knowledge": "what sessions have left: search it, show it, export, distil, forget",
        "daemon": "the resident engine: start, stop, status, run",
        "editor": "ask for permission or show progress where the person is: Neovim, terminal, desktop",
        "hook": "answer an agent: its payload on stdin, its own kind of answer out",
        "deploy": "register hookline with your agents: one entry per event in each agent's own file",
        "undeploy": "take those entries out again, to the byte",
        "convert": "write hooks of one dialect in another",
        "run": "answer a conversation file (.lec): one turn, with its hooks and tools",
        "chat": "talk with an agent whose every step goes through your hooks",
        "shell": "open xonsh with your hooks in it, or run one command line in it",
        "agent": "run a small agent on a snapshot from stdin (memex's external runner)",
        "shell-init": "print what bash or zsh evaluates to run your hooks",
        "schema": "print the JSON Schema of hookline.toml",
        "completion": "print a completion script for bash, zsh or fish",
        "demo": "watch hooks of every dialect decide, inject and block",
    }
)

#: Never 2: agents read 2 as a block.
EXIT_CODES: Mapping[int, str] = MappingProxyType(
    {
        0: "allowed, or done",
        1: "ask, deny or abort; for check-like commands, something was found; for run, any error",
        3: "a bug in hookline",
        64: "wrong usage of the command line",
        65: "the event's data cannot be read",
        71: "the system has no more open files, threads or memory",
        74: "the state directory cannot be used",
        78: "bad configuration",
        130: "interrupted",
        143: "terminated",
    }
)

_EXITS: tuple[tuple[type[HooklineError], int], ...] = (
    (UsageError, 64), (DataError, 65), (StateError, 74), (ConfigError, 78), (HooklineError, 3),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Nothing a person did wrong, and no bug of ours, ends in a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        take_what_is_missing()
        _end_properly_when_terminated()
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except HooklineError as error:
        _say(f"hookline: {error}")
        return next(code for kind, code in _EXITS if isinstance(error, kind))
    except KeyboardInterrupt:
        return 130
    except _Terminated:
        return 143
    except BrokenPipeError:
        _hush()  # the reader went away (| head)
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EIO, errno.EDQUOT}:
            return _bug(error, words)
        _say(f"hookline: what there is to say cannot be written: {error.strerror}")
        _hush()
        return 74
    except UnicodeEncodeError as error:
        odd = next((word for word in words if _no_text(word)), None)
        if odd is None:
            return _bug(error, words)
        _say(f"hookline: {odd!r} is no UTF-8 text, and only a file may be called so")
        return 64
    except Exception as error:
        return _bug(error, words)


def _no_text(word: str) -> bool:
    """Whether bytes were typed that are no UTF-8: Python hands them on as signs that cannot be written."""
    return any("\udc80" <= sign <= "\udcff" for sign in word)


def _hush() -> None:
    """Nobody reads what we print; Python would complain about it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _bug(error: Exception, words: Sequence[str]) -> int:
    """Ours, unless the system is short of something. Either may come before a command that guards is there to refuse."""
    short = shortage(error)
    if short:
        _say(f"hookline: {short}")
    else:
        _say(f"hookline: this is a bug in hookline: {type(error).__name__}: {error}")
        _say(f"hookline: {_keep_traceback()}")
    refuses = words[:1] == ["hook"] and "--on-failure deny" in " ".join(words).replace("=", " ")
    return 2 if refuses else 71 if short else 3


#: Between being told to end and ending whatever is still going on.
_LAST_SECONDS = 8.0


class _Terminated(BaseException):
    """Raised where SIGTERM finds us, so that every hook that is running is ended on the way out."""


def _end_properly_when_terminated() -> None:
    import signal  # noqa: PLC0415  cheap, but --version need not name it
    import threading  # noqa: PLC0415

    def terminated(_signal: int, _frame: object) -> None:
        # A Python hook may catch even this, and then nothing but the end of the process ends it.
        last = threading.Timer(_LAST_SECONDS, os._exit, [143])
        last.daemon = True
        last.start()
        raise _Terminated

    if threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:  # then nobody would be told how a hook has ended
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (signal.SIGTERM, signal.SIGHUP):  # a terminal that is closed must not leave hooks behind
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, terminated)


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["help"] and len(words) > 1:
        words = [*words[1:], "--help"]
    if not words or words[0] in {"-h", "--help", "help"}:
        print(overview())
        return 0
    if words[0] in {"-V", "--version"}:
        from hookline import __version__  # noqa: PLC0415

        print(f"hookline {__version__}")
        return 0
    command, rest = words[0], words[1:]
    if command not in COMMANDS:
        raise UsageError(f"there is no command {command!r}{_nearest(command)} All commands: hookline --help")
    module = module_of(command)
    plain = getattr(module, "plain", None)
    args = plain(rest) if plain is not None else None
    if args is not None:
        return int(module.run(args))
    parser = parser_of(command, module)
    return int(module.run(parser.parse_args(rest)))


def module_of(command: str) -> ModuleType:
    name = {"list": "list_hooks"}.get(command, command.replace("-", "_"))
    return import_module(f"hookline.cli.commands.{name}")


def parser_of(command: str, module: ModuleType) -> Parser:
    from hookline.cli.parser import Parser  # noqa: PLC0415  --version and --help do without it

    parser = Parser(prog=f"hookline {command}", description=module.__doc__)
    module.configure(parser)
    return parser


def overview() -> str:
    """What ``hookline --help`` prints."""
    rows = "\n".join(f"  {name:<12}{about}" for name, about in COMMANDS.items())
    codes = "\n".join(f"  {code:<12}{meaning}" for code, meaning in EXIT_CODES.items())
    return (
        "usage: hookline COMMAND [OPTIONS]\n\n"
        "Runs the lifecycle hooks of AI agents and shells: one set of hooks, every agent, a fixed order.\n\n"
        f"commands:\n{rows}\n\nexit codes:\n{codes}\n\n"
        "hookline COMMAND --help says more about one command. To see it at work: hookline demo"
    )


def _nearest(command: str) -> str:
    from difflib import get_close_matches  # only a typo needs it

    near = get_close_matches(command, COMMANDS, n=1)
    return f"; did you mean {near[0]!r}?" if near else "."


def _say(text: str) -> None:
    try:
        print(text, file=sys.stderr)
    except OSError:
        return


def _keep_traceback() -> str:
    """A traceback is for us, not for the person: it goes into a file they can send."""
    import tempfile  # only a bug needs these
    import traceback

    try:
        with tempfile.NamedTemporaryFile("w", prefix="hookline-bug-", suffix=".txt", delete=False) as file:
            file.write(traceback.format_exc())
    except OSError as error:
        return f"the details could not be kept: {error}"
    return f"please report it with the file {file.name}"


if TYPE_CHECKING:
    from hookline.cli.parser import Parser
