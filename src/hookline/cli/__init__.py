"""The command line: one module per command, one table of them, one place where errors become exit codes."""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType, SimpleNamespace

from hookline import __version__
from hookline.cli.own_imports import shorten_imports
from hookline.cli.stdio import prepare_process
from hookline.core.errors import ConfigError, DataError, HooklineError, StateError, UsageError, shortage
from hookline.core.typed import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from hookline.cli.parser import Parser
else:
    import _signal as signal  # the module around it makes an enum of every number first


#: What a person wants to do -> the commands for it, each with what it does, in the order of ``--help``.
GROUPS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "start": {
            "init": "guard your agents: choose, write, register and prove it",
            "demo": "watch hooks of every dialect decide, inject and block",
            "deploy": "register hookline with your agents",
            "undeploy": "remove hookline from your agents and restore their files",
            "doctor": "find out whether your hooks really fire",
        },
        "every day": {
            "hooks": "browse, add, delete and try hooks; switch them on and off",
            "trust": "approve this project's hooks, by their exact content",
            "check": "report every problem in every configuration file",
            "guard": "show what a command would do, and the guard's verdict",
            "status": "show what hookline sees on this machine and in this project",
        },
        "packs and teams": {
            "add": "install a published hook set, pinned, in every agent",
            "remove": "remove a pack",
            "update": "show what a newer version of a pack would do, and take it",
            "sync": "fetch and approve exactly the packs that hookline.toml names",
            "packs": "show packs: from where, approved, how fast, last failure",
            "pack": "make, check and test a pack of your own",
            "policy": "guard every agent on a machine by a signed policy",
            "fleet": "one policy on many machines, their records, and answers",
        },
        "look": {
            "list": "show every hook: its file, trust, speed and failures",
            "explain": "show which hooks would run for an event, and why",
            "fire": "fire an event and print the decision",
            "log": "show past events and what hooks decided",
            "report": "write what hooks decided as one HTML file",
            "web": "see every hook decide in a browser, and answer from there",
            "replay": "run a recorded event again, as any agent would have sent it",
        },
        "agents and shells": {
            "hook": "answer an agent: its payload on stdin, its answer on stdout",
            "chat": "talk with an agent whose every step goes through your hooks",
            "run": "answer a conversation file (.lec): one turn, with its hooks",
            "agent": "run a small agent on a snapshot from stdin",
            "editor": "ask or show progress in Neovim, the terminal or the desktop",
            "shell": "open xonsh with your hooks, or run one command line in it",
            "shell-init": "print the code that makes bash or zsh run your hooks",
        },
        "more": {
            "memory": "what sessions remember: add, change, search, review, serve",
            "knowledge": "search, show, export, distil and forget what sessions left",
            "purge": "delete what hookline has kept: records, transcripts, logs",
            "daemon": "start, stop or inspect the resident engine",
            "convert": "translate a hooks file from one dialect to another",
            "schema": "print the JSON Schema of hookline.toml",
            "completion": "print a completion script for bash, zsh or fish",
        },
    }
)

#: Commands that share a line of ``--help`` -> what they do together: it must fit one screen.
_TOGETHER: Mapping[tuple[str, ...], str] = MappingProxyType(
    {
        ("deploy", "undeploy"): "register hookline with your agents, and remove it again",
        ("add", "remove"): "install a published hook set in every agent; remove it",
        ("update", "sync"): "take newer versions, or exactly what hookline.toml names",
        ("packs", "pack"): "show packs; make, check and test one of your own",
        ("policy", "fleet"): "a signed policy for a machine; for many, with answers",
        ("memory", "knowledge"): "what sessions remember, and the notes they left",
        ("shell", "shell-init"): "use your hooks in xonsh; in bash and zsh",
        ("schema", "completion"): "print the schema of hookline.toml; complete in a shell",
    }
)

#: Command -> what it does. Only the module of the command that is used is imported.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {name: about for group in GROUPS.values() for name, about in group.items()}
)

#: Those that a person types to look or to decide: at a terminal they first ask about changed guards.
_ASKING = frozenset({"check", "doctor", "explain", "hooks", "list", "log", "status", "trust"})

#: Those that are called often: a plain command line does without argparse, and when all is written they end at once.
BRIEF = frozenset({"check", "explain", "fire", "hook", "list", "log"})

