"""Programs that start programs: which of their words are options, and which are the command that they start."""

from __future__ import annotations

from hookline.core._dataclass import dataclass, field
from hookline.guard.reading import Word
from hookline.guard.values import literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that take a value, and how many operands stand before the command."""

    letters: str = ""
    names: tuple[str, ...] = ()
    operands: int = 0
    #: ``NAME=value`` before the command sets a variable.
    assignments: bool = False
    #: The option with the folder to run in.
    directory: str = ""
    #: The option whose value is a text for a shell.
    code: tuple[str, ...] = ()
    #: Options may stand between and behind the operands.
    permuted: bool = False
    remote: bool = False
    #: Long options without ``=`` take a value unless they are named here.
    flags: tuple[str, ...] | None = None


@dataclass(slots=True)
class WrappedCommand:
    values: dict[str, Word | None] = field(default_factory=dict)
    operands: list[Word] = field(default_factory=list)
    rest: list[Word] = field(default_factory=list)
    assignments: list[tuple[str, Word]] = field(default_factory=list)
    #: A guess was needed: an abbreviation that may be another option.
    unsure: bool = False


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_DOCKER_FLAGS = _words(
    "detach rm interactive tty privileged init read-only no-healthcheck oom-kill-disable sig-proxy publish-all quiet help"
    " replace rmi tls-verify detach-keys= no-deps service-ports build remove-orphans use-aliases latest no-TTY debug tls"
)
PLAIN = Options()
#: Those that run the rest of their words as a program, with arguments.
WRAPPERS: dict[str, Options] = {
    "sudo": Options(
        letters="aCcDghpRrTtUu",
        names=_words(
            "user group host prompt chroot role type close-from command-timeout other-user chdir login-class auth-type"
        ),
        assignments=True,
        directory="D chdir",
    ),
    "doas": Options(letters="aCu"),
    "env": Options(letters="uCSP", names=_words("unset chdir split-string"), assignments=True, directory="C chdir"),
    "timeout": Options(letters="ks", names=_words("kill-after signal"), operands=1),
    "gtimeout": Options(letters="ks", names=_words("kill-after signal"), operands=1),
    "time": Options(letters="fo", names=_words("format output")),
    "nice": Options(letters="n", names=_words("adjustment")),
    "ionice": Options(letters="cnpPu", names=_words("class classdata pid pgid uid")),
    "stdbuf": Options(letters="ioe", names=_words("input output error")),
    "chrt": Options(letters="TPDp", names=_words("sched-runtime sched-period sched-deadline pid"), operands=1),
    "taskset": Options(letters="p", operands=1),
    "numactl": Options(letters="NmCip", names=_words("cpunodebind membind physcpubind interleave preferred")),
    "setarch": Options(operands=1),
    "strace": Options(letters="abeEIoOpPsSuUX", names=_words("attach env output trace user")),
    "ltrace": Options(letters="aeFlnopsuwx", names=_words("output")),
    "unshare": Options(letters="RwSG", names=_words("root wd setuid setgid map-user map-group")),
    "nsenter": Options(letters="tSG", names=_words("target setuid setgid")),
    "chroot": Options(names=_words("userspec groups"), operands=1),
    "capsh": Options(),
    "setpriv": Options(names=_words("reuid regid groups inh-caps ambient-caps bounding-set")),
    "systemd-run": Options(
        letters="HMpEu",
        names=_words("host machine unit property slice uid gid nice setenv working-directory on-active"),
    ),
    "systemd-inhibit": Options(names=_words("what who why mode")),
    "runuser": Options(letters="cgGsuw", names=_words("command group shell user"), code=("c", "command")),
    "pkexec": Options(names=_words("user")),
    "gosu": Options(operands=1),
    "su-exec": Options(operands=1),
    "sshpass": Options(letters="pfdP"),
    "xvfb-run": Options(letters="enfps", names=_words("server-num server-args error-file auth-file")),
    "faketime": Options(letters="f", operands=1),
    "caffeinate": Options(letters="tw"),
    "direnv": Options(operands=2),
    "entr": Options(),
    "watchexec": Options(letters="wefid", names=_words("watch exts filter ignore delay-run shell signal")),
    "proxychains": Options(letters="f"),
    "proxychains4": Options(letters="f"),
    "cgexec": Options(letters="g"),
    "flock": Options(
        letters="wEc", names=_words("wait timeout conflict-exit-code command"), operands=1, code=("c", "command")
    ),
    "exec": Options(letters="a"),
    "rlwrap": Options(letters="afHSCPs"),
} | dict.fromkeys(
    _words(
        "nohup setsid builtin command busybox toybox chronic unbuffer torsocks torify dbus-run-session linux32 linux64 i386"
        " x86_64 fakeroot noglob nocorrect catchsegv prlimit tini dumb-init firejail valgrind dotenv shx"
    ),
    PLAIN,
)

#: Those that give a text to a shell.
CODE: dict[str, Options] = {
    "su": Options(
        letters="cgGsTw",
        names=_words("command session-command group shell"),
        code=("c", "command", "session-command"),
        permuted=True,
    ),
    "sg": Options(letters="c", code=("c",), permuted=True),
    "script": Options(
        letters="cEIOBTmo",
        names=_words("command log-in log-out log-io log-timing echo"),
        code=("c", "command"),
        permuted=True,
    ),
    "nix-shell": Options(letters="pIA", names=_words("run command attr"), code=("run", "command"), permuted=True),
    "watch": Options(letters="nq", names=_words("interval equexit")),
    "ssh": Options(letters="BbcDEeFIiJLlmOoPpQRSWw", operands=1, remote=True),
    "mosh": Options(letters="p", names=_words("ssh port client server"), operands=1, remote=True),
}

XARGS = Options(
    letters="aEIdLnPs",
    names=_words("arg-file delimiter max-args max-procs max-chars process-slot-var"),
)
PARALLEL = Options(
    letters="jaNnILSP", names=_words("jobs arg-file delay timeout max-args results joblog sshlogin colsep workdir")
)
CONTAINER: dict[str, Options] = {
    "exec": Options(
        letters="euw", names=_words("env env-file user workdir index"), operands=1, remote=True, flags=_DOCKER_FLAGS
    ),
    "run": Options(letters="aceEhlmpuvw", operands=1, remote=True, flags=_DOCKER_FLAGS),
}
CONTAINER_GLOBAL = Options(letters="Hlcfp", flags=_DOCKER_FLAGS)
KUBECTL = Options(letters="cnfs", names=_words("container namespace context cluster user kubeconfig"), permuted=True)
GIT_GLOBAL = Options(
    letters="cC", names=_words("git-dir work-tree namespace exec-path super-prefix config-env attr-source")
)


def parse(argv: list[Word], options: Options) -> WrappedCommand:
    """``argv`` without the program's own name."""
    found, at = WrappedCommand(), 0
    while at < len(argv):
        text = argv[at].text if argv[at].known else ""
        if text == "--":
            at += 1
            break
        if text.startswith("--") and len(text) > 2:
            at = _long(argv, at, text[2:], options, found)
        elif text.startswith("-") and len(text) > 1:
            at = _cluster(argv, at, text, options, found)
        elif options.assignments and "=" in argv[at].prefix.partition("/")[0] and not text.startswith("="):
            name, _, _ = argv[at].prefix.partition("=")
            found.assignments.append((name, without(argv[at], len(name) + 1)))
            at += 1
        elif len(found.operands) < options.operands or options.permuted:
            found.operands.append(argv[at])
            at += 1
        elif text == "-" and options.assignments:
            at += 1
        else:
            break
    while len(found.operands) < options.operands and at < len(argv):
        found.operands.append(argv[at])
        at += 1
    found.rest = argv[at:]
    return found


