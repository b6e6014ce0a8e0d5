"""Follows commands as a shell would run them, without running any: every branch is taken, every loop a few times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import assert_never

from hookline.core._dataclass import dataclass, replace
from hookline.guard.budget import Budget, LimitReached
from hookline.guard.builtins import BUILTINS
from hookline.guard.expand import braces, fields, number, part_value, scalar
from hookline.guard.output import echo_options, known_output, unescape
from hookline.guard.parameters import array_key, lookup
from hookline.guard.parse import Parser
from hookline.guard.reading import UNKNOWN, Doubt, Invocation, Redirect, Word, word
from hookline.guard.start import start
from hookline.guard.syntax import (
    Assignment,
    Case,
    Chain,
    Command,
    Coprocess,
    Count,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Raw,
    Redirection,
    Script,
    Simple,
    Substitution,
    Test,
    While,
)
from hookline.guard.values import EMPTY, Array, State, Stream, Variable, concatenate, literal, merge, unknown

_MOST_INVOCATIONS = 800
_MOST_ROUNDS = 20
_NO_OUTPUT = frozenset({"/dev/null"})
_SAME_OUTPUT = frozenset({"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
#: The shell's own commands that print what the shell remembers, by themselves or with ``-p``.
_PRINTING = frozenset(
    ["declare", "typeset", "export", "readonly", "local", "alias", "set", "trap", "hash", "shopt", "pushd", "popd"]
)
_ABSENT = word("", "not set before")
_FIRST_HOLE = 0x10FE00


@dataclass(slots=True)
class Call:
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


class Shell:
    def __init__(self, budget: Budget, home: str, environment: Mapping[str, str] | None) -> None:
        self.budget, self.environment = budget, environment
        #: A variable that the environment lacks is empty; otherwise it is unknown.
        self.complete = True
        self._home = home
        self.state = State()
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
        self._holes = dict[str, Word]()
        self._calls = list[str]()
        self._locals = list[dict[str, Variable]]()
        self._forked = 0
        self._files = 63

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
        try:
            run()
            return concatenate(self._output)
        finally:
            self._output = outer

    def print(self, value: Word) -> None:
        if value.pieces:
            self._output.append(value)

    def apart(self, run: Callable[[], None]) -> None:
        """As in a subshell: what ``run`` changes is forgotten behind it."""
        self.budget.spend(3 + len(self.state.variables) // 20)
        outer, self.state = self.state, self.state.copy()
        try:
            run()
            outer.files = self.state.files
        finally:
            self.state = outer

    def substitute(self, script: Script) -> Word:
        return self.captured(lambda: self.apart(lambda: self.script(script)))

    def process_file(self, part: Substitution) -> Word:
        """``<(…)`` is the name of a file with the output of the commands in it."""
        path = f"/dev/fd/{self._files}"
        self._files -= 1
        if part.direction == "<":
            self.state.files[path] = value = self.substitute(part.script)
            return Word((path,), part.source, value.sources)
        outer, self.stdin = self.stdin, Stream(None)
        self.substitute(part.script)
        self.stdin = outer
        return Word((path,), part.source)

    # ── texts and scripts ────────────────────────────────────────────────────────────────────────────

    def code(self, value: Word, runner: str) -> None:
        """A text that ``runner`` reads as commands."""
        self.budget.enter()
        text = "".join(piece if isinstance(piece, str) else self._as_text(piece) for piece in value.pieces)
        if UNKNOWN in value.pieces:
            known = any(isinstance(piece, str) and piece.strip() for piece in value.pieces)
            reason = "a text with a part" if known else "a text"
            self.doubt(
                f"{runner} runs {reason} that is only known when it runs", value.source or value.text, part=known
            )
            if not known:
                self.print(unknown(value.sources))
                self.budget.leave()
                return
        self.statements(Parser(text.replace("\0", ""), self.budget, self.doubts).statements())
        self.budget.leave()

    def _as_text(self, piece: object) -> str:
        return self.hole(unknown()) if piece is UNKNOWN else getattr(piece, "text", "")

    def child_code(self, value: Word, runner: str, call: Call, *, arguments: Sequence[Word] | None = ()) -> None:
        """A text for a shell of its own: it knows what is exported, and nothing it does comes back."""
        outer, wrappers = self.state, self.wrappers
        self.wrappers = (*call.wrappers, runner)
        self.state = State() if self.remote else outer.child()
        self.state.positional = None if arguments is None else list(arguments)
        environment = self.environment
        self.environment = None if self.remote else environment
        try:
            self.code(value, runner)
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

    def script(self, script: Script) -> None:
        self.statements(iter(script.items))

    def run(self, command: Command) -> None:
        self.budget.spend()
        match command:
            case Simple():
                self._simple(command)
            case Pipeline():
                self._pipeline(command)
            case Chain():
                self._chain(command)
            case Function():
                self.state.functions[command.name] = (command.body,)
                self.status = True
            case Coprocess():
                self._apart_in_background(command.body)
            case _:
                self._redirected(command)

    def _apart_in_background(self, command: Command) -> None:
        self._forked += 1
        self.captured(lambda: self.apart(lambda: self.run(command)))
        self._forked -= 1

    def _redirected(self, command: Group | If | While | For | Count | Case | Test) -> None:
        """A compound command, with the redirections that hold for everything in it."""
        if not command.redirections:
            self._compound(command)
            return
        redirects, stdin, target = self._redirects(command.redirections)
        outer = self.stdin
        self.stdin = stdin or outer
        if any(each.operator != "<" for each in redirects):
            self.emit([], Call(getattr(command, "source", ""), redirects, (), self.wrappers))
        printed = self.captured(lambda: self._compound(command))
        self.stdin = outer
        self._deliver(printed, target)

    def _compound(self, command: Group | If | While | For | Count | Case | Test) -> None:
        match command:
            case Group(subshell=True):
                self.apart(lambda: self.script(command.body))
            case Group():
                self.script(command.body)
            case If():
                self._if(command)
            case While():
                self._while(command)
            case For():
                self._for(command)
            case Count():
                self._count(command)
            case Case():
                self._case(command)
            case Test():
                self._test(command)
            case _:
                assert_never(command)

    # ── control flow ─────────────────────────────────────────────────────────────────────────────────

    def _pipeline(self, pipeline: Pipeline) -> None:
        outer_in, outer_up = self.stdin, self.upstream
        upstream = outer_up
        forks = len(pipeline.stages) > 1
        self._forked += forks
        for place, stage in enumerate(pipeline.stages):
            mark, last = len(self.invocations), place == len(pipeline.stages) - 1
            self.upstream = upstream
            if not forks:
                self.run(stage)
            elif last:
                self.apart(partial(self.run, stage))
            else:
                printed = self.captured(partial(self.apart, partial(self.run, stage)))
                upstream += tuple(replace(each, upstream=()) for each in self.invocations[mark:])
                self.stdin = Stream(printed)
        self._forked -= forks
        self.stdin, self.upstream = outer_in, outer_up
        self.status = (None if self.status is None else not self.status) if pipeline.negated else self.status

    def _chain(self, chain: Chain) -> None:
        for operator, command in chain.items:
            if not operator:
                self.run(command)
                continue
            before, status = self.state, self.status
            goes_on = None if status is None else status == (operator == "&&")
            self._maybe(goes_on, partial(self.run, command), before)
            if goes_on is False:
                self.status = status
            elif goes_on is None:
                # After ``a && b``, going on with ``&&`` means that both went well.
                self.status = None

    def _maybe(self, goes_on: bool | None, run: Callable[[], None], before: State) -> None:
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
        before, ends = self.state, list[State]()
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

    def _if(self, command: If) -> None:
        runs = list[Callable[[], None]]()
        certain = False
        for condition, body in command.branches:
            self.script(condition)
            if self.status is not False:
                certain = certain or self.status is True
                runs.append(partial(self.script, body))
                if certain:
                    break
        if command.otherwise and not certain:
            runs.append(partial(self.script, command.otherwise))
        self._branches(runs, complete=certain or command.otherwise is not None)

    def _while(self, loop: While) -> None:
        for rounds in range(_MOST_ROUNDS):
            forks, mark = self._forked, len(self.invocations)
            self.script(loop.condition)
            done = None if self.status is None else self.status == loop.until
            if done:
                self.status = None if rounds else True
                return
            if done is None:
                break
            self.script(loop.body)
            if self.state.dead or _says_stop(loop.source):
                self.state.dead = False
                break
            if len(self.invocations) == mark and forks == self._forked:
                break
        else:
            if "&" in loop.source.replace("&&", "").replace(">&", "") or "|" in loop.source:
                self.bombs.append(loop.source)
        self._repeat(lambda: self.script(Script([*loop.body.items, *loop.condition.items])))

    def _repeat(self, run: Callable[[], None]) -> None:
        """Any number of rounds: what a round changes is unknown in the next one."""
        printed = list[Word]()
        for _ in range(4):
            before = self.state.copy()
            printed.append(self.captured(run))
            self.state.dead = False
            self.state.become(before, self.state.copy())
            if self.state.variables == before.variables and self.state.directory == before.directory:
                break
        whole = concatenate(printed)
        self.print(unknown(whole.sources) if whole.pieces else EMPTY)
        self.status = None

    def _for(self, loop: For) -> None:
        if loop.words is None:
            values = self.state.positional if self.state.positional is not None else [unknown()]
        else:
            values = [value for raw in loop.words for value in fields(self, raw)]
        if len(values) > _MOST_ROUNDS:
            values = [*values[:2], unknown(concatenate(values).sources)]
        if any(not value.known or value.globs for value in values) or loop.select:
            self._branches([partial(self._round, loop, value) for value in values], complete=False)
            self._repeat(lambda: self._round(loop, concatenate(values) if len(values) == 1 else unknown()))
            return
        before = self.state.copy()
        for value in values:
            self._round(loop, value)
            if self.state.dead:
                self.state.dead = False
                self.state.become(before, self.state.copy())

    def _round(self, loop: For, value: Word) -> None:
        self.state.variables[loop.name] = value
        self.script(loop.body)

    def _count(self, loop: Count) -> None:
        number(self, loop.header)
        self._repeat(lambda: self.script(loop.body))

    def _case(self, command: Case) -> None:
        scalar(self, command.subject)
        for patterns, _ in command.arms:
            for each in patterns:
                scalar(self, each)
        self._branches([partial(self.script, body) for _, body in command.arms], complete=False)

    def _test(self, command: Test) -> None:
        for raw in command.words:
            if command.arithmetic:
                number(self, raw)
            else:
                for part in raw.parts:
                    part_value(self, part)
        self.status = None

    # ── simple commands ──────────────────────────────────────────────────────────────────────────────

    def _simple(self, simple: Simple) -> None:
        mark = len(self.invocations)
        argv = list[Word]()
        for raw in simple.words:
            if isinstance(raw, Raw):
                argv += fields(self, raw)
            else:
                argv += self._declared(raw, local=_word(simple.words[0]) in {"local", "declare", "typeset"})
        if not argv:
            for assignment in simple.assignments:
                self.assign(assignment)
            if simple.redirections:
                self._only_redirections(simple)
            # ``x=$(false)`` fails as its substitution does.
            self.status = True if len(self.invocations) == mark else None
            return
        environment = tuple((each.name, self._value(each)) for each in simple.assignments)
        redirects, stdin, target = self._redirects(simple.redirections)
        call = Call(simple.source, redirects, environment, self.wrappers)
        outer, self.stdin = self.stdin, stdin or self.stdin
        first = simple.words[0]
        alias = first.plain if isinstance(first, Raw) else None
        printed = self.captured(lambda: self._expand_alias(alias, simple, argv, call))
        self.stdin = outer
        self._deliver(printed, target)

    def _expand_alias(self, name: str | None, simple: Simple, argv: list[Word], call: Call) -> None:
        text = self.state.aliases.get(name or "")
        if text is None or name in self._calls or name is None:
            self.invoke(argv, call)
            return
        # Bash expands aliases only where it is told to; other shells always do. Both are followed.
        self.emit(argv, call)
        self._calls.append(name)
        self.code(word(text + simple.source.removeprefix(name)), "alias")
        self._calls.pop()

    def _only_redirections(self, simple: Simple) -> None:
        redirects, _, target = self._redirects(simple.redirections)
        if redirects:
            self.emit([], Call(simple.source, redirects, (), self.wrappers))
        self._deliver(EMPTY, target)

    def invoke(self, argv: list[Word], call: Call) -> None:
        """A program, function or builtin with its words, as far as it is known what it is."""
        self.budget.spend()
        name = literal(argv[0])
        if name is not None and not call.direct and name in self.state.functions:
            self._function(name, argv, call)
            return
        invocation = self.emit(argv, call)
        if name is None:
            self.status = None
            self.print(unknown((invocation, *self._input_sources())))
            if argv[0].globs and argv[0].known:
                self.doubt("which program runs depends on the files that its name matches", argv[0].source)
            return
        name = name.rpartition("/")[2]
        outer = self._exported(call)
        try:
            if (builtin := BUILTINS.get(name)) and not call.external:
                self.status = True
                builtin(self, argv, call)
                if name in _PRINTING and (len(argv) == 1 or any(each.text.startswith("-p") for each in argv)):
                    self.print(unknown((invocation,)))
            elif not start(self, name, argv, call):
                self._program(name, argv, invocation)
        finally:
            if outer is not None:
                self.state.variables, self.state.exported = outer

    def _exported(self, call: Call) -> tuple[dict[str, Variable], frozenset[str]] | None:
        """``x=1 program``: only the program sees it."""
        if not call.environment:
            return None
        outer = self.state.variables, self.state.exported
        self.state.variables = self.state.variables | dict(call.environment)
        self.state.exported = self.state.exported | {name for name, _ in call.environment}
        call.environment = ()
        return outer

    def _input_sources(self) -> tuple[Invocation, ...]:
        return self.stdin.word.sources if self.stdin.word else ()

    def _program(self, name: str, argv: list[Word], invocation: Invocation) -> None:
        self.status = True if name in {"echo", "printf", "true"} else False if name == "false" else None
        sources = merge(self._input_sources(), (invocation,))
        if name == "echo":
            self.print(replace(_echo(argv[1:]), sources=merge(concatenate(argv[1:]).sources, (invocation,))))
            return
        if name in {"cat", "tee", "pv", "sponge"}:
            self.print(self._concatenated(name, argv[1:], sources))
            return
        args = [literal(each) for each in argv[1:]]
        given = self.stdin.word
        text = None if given is None else literal(given)
        known = None if None in args else known_output(name, [each or "" for each in args], text)
        self.budget.spend(1 + len(text or "") // 200)
        self.print(unknown(sources) if known is None else Word((known,) if known else (), "", sources))

    def _concatenated(self, name: str, args: list[Word], sources: tuple[Invocation, ...]) -> Word:
        paths = [each for each in args if not each.text.startswith("-") or each.text == "-"]
        if len(paths) < len(args) and any(each.text not in {"-a", "-u", "--"} for each in args if each not in paths):
            return unknown(sources)
        if name != "cat":
            for path in paths:
                self.write(path, self.stdin.word or unknown(sources), append="-a" in [each.text for each in args])
            return replace(self.stdin.word or unknown(), sources=sources)
        parts = [self.stdin.word if each.text == "-" else self.file(each) for each in paths] or [self.stdin.word]
        whole = concatenate([unknown() if part is None else part for part in parts])
        return replace(whole, sources=merge(whole.sources, sources))

    def file(self, path: Word) -> Word | None:
        """What this very command wrote into a file."""
        text = literal(path)
        return None if text is None else self.state.files.get(self._path(text))

    def write(self, path: Word, value: Word, *, append: bool) -> None:
        text = literal(path)
        if text is not None:
            before = self.state.files.get(self._path(text), unknown()) if append else EMPTY
            self.state.files[self._path(text)] = concatenate([before, value])

    def _path(self, text: str) -> str:
        directory = self.state.directory
        text = text.removeprefix("./")
        return text if directory is None or text.startswith("/") else f"{directory.text}/{text}"

    def _function(self, name: str, argv: list[Word], call: Call) -> None:
        if self._calls.count(name):
            if self._forked:
                self.bombs.append(call.source)
            else:
                self.doubt("a function calls itself", call.source)
            self.print(unknown())
            self.status = None
            return
        self._calls.append(name)
        self.budget.enter()
        outer, self.state.positional = self.state.positional, argv[1:]
        environment = self._exported(call)
        self._locals.append({})
        bodies = self.state.functions[name]
        if None in bodies:
            self.emit(argv, call)
        runs = [partial(self.run, body) for body in bodies if body is not None]
        if len(bodies) == 1:
            runs[0]()
        else:
            self._branches(runs, complete=None not in bodies)
        for local, value in self._locals.pop().items():
            if value is _ABSENT:
                self.state.variables.pop(local, None)
            else:
                self.state.variables[local] = value
        if environment is not None:
            self.state.variables, self.state.exported = environment
        self.state.positional, self.state.dead = outer, False
        self.budget.leave()
        self._calls.pop()

    def emit(self, argv: list[Word], call: Call) -> Invocation:
        if len(self.invocations) >= _MOST_INVOCATIONS:
            raise LimitReached("the command starts too many programs to be read")
        given = self.stdin.word
        invocation = Invocation(
            argv=tuple(argv),
            redirects=call.redirects,
            environment=call.environment,
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

    def make_local(self, name: str) -> None:
        """A variable of the function that runs: what it held before comes back when the function ends."""
        if self._locals and name not in self._locals[-1]:
            self._locals[-1][name] = self.state.variables.get(name, _ABSENT)

    def _declared(self, assignment: Assignment, *, local: bool) -> list[Word]:
        """``export x={a,b}`` is two assignments, unlike ``x={a,b}``."""
        if local:
            self.make_local(assignment.name)
        if not isinstance(assignment.value, Raw):
            return [self.assign(assignment)]
        values = [
            Raw([], "") if parts is None else Raw(parts, assignment.value.source)
            for parts in braces(self, assignment.value.parts)
        ]
        return [self.assign(replace(assignment, value=value)) for value in values]

    # ── variables and redirections ───────────────────────────────────────────────────────────────────

    def assign(self, assignment: Assignment) -> Word:
        """Set the variable; the whole as one word, as ``export`` and the like see it."""
        value = self._value(assignment)
        name = assignment.name
        if isinstance(assignment.value, list):
            self.state.variables[name] = self._array(
                assignment.value, lookup(self, name) if assignment.append else None
            )
        elif assignment.index is not None:
            array = lookup(self, name)
            array = dict(array) if isinstance(array, dict) else {}
            key = array_key(self, array, assignment.index)
            array[key] = concatenate([array.get(key, EMPTY), value]) if assignment.append else value
            self.state.variables[name] = array
        elif assignment.append:
            before = lookup(self, name)
            value = concatenate([before if isinstance(before, Word) else EMPTY if before is None else unknown(), value])
            self.set(name, value)
        else:
            self.set(name, value)
        return concatenate([word(f"{name}="), value], assignment.source)

    def set(self, name: str, value: Word) -> None:
        """A variable with attributes (integer, lower case, a reference) holds something else than was assigned."""
        self.state.variables[name] = unknown(value.sources) if f"{name} " in self.state.exported else value

    def _value(self, assignment: Assignment) -> Word:
        if isinstance(assignment.value, list):
            return unknown(source=assignment.source)
        return scalar(self, assignment.value, assigned=True)

    def _array(self, values: list[Raw | Assignment], before: Variable) -> Array:
        array: Array = dict(before) if isinstance(before, dict) else {}
        for each in values:
            if isinstance(each, Assignment) and each.index is not None:
                array[array_key(self, array, each.index)] = self._value(each)
            elif isinstance(each, Raw):
                for value in fields(self, each):
                    array[str(len(array))] = value
        return array

    def _redirects(self, redirections: list[Redirection]) -> tuple[tuple[Redirect, ...], Stream | None, Word | None]:
        """The redirects, standard input if it changes, and where standard output goes if not to where it went."""
        found, stdin, output = list[Redirect](), None, None
        copies = 0
        for each in redirections:
            if each.operator in {"<<", "<<-"}:
                body = scalar(self, each.body, assigned=True) if each.body else unknown()
                stdin = Stream(body) if each.descriptor in {"", "0"} else stdin
                continue
            target = scalar(self, each.target)
            if each.operator == "<<<":
                stdin = Stream(concatenate([target, word("\n")])) if each.descriptor in {"", "0"} else stdin
                continue
            copy = each.operator in {"<&", ">&"} and (
                not target.known or target.text.rstrip("-").isdigit() or target.text == "-"
            )
            if copy:
                copies += each.descriptor in {"", "1"} and each.operator == ">&"
                opened = self.state.descriptors.get(target.text)
                found += [opened] if opened else []
                output = (
                    word("&")
                    if each.descriptor in {"", "1"} and each.operator == ">&" and target.text != "1"
                    else output
                )
                continue
            operator = "&>" if each.operator == ">&" else each.operator
            number = int(each.descriptor) if each.descriptor.isdigit() else None
            found.append(Redirect(operator=operator, target=target, descriptor=number))
            if operator == "<" and each.descriptor in {"", "0"}:
                stdin = Stream(self.file(target))
            elif operator in {">", ">>", ">|", "&>", "&>>"} and each.descriptor in {"", "1"}:
                output = replace(target, source=operator)
        if copies > 1 or (copies and len(redirections) > 1):
            output = None if output is None else replace(output, source="?")
        return tuple(found), stdin, output

    def _deliver(self, printed: Word, target: Word | None) -> None:
        if target is None or target.text in _SAME_OUTPUT:
            self.print(printed)
        elif target.source == "?":
            self.print(unknown(printed.sources) if printed.pieces else EMPTY)
        elif target.text != "&" and target.text not in _NO_OUTPUT:
            self.write(target, printed, append=">>" in target.source)


def _word(raw: Raw | Assignment) -> str | None:
    return raw.plain if isinstance(raw, Raw) else None


def _says_stop(source: str) -> bool:
    return any(stop in source for stop in ("break", "exit", "return"))


def _echo(args: list[Word]) -> Word:
    texts = [each.text if each.known and not each.globs else "" for each in args]
    count, newline, escapes = echo_options(texts)
    glued = concatenate(
        [*[each for value in args[count:] for each in (word(" "), value)][1:], word("\n" if newline else "")]
    )
    if not escapes:
        return glued
    text = literal(glued)
    return unknown(glued.sources) if text is None else word(unescape(text))