#: Never 2: agents read 2 as a block.
EXIT_CODES: Mapping[int, str] = MappingProxyType(
    {
        0: "allowed, or done",
        1: "ask, deny or abort; a check found something; an error of run",
        3: "a bug in hookline",
        64: "wrong command line",
        65: "the event's data cannot be read",
        71: "the system is out of open files, threads or memory, or is not supported",
        74: "the state directory cannot be used",
        78: "invalid configuration, or an optional package that is missing",
        130: "interrupted",
        143: "terminated",
    }
)

_EXITS: tuple[tuple[type[HooklineError], int], ...] = (
    (UsageError, 64), (DataError, 65), (StateError, 74), (ConfigError, 78), (HooklineError, 3),
)  # fmt: skip


#: New objects between two collections: what a command loads stays, and to look through it took a tenth of a cold call.
_MANY = 50_000


def run() -> NoReturn:
    """What the installed programs call."""
    shorten_imports()
    code = main()
    if sys.argv[1:2] and sys.argv[1] in BRIEF:
        # The interpreter's own tidying would take five milliseconds more.
        with suppress(OSError, ValueError):  # a hook may have closed them
            sys.stdout.flush()
            sys.stderr.flush()
        _EXIT(code)
    raise SystemExit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Neither a user's mistake nor a bug of ours ends in a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:  # the process is ours, and short
        gc.set_threshold(_MANY)
    if os.name == "nt":
        _print_error("hookline: Windows is not supported; install hookline in WSL, beside the agent that it guards")
        return 71
    try:
        prepare_process()
        _handle_signals()
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except HooklineError as error:
        _print_error(f"hookline: {error}")
        return next(code for kind, code in _EXITS if isinstance(error, kind))
    except KeyboardInterrupt:
        if sys.stderr and sys.stderr.isatty():
            _print_error("")  # the terminal shows ^C at the end of a question
        return 130
    except _Terminated:
        return 143
    except BrokenPipeError:
        _discard_stdout()  # the reader went away (| head)
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except Exception as error:
        return _unforeseen(error, words)


def _unforeseen(error: Exception, words: list[str]) -> int:
    """The exit code of a full disk and of an odd argument; everything else is a bug."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EIO, errno.EDQUOT}:
        _print_error(f"hookline: cannot write to standard output: {error.strerror}")
        _discard_stdout()
        return 74
    # Python passes bytes that are not UTF-8 on as surrogates, which cannot be encoded.
    odd = next((word for word in words if any("\udc80" <= char <= "\udcff" for char in word)), None)
    if not isinstance(error, UnicodeEncodeError) or odd is None:
        return _bug(error, words)
    _print_error(f"hookline: {odd!r} is not UTF-8 text; only a file name may contain other bytes")
    return 64


def _discard_stdout() -> None:
    """Nobody reads it any more; without this, Python complains once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _bug(error: Exception, words: Sequence[str]) -> int:
    """A bug of ours, unless the system ran out of something. A guard's registration is refused in both cases."""
    short = shortage(error)
    if short:
        _print_error(f"hookline: {short}")
    else:
        _print_error(f"hookline: this is a bug in hookline: {type(error).__name__}: {error}")
        _print_error(f"hookline: {_keep_traceback()}")
    fail_closed = words[:1] == ["hook"] and "--on-failure deny" in " ".join(words).replace("=", " ")
    return 2 if fail_closed else 71 if short else 3


#: Seconds between SIGTERM and the end of the process, whatever is still running.
_LAST_SECONDS = 8.0
#: The real one: while Python hooks run in a cold call, ``os._exit`` raises.
_EXIT = os._exit


class _Terminated(BaseException):
    """Raised where SIGTERM interrupts us, so that running hooks are stopped on the way out."""


def _handle_signals() -> None:
    def terminated(_signal: int, _frame: object) -> None:
        # A Python hook may catch even this exception; then only the end of the process stops it.
        from threading import Timer  # noqa: PLC0415  few calls are ended from outside

        last = Timer(_LAST_SECONDS, _EXIT, [143])
        last.daemon = True
        last.start()
        raise _Terminated

    with suppress(ValueError):  # only the main thread may
        if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:  # exit codes of hooks would be lost
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (signal.SIGTERM, signal.SIGHUP):  # a closed terminal must not leave hooks running
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, terminated)


