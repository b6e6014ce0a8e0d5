"""Follows commands as a shell would run them, without running any: every branch is taken, every loop a few times."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import assert_never

from hookline.core._dataclass import replace
from hookline.guard.commands import Commands
from hookline.guard.expand import fields, number, part_value, scalar
from hookline.guard.reading import UNKNOWN, Redirect, Word
from hookline.guard.syntax import (
    Case,
    Chain,
    Command,
    CommandGroup,
    Coprocess,
    Count,
    For,
    FunctionDefinition,
    If,
    Pipeline,
    Raw,
    ShellScript,
    Simple,
    Substitution,
    Test,
    While,
)
from hookline.guard.values import EMPTY, LOOP, ROUND, ShellState, Stream, below, concatenate, unknown

_MOST_ROUNDS = 20
#: Commands behind one another with ``&&`` that are followed as one; each is a step deeper.
_LONGEST_RUN = 25


class Shell(Commands):
    """Pipelines, lists and compound commands."""

    def run(self, command: Command) -> None:
        self.budget.spend()
        outer, left = self.runs, any(self._before.get(kind) is not state for kind, state in self.state.jumps.items())
        self.runs = False if self.state.dead else None if left else True
        self._follow(command)
        self.runs = outer

    def _follow(self, command: Command) -> None:
        match command:
            case Simple():
                self._simple(command)
            case Pipeline():
                self._pipeline(command)
            case Chain():
                self._chain(command)
            case FunctionDefinition():
                self.state.functions[command.name] = (command.body,)
                self.status = True
            case Coprocess():
                self._coprocess(command)
            case _:
                self._redirected(command)

    def _coprocess(self, command: Coprocess) -> None:
        """It reads what is written to a descriptor of its array, whose number nobody foresees, as ``>(…)`` would."""
        self._forked += 1
        reads = self.process_file(Substitution(ShellScript([(command.body, False)]), "", quoted=True, direction=">"))
        self._forked -= 1
        self.state.variables[command.name] = unknown()
        self.state.descriptors[unknown().text] = Redirect(operator=">", target=reads)

    def _redirected(self, command: CommandGroup | If | While | For | Count | Case | Test) -> None:
        """A compound command, with the redirections that hold for everything in it."""
        if not command.redirections:
            self._compound(command)
            return
        redirects, stdin, target = self._redirects(command.redirections)
        outer = self.stdin
        self.stdin = stdin or outer
        printed = self.captured(lambda: self._compound(command))
        self.stdin = outer
        self.redirect_all(printed, redirects, getattr(command, "source", ""))
        self._deliver(printed, target)

    def _compound(self, command: CommandGroup | If | While | For | Count | Case | Test) -> None:
        match command:
            case CommandGroup(subshell=True):
                self.apart(lambda: self.script(command.body))
            case CommandGroup():
                self.script(command.body)
            case If():
                self._if(command)
            case While():
                self._loop(partial(self._while, command))
            case For():
                self._loop(partial(self._for, command))
            case Count():
                self._loop(partial(self._count, command))
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
                self._last_stage(stage)
            else:
                printed = self.captured(partial(self.apart, partial(self.run, stage)))
                upstream += tuple(replace(each, upstream=()) for each in self.invocations[mark:])
                self.stdin = Stream(printed)
        self._forked -= forks
        self.stdin, self.upstream = outer_in, outer_up
        self.status = (None if self.status is None else not self.status) if pipeline.negated else self.status

    def _last_stage(self, stage: Command) -> None:
        """Bash forgets what it changes; zsh, and bash with ``lastpipe``, do not."""
        ends = list[ShellState]()

        def run() -> None:
            self.run(stage)
            ends.append(self.state)

        self.apart(run)
        for end in ends:
            self.state.keep_common(end)

    def _chain(self, chain: Chain) -> None:
        items = chain.items
        self.run(items[0][1])
        at = 1
        while at < len(items):
            end = at + 1
            while end < len(items) and items[end][0] == items[at][0] and end - at < _LONGEST_RUN:
                end += 1
            self._run_of(items[at:end])
            at = end

    def _run_of(self, items: Sequence[tuple[str, Command]]) -> None:
        """``a && b && c`` is ``a && (b && c)``: c runs where b left the shell, and only if b went well."""
        (operator, command), rest = items[0], items[1:]
        status = self.status
        goes_on = None if status is None else status == (operator == "&&")

        def run() -> None:
            self.run(command)
            if rest:
                self._run_of(rest)

        self._maybe(goes_on, run, self.state)
        if goes_on is not True:
            self.status = status

    def _if(self, command: If) -> None:
        """Branches that are not taken are followed as well: a condition may fail for reasons that nobody foresees."""
        runs, others = list[Callable[[], None]](), list[Callable[[], None]]()
        certain = False
        for condition, body in command.branches:
            if certain:
                others += [partial(self.script, condition), partial(self.script, body)]
                continue
            self.script(condition)
            status = self.status if _is_constant(condition) else None
            (others if status is False else runs).append(partial(self.script, body))
            certain = status is True
        if command.otherwise:
            (others if certain else runs).append(partial(self.script, command.otherwise))
        for run in others:
            self._maybe(False, run, self.state)
        self._branches(runs, complete=certain or command.otherwise is not None)

    def _loop(self, run: Callable[[], None]) -> None:
        self.state.loops += 1
        self.scope(LOOP, run)
        self.state.loops -= 1

    def _round(self, body: ShellScript) -> None:
        self.script(body)
        self.state.land(ROUND)

    def _while(self, loop: While) -> None:
        if _FOREVER.match(loop.source) and "&" in loop.source and not _says_stop(loop.source):
            self.bombs.append(loop.source)
        for rounds in range(_MOST_ROUNDS):
            forks, mark = self._forked, len(self.invocations)
            self.script(loop.condition)
            done = None if self.status is None else self.status == loop.until
            if done:
                if not rounds:
                    self._maybe(False, partial(self.script, loop.body), self.state)
                self.status = None if rounds else True
                return
            if done is None:
                break
            self._round(loop.body)
            if self.state.dead:
                return
            if self.state.jumps:
                break
            if len(self.invocations) == mark and forks == self._forked:
                break
        else:
            if "&" in loop.source.replace("&&", "").replace(">&", "") or "|" in loop.source:
                self.bombs.append(loop.source)
        self._repeat(lambda: self._round(ShellScript([*loop.body.items, *loop.condition.items])))

    def _repeat(self, run: Callable[[], None]) -> None:
        """Any number of rounds: what a round changes is unknown in the next one."""
        printed = list[Word]()
        for _ in range(4):
            before = self.state.copy()
            printed.append(self.captured(run))
            self.state.become(before, self.state.copy())
            if self.state.same_as(before):
                break
        whole = concatenate(printed)
        self.print(unknown(whole.sources) if whole.pieces else EMPTY)
        self.status = None

    def _for(self, loop: For) -> None:
        if loop.words is None:
            values = self.state.positional if self.state.positional is not None else [unknown()]
        else:
            values = [value for raw in loop.words for value in fields(self, raw)]
        values = [found for each in values for found in (each.pieces == (UNKNOWN,) and below(each.sources)) or [each]]
        if len(values) > _MOST_ROUNDS:
            values = [*values[:2], unknown(concatenate(values).sources)]
        if any(not value.known or value.globs for value in values) or loop.select:
            self._branches([partial(self._round_with, loop, value) for value in values], complete=False)
            self._repeat(lambda: self._round_with(loop, concatenate(values) if len(values) == 1 else unknown()))
            return
        for value in values:
            if self.state.dead:
                self._maybe(False, partial(self._round_with, loop, value), self.state)
            else:
                self._round_with(loop, value)

    def _round_with(self, loop: For, value: Word) -> None:
        self.state.variables[loop.name] = value
        self._round(loop.body)

    def _count(self, loop: Count) -> None:
        number(self, loop.header)
        mark = len(self.invocations)
        self._repeat(partial(self._round, loop.body))
        waits = any(each.name in {"wait", "break", "exit"} for each in self.invocations[mark:])
        forks = any(background for _, background in loop.body.items)
        if forks and not waits and re.search(r";\s*;", loop.header.source):
            self.bombs.append(f"for (({loop.header.source}))")

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
        if any(raw.plain == "=~" for raw in command.words):
            self.state.variables["BASH_REMATCH"] = unknown()
        self.status = None


def _is_constant(condition: ShellScript) -> bool:
    """``true``, ``false`` and the like; what else succeeds mostly, as ``cd`` does, may fail."""
    command = condition.items[-1][0] if condition.items else None
    while isinstance(command, Pipeline) and len(command.stages) == 1:
        command = command.stages[0]
    first = command.words[0] if isinstance(command, Simple) and command.words else None
    return isinstance(first, Raw) and first.plain in {"true", "false", ":"}


#: Conditions that are always true.
_FOREVER = re.compile(r"while\s+(\(\(\s*[1-9]\d*\s*\)\)|\[\[\s*[\w'\"]+\s*\]\])\s*;?\s*do\b")


def _says_stop(source: str) -> bool:
    return any(stop in source for stop in ("break", "exit", "return"))
