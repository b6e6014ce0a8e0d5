"""Where a command is followed: what the shell remembers, what was found so far, and texts that become commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from hookline.core._dataclass import dataclass
from hookline.guard.budget import Budget, LimitReached
from hookline.guard.parse import ScriptParser
from hookline.guard.pattern import lazy_pattern
from hookline.guard.reading import UNKNOWN, Doubt, Glob, Invocation, Redirect, Word, word
from hookline.guard.sensitive import RISKY_VARIABLES
from hookline.guard.syntax import Command, ShellScript, Substitution
from hookline.guard.values import EMPTY, SHELL, ShellState, Stream, Variable, concatenate, merge, merge_jumps, unknown

_MOST_INVOCATIONS = 800
_FIRST_HOLE = 0x10FE00
_DESCRIPTOR = re.compile(r"(?:/dev/fd/|/proc/self/fd/|FD:)(0x[0-9a-f]{1,4}|\d{1,4})", re.IGNORECASE)


@dataclass(slots=True)
class Execution:
    """One program about to be started, with everything around its words."""

    source: str = ""
    redirects: tuple[Redirect, ...] = ()
    environment: tuple[tuple[str, Word], ...] = ()
    wrappers: tuple[str, ...] = ()
    more: bool = False
    #: Functions and aliases are not looked at behind ``command`` or a wrapper.
    direct: bool = False
    #: Another program starts it, for whom the shell's own commands do not exist.
    external: bool = False


#: Programs that print commands for the shell that sets them up, as their manuals say.
_SETS_UP = lazy_pattern(
    r"ssh-agent( -[sc])?|(\S*/)?brew shellenv.*|direnv (hook|export) \w+|dircolors.*|resize|lesspipe|fnm env.*|opam env.*"
    r"|(pyenv|rbenv|nodenv|goenv|jenv|pyenv virtualenv|starship|zoxide|atuin|mcfly|oh-my-posh|hookline) (\w+-)?init.*"
    r"|(mise|rtx) activate.*|(\S*/)?(conda|mamba) shell\.\w+ hook|thefuck --alias.*|keychain( .*)?|luarocks path.*"
    r"|(minikube|docker-machine) (.* )?(docker-)?env.*|register-python-argcomplete \S+|\S+ completions? (bash|zsh)"
)


def _only_sets_up(value: Word) -> bool:
    lines = [" ".join(each.text for each in one.argv) for one in value.sources]
    return bool(lines) and all(map(_SETS_UP.fullmatch, lines))


class ReadingContext:
    """What everybody who follows a command shares: the state, what was found, and what is printed."""

    def __init__(self, budget: Budget, home: str, environment: Mapping[str, str] | None) -> None:
        self.budget, self.environment = budget, environment
        #: A variable that the environment lacks is empty; otherwise it is unknown.
        self.complete = True
        self._home = home
        self.state = ShellState()
        self.invocations = list[Invocation]()
        self.doubts = list[Doubt]()
        self.bombs = list[str]()
        self.stdin = Stream(None)
        self.upstream = tuple[Invocation, ...]()
        self.remote = False
        #: The programs that started this shell.
        self.wrappers = tuple[str, ...]()
        #: Whether the last command succeeds; None where only running it would tell.
        self.status: bool | None = None
        self._output = list[Word]()
        #: The jumps that were possible where the current output begins, and whether the current command runs in spite of
        #: those that are possible since.
        self._before = self.state.jumps
        self.runs: bool | None = True
        self._holes = dict[str, Word]()
        self._calls = list[str]()
        self._locals = list[dict[str, Variable]]()
        self._forked = 0
        #: Descriptors that the last redirections closed (``3>&-``).
        self.closed = list[str]()
        #: How often something was printed elsewhere than to standard output, and how often ``2>&1`` brought such a text back.
        self.errors = self.joins = 0
        #: Texts that run when this shell ends.
        self.traps = dict[Word, None]()
        #: Words so far that may not be expanded at all.
        self.failures = 0
        self._files = 63
        #: The commands in ``>(…)``, by the name of the file that they read.
        self.sinks = dict[str, ShellScript]()

    # ── what words need ──────────────────────────────────────────────────────────────────────────────

    def home_directory(self) -> str:
        home = self.state.variables.get("HOME")
        return self._home if home is None or isinstance(home, dict) else home.text

    def hole(self, value: Word) -> str:
        """A letter that stands for an unknown value in a text that is read as code."""
        letter = chr(_FIRST_HOLE + min(len(self._holes), 255))
        kept = self._holes.get(letter)
        self._holes[letter] = value if kept is None else unknown(merge(kept.sources, value.sources))
        return letter

    def fill(self, text: str) -> Word:
        if not self._holes or not any(letter in self._holes for letter in text):
            return Word((text,) if text else ())
        return concatenate([self._holes.get(letter) or word(letter) for letter in text])

    def doubt(self, reason: str, source: str, *, part: bool = False, piped: bool = False, limit: bool = False) -> None:
        found = Doubt(reason=reason, source=source[:200], part=part, piped=piped, limit=limit)
        if found not in self.doubts:
            self.doubts.append(found)

    def captured(self, run: Callable[[], None]) -> Word:
        """What is printed while ``run`` runs."""
        outer, self._output = self._output, []
        outside, self._before, self.runs = (self._before, self.runs), self.state.jumps, True
        errors, joins = self.errors, self.joins
        try:
            run()
            whole = concatenate(self._output)
            mixed = self.errors > errors and self.joins > joins  # in an order that nobody foresees
            return unknown((*whole.sources, *self.invocations[-1:])) if mixed else whole
        finally:
            self._output, (self._before, self.runs) = outer, outside

    def print(self, value: Word) -> None:
        if value.pieces and self.runs is not False:
            self._output.append(value if self.runs else unknown(value.sources))

    def scope(self, level: int, run: Callable[[], None]) -> None:
        """What jumps up to ``level`` leave: a loop, a function, a shell of its own."""
        self.budget.spend(8)
        dead, jumps = self.state.dead, self.state.jumps
        self.state.dead, self.state.jumps = False, {}
        printed = self.captured(run)
        self.status = None if self.state.jumps else self.status
        self.state.land(level)
        self.print(printed)
        self.state.dead, self.state.jumps = self.state.dead or dead, merge_jumps([jumps, self.state.jumps])

    def apart(self, run: Callable[[], None]) -> None:
        """As in a subshell: what ``run`` changes is forgotten behind it."""
        self.budget.spend(3 + len(self.state.variables) // 20)
        outer, self.state = self.state, self.state.copy()
        try:
            self.scope(SHELL, partial(self.whole, run))
            outer.files = self.state.files
        finally:
            self.state = outer

    def whole(self, run: Callable[[], None]) -> None:
        """A shell from its beginning to its end, where its traps run."""
        outer, self.traps = self.traps, {}
        try:
            run()
            self.run_traps()
        finally:
            self.traps = outer

    def run_traps(self) -> None:
        traps, self.traps = self.traps, {}
        for text in traps:
            self.apart(partial(self.code, text, "trap"))
        self.traps = traps

    def substitute(self, script: ShellScript) -> Word:
        mark, failures = len(self.invocations), self.failures
        printed = self.captured(lambda: self.apart(lambda: self.script(script)))
        if self.failures > failures and printed.pieces:
            source = self.invocations[mark].source if mark < len(self.invocations) else ""
            self.doubt("an expression may fail, and what stands behind it would not run", source, part=True)
        only = self.invocations[mark:]
        alone = len(only) == 1 and not only[0].argv and not printed.pieces
        if alone and [each.operator for each in only[0].redirects] == ["<"]:  # $(<file) is what is in the file
            return unknown((only[0],))
        return printed

    def process_file(self, part: Substitution) -> Word:
        """``<(…)`` is the name of a file with the output of the commands in it, ``>(…)`` of one that they read."""
        path = f"/dev/fd/{self._files}"
        self._files -= 1
        if part.direction == "<":
            self.state.files[path] = value = self.substitute(part.script)
            return Word((path,), part.source, value.sources)
        self.sinks[path] = part.script
        self._pour(part.script, None)
        return Word((path,), part.source)

    def pour(self, path: str, value: Word) -> None:
        """Give a text to the commands in ``>(…)``: what they do may depend on it, and on where it comes from."""
        script = self.sinks.pop(path)
        self._pour(script, value)
        self.sinks[path] = script

    def _pour(self, script: ShellScript, value: Word | None) -> None:
        outer = self.stdin, self.upstream
        self.stdin, self.upstream = Stream(value), value.sources if value else ()
        self.substitute(script)
        self.stdin, self.upstream = outer

    # ── texts and scripts ────────────────────────────────────────────────────────────────────────────

    def code(self, value: Word, runner: str) -> None:
        """A text that ``runner`` reads as commands."""
        self.budget.enter()
        hole = self.hole(unknown(value.sources)) if UNKNOWN in value.pieces else ""
        text = "".join(piece if isinstance(piece, str) else getattr(piece, "text", hole) for piece in value.pieces)
        if UNKNOWN in value.pieces:
            known = any(isinstance(piece, str) and piece.strip() for piece in value.pieces)
            reason = f"{runner} runs a text {'with a part ' * known}that is only known when it runs"
            self.doubt(reason, value.source or value.text, part=known or _only_sets_up(value))
            if not known:
                self.print(unknown(value.sources))
                self.budget.leave()
                return
        if any(isinstance(piece, Glob) for piece in value.pieces) and re.search("[<>]", text):
            self.doubt("which files a pattern means decides where data go", value.source or value.text, part=True)
        if text.rstrip("\n").endswith("\\"):  # bash goes on with the line behind it, or reads that otherwise
            self.doubt(f"{runner} runs a text that ends with a backslash", value.source or value.text, part=True)
        self.statements(ScriptParser(text.replace("\0", ""), self.budget, self.doubts).statements())
        self.budget.leave()

    def child_code(self, value: Word, runner: str, call: Execution, *, arguments: Sequence[Word] | None = ()) -> None:
        """A text for a shell of its own: it knows what is exported, and nothing it does comes back."""
        outer, wrappers = self.state, self.wrappers
        self.wrappers = (*call.wrappers, runner)
        self.state = ShellState() if self.remote else outer.child()
        self.state.positional = None if arguments is None else list(arguments)
        environment = self.environment
        self.environment = None if self.remote else environment
        try:
            self.whole(partial(self.code, value, runner))
        finally:
            self.state, self.environment, self.wrappers = outer, environment, wrappers

    def statements(self, items: Iterator[tuple[Command, bool]]) -> None:
        for command, background in items:
            if background:
                self._forked += 1
                self.apart(partial(self.run, command))
                self._forked -= 1
                self.status = True
            else:
                self.run(command)

    def script(self, script: ShellScript) -> None:
        self.statements(iter(script.items))

    def run(self, command: Command) -> None:
        raise NotImplementedError

    def emit(self, argv: list[Word], call: Execution) -> Invocation:
        if len(self.invocations) >= _MOST_INVOCATIONS:
            raise LimitReached("the command starts too many programs to be read")
        given = self.stdin.word
        invocation = Invocation(
            argv=tuple(argv),
            redirects=(*call.redirects, *self._connections(argv, call.redirects)),
            environment=(*self._inherited(call), *call.environment),
            stdin=given if given is not None and given.pieces and given.pieces != (UNKNOWN,) else None,
            upstream=self.upstream,
            wrappers=call.wrappers,
            directory=None if self.remote else self.state.directory,
            more_arguments=call.more,
            remote=self.remote,
            source=call.source,
        )
        self.invocations.append(invocation)
        return invocation

    def _connections(self, argv: list[Word], redirects: tuple[Redirect, ...]) -> Iterator[Redirect]:
        """Where ``exec 3>/dev/tcp/…`` leads to, if the program prints there or names the descriptor."""
        numbers = ["1", *(str(int(found[1], 0)) for each in argv if (found := _DESCRIPTOR.fullmatch(each.text)))]
        for opened in (self.state.descriptors.get(number) for number in numbers):
            network = opened is not None and opened.target.prefix.startswith(("/dev/tcp/", "/dev/udp/"))
            if opened is not None and network and opened not in redirects:
                yield opened

    def _inherited(self, call: Execution) -> Iterator[tuple[str, Word]]:
        """Exported variables with which a program does something else: ``export TAR_OPTIONS=…; tar …``."""
        own = {name for name, _ in call.environment}
        for name in self.state.exported - own:
            value = self.state.variables.get(name)
            if isinstance(value, Word) and value.known and RISKY_VARIABLES.fullmatch(name):
                yield name, value

    # ── what may happen or not ───────────────────────────────────────────────────────────────────────

    def _maybe(self, goes_on: bool | None, run: Callable[[], None], before: ShellState) -> None:
        """What may be run or not: it is followed either way, and what it may have changed is unknown behind it."""
        if goes_on:
            run()
            return
        self.state = before.copy()
        printed = self.captured(run)
        after, self.state = self.state, before
        if goes_on is None:
            self.state.become(before.copy(), after)
            self.print(unknown(printed.sources) if printed.pieces else EMPTY)

    def _branches(self, runs: Sequence[Callable[[], None]], *, complete: bool) -> None:
        before, ends = self.state, list[ShellState]()
        printed = list[Word]()
        for run in runs:
            self.budget.spend(3 + len(before.variables) // 20)
            self.state = before.copy()
            printed.append(self.captured(run))
            ends.append(self.state)
        self.state = before
        self.state.become(*ends, *(() if complete and ends else (before.copy(),)))
        if len(printed) == 1 and complete:
            self.print(printed[0])
        elif any(each.pieces for each in printed):
            self.print(unknown(concatenate(printed).sources))
        self.status = None