def without(value: Word, letters: int) -> Word:
    """A word less the first letters, which are known."""
    pieces = value.pieces
    if letters and pieces and isinstance(first := pieces[0], str):
        pieces = (first[letters:], *pieces[1:]) if first[letters:] else pieces[1:]
    return Word(pieces, value.source, value.sources)


def _long(argv: list[Word], at: int, text: str, options: Options, found: WrappedCommand) -> int:
    name, equals, _ = text.partition("=")
    if equals:
        found.values[_full(name, options)] = without(argv[at], len(name) + 3)
        return at + 1
    takes = name not in options.flags if options.flags is not None else _full(name, options) in options.names
    found.unsure = found.unsure or (takes and options.flags is None and name not in options.names)
    if takes and at + 1 < len(argv):
        found.values[_full(name, options)] = argv[at + 1]
        return at + 2
    found.values[name] = None
    return at + 1


def _full(name: str, options: Options) -> str:
    """The option that an abbreviation stands for."""
    matching = [each for each in options.names if each.startswith(name)]
    return name if name in options.names or len(matching) != 1 else matching[0]


def _cluster(argv: list[Word], at: int, text: str, options: Options, found: WrappedCommand) -> int:
    for place, letter in enumerate(text[1:], 2):
        if letter not in options.letters:
            found.values[letter] = None
            continue
        if place < len(text) or len(argv[at].pieces) > 1:
            found.values[letter] = without(argv[at], place)
            return at + 1
        if at + 1 < len(argv):
            found.values[letter] = argv[at + 1]
        return at + 2
    return at + 1


def option(found: WrappedCommand, *names: str) -> Word | None:
    return next((value for name in names if (value := found.values.get(name)) is not None), None)


def option_text(found: WrappedCommand, *names: str) -> str | None:
    value = option(found, *names)
    return None if value is None else literal(value)