def _dispatch(words: list[str]) -> int:
    if words[:2] == ["help", "exit-codes"]:
        print(f"exit codes:\n{_rows(EXIT_CODES)}")
        return 0
    if words[:1] == ["help"] and len(words) > 1 and words[1] not in {"-h", "--help"}:
        return _help(words[1:])
    if not words and "_ARGCOMPLETE" in os.environ:  # a completion script asks what may follow
        from hookline.cli.complete import complete

        complete()
    if not words or words[0] in {"-h", "--help", "help"}:
        print(overview())
        return 0
    if words[0] in {"-V", "--version"}:
        print(f"hookline {__version__}")
        return 0
    command, rest = words[0], words[1:]
    if command not in COMMANDS:
        from hookline.cli.output import did_you_mean  # noqa: PLC0415  only a typo needs it

        kind, known = (
            ("option", ("--help", "--version")) if command.startswith("-") else ("command", ("help", *COMMANDS))
        )
        hint = did_you_mean(command, known) or "."
        raise UsageError(f"there is no {kind} {command!r}{hint} All commands: hookline --help")
    module = command_module(command)
    plain = _parse_fast(command, module, rest) if command in BRIEF else None
    args = command_parser(command, module).parse_args(rest) if plain is None else plain
    if command in _ASKING and sys.stdin and sys.stdin.isatty() and sys.stderr.isatty():
        from hookline.cli.confirm import ask_about_changes

        ask_about_changes()
    return int(module.run(args))


def _parse_fast(command: str, module: ModuleType, words: Sequence[str]) -> SimpleNamespace | None:
    if command == "hook":
        from hookline.gateway.args import HOOK_SYNTAX, parse_plain  # noqa: PLC0415  --help does without both

        return parse_plain(words, HOOK_SYNTAX)
    from hookline.cli.options import parse_declared

    return parse_declared(module.configure, words)


def _help(words: list[str]) -> int:
    """Of a command its options, of anything else the page of the manual."""
    from hookline.cli.manual import has_page, show_page

    if words[0] not in COMMANDS:
        return show_page(" ".join(words))
    command_parser(words[0], command_module(words[0])).print_help()
    if page := has_page(words[0]):
        print(f"\nThe manual: hookline help {page}")
    return 0


def command_module(command: str) -> ModuleType:
    name = {"list": "list_hooks"}.get(command, command.replace("-", "_"))
    return import_module(f"hookline.cli.commands.{name}")


def command_parser(command: str, module: ModuleType) -> Parser:
    from hookline.cli.parser import Parser  # argparse: --help and plain calls do without it

    parser = Parser(prog=f"hookline {command}", description=module.__doc__)
    module.configure(parser)
    return parser


def overview() -> str:
    """What ``hookline --help`` prints: one screen."""
    groups = "\n".join(f"{group}:\n{_rows(_shared_lines(commands), 19)}" for group, commands in GROUPS.items())
    return (
        "usage: hookline COMMAND [OPTIONS]\n\n"
        "Runs the lifecycle hooks of AI agents and shells: one set of hooks for all.\n\n"
        f"{groups}\n\n"
        "One command:  hookline COMMAND --help\n"
        "The manual:   hookline help TOPIC, hookline help topics\n"
        "Exit codes:   hookline help exit-codes"
    )


def _shared_lines(commands: Mapping[str, str]) -> dict[str, str]:
    first = {names[0]: names for names in _TOGETHER}
    rest = {name for names in _TOGETHER for name in names[1:]}
    return {
        ", ".join(first.get(name, (name,))): _TOGETHER[first[name]] if name in first else about
        for name, about in commands.items()
        if name not in rest
    }


def _rows(table: Mapping[Any, str], width: int = 12) -> str:
    return "\n".join(f"  {name:<{width}}{about}" for name, about in table.items())


def _print_error(text: str) -> None:
    try:
        print(text, file=sys.stderr)
    except OSError:
        return


def _keep_traceback() -> str:
    """A traceback is of no use to the person: it goes into a file they can send us."""
    import tempfile  # only a bug needs these
    import traceback

    try:
        with tempfile.NamedTemporaryFile("w", prefix="hookline-bug-", suffix=".txt", delete=False) as file:
            file.write(traceback.format_exc())
    except OSError as error:
        return f"the traceback could not be saved: {error}"
    return f"please report it with the file {file.name}"
