"""Simple commands, as a shell would run them without running any."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial

from hookline.core._dataclass import replace
from hookline.guard.builtins import BUILTINS
from hookline.guard.context import Execution, ReadingContext
from hookline.guard.expand import braces, expand_text, fields, scalar
from hookline.guard.output import echo_options, foresee_output, unescape
from hookline.guard.parameters import array_key, lookup
from hookline.guard.reading import Invocation, Redirect, Word, cut, word
from hookline.guard.sensitive import RISKY_VARIABLES, secret_harm
from hookline.guard.start import start
from hookline.guard.syntax import Assignment, LiteralText, Raw, Redirection, Simple
from hookline.guard.values import EMPTY, FUNCTION, Array, Stream, Variable, concatenate, literal, merge, unknown

_NO_OUTPUT = frozenset({"/dev/null"})
_SAME_OUTPUT = frozenset({"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
#: The shell's own commands that print what the shell remembers, by themselves or with ``-p``.
_PRINTING = frozenset(
    ["declare", "typeset", "export", "readonly", "local", "alias", "set", "trap", "hash", "shopt", "pushd", "popd"]
)
_PROGRAM = re.compile(r"(/usr(/local)?)?/s?bin/[\w.-]+")
#: Variables in which bash follows substitutions when it shows them.
_PROMPTS = frozenset({"PS0", "PS1", "PS2", "PS4"})
_ABSENT = word("", "not set before")


class Commands(ReadingContext):
    """Simple commands: assignments, redirections, functions, and the programs that they start."""

    def _simple(self, simple: Simple) -> None:
        mark = len(self.invocations)
        argv, failures = list[Word](), self.failures
        for raw in simple.words:
            if isinstance(raw, Raw):
                argv += fields(self, raw)
            else:
                argv += self._declared(raw, [_word(each) or "" for each in simple.words])
        if not argv:
            for assignment in simple.assignments:
                self.assign(assignment)
            if simple.redirections:
                self._only_redirections(simple)
            # ``x=$(false)`` fails as its substitution does.
            self.status = True if len(self.invocations) == mark else None
            return
        may_fail = self.failures > failures
        environment = self._environment(simple.assignments)
        redirects, stdin, target = self._redirects(simple.redirections)
        call = Execution(simple.source, redirects, environment, self.wrappers)
        outer, self.stdin = self.stdin, stdin or self.stdin
        first = simple.words[0]
        alias = first.plain if isinstance(first, Raw) else None
        printed = self.captured(lambda: self._expand_alias(alias, simple, argv, call))
        self.stdin = outer
        # What a program complains about is printed as well: ``$(. 2>&1)``.
        told = not printed.pieces and self.status is not True and any(map(_takes_errors, simple.redirections))
        self._deliver(unknown(printed.sources) if told or (may_fail and printed.pieces) else printed, target)

    def _expand_alias(self, name: str | None, simple: Simple, argv: list[Word], call: Execution) -> None:
        text = self.state.aliases.get(name or "")
        if text is None or name in self._calls or name is None:
            self.invoke(argv, call)
            return
        # Bash expands aliases only where it is told to; other shells always do. Both are followed.
        self.emit(argv, call)
        self._calls.append(name)
        rest = simple.source.removeprefix(name)
        if text[-1:].isspace() and (following := re.match(r"\s*(\S+)", rest)) and following[1] in self.state.aliases:
            rest = self.state.aliases[following[1]] + rest[following.end() :]
        self.code(word(text + rest), "alias")
        self._calls.pop()

    def _only_redirections(self, simple: Simple) -> None:
        redirects, _, target = self._redirects(simple.redirections)
        if redirects:
            self.emit([], Execution(simple.source, redirects, (), self.wrappers))
        self._deliver(EMPTY, target)

    def invoke(self, argv: list[Word], call: Execution) -> None:
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
        restore = self._exported(call)
        try:
            if (builtin := BUILTINS.get(name)) and not call.external:
                self.status = True
                builtin(self, argv, call)
                if name in _PRINTING and (len(argv) == 1 or any(each.text.startswith("-p") for each in argv)):
                    self.print(unknown((invocation,)))
            elif start(self, name, argv, call):
                self.status = None  # what was started inside may succeed where the program around it does not
            else:
                self._program(name, argv, invocation)
        finally:
            restore()

    def _exported(self, call: Execution) -> Callable[[], None]:
        """``x=1 program``: only the program sees it; what a function or the shell's own command changes stays."""
        names = {name: self.state.variables.get(name, _ABSENT) for name, _ in call.environment}
        added = frozenset(names) - self.state.exported
        self.state.variables |= dict(call.environment)
        self.state.exported |= added
        call.environment = ()

        def restore() -> None:
            self._bring_back(names)
            self.state.exported -= added

        return restore

    def _environment(self, assignments: list[Assignment]) -> tuple[tuple[str, Word], ...]:
        """``x=1 y=$x program``: each sees those before it."""
        before = dict[str, Variable]()
        found = list[tuple[str, Word]]()
        for each in assignments:
            value = self._appended(each)
            before.setdefault(each.name, self.state.variables.get(each.name, _ABSENT))  # what ``${x:=y}`` sets stays
            self.state.variables[each.name] = value
            found.append((each.name, value))
        self._bring_back(before)
        return tuple(found)

    def _bring_back(self, before: dict[str, Variable]) -> None:
        for name, value in before.items():
            if value is _ABSENT:
                self.state.variables.pop(name, None)
            else:
                self.state.variables[name] = value

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
        if name in {"cp", "ln", "install", "mv"}:
            self._copied(argv[1:])
        args = [literal(each) for each in argv[1:]]
        given = self.stdin.word
        text = None if given is None else literal(given)
        known = None if None in args else foresee_output(name, [each or "" for each in args], text)
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

    def _copied(self, args: list[Word]) -> None:
        """``cp /bin/rm x; ./x``: another name for a program is a script that calls it."""
        named = [each for each in args if not each.text.startswith("-")]
        source, target = (literal(named[0]), literal(named[1])) if len(named) == 2 else (None, None)
        if source and target:
            content = word(f'{source} "$@"') if _PROGRAM.fullmatch(source) else self.state.files.get(self._path(source))
            if content is not None:
                self.state.files[self._path(target)] = content

    def file(self, path: Word) -> Word | None:
        """What this very command wrote into a file."""
        text = literal(path)
        return None if text is None else self.state.files.get(self._path(text))

    def matched_files(self, path: Word, runner: str) -> None:
        """``bash x*``: which file that is depends on those that are there; what this very command wrote may be it."""
        if not path.globs or not path.known:
            return
        self.doubt(f"which file {runner} runs depends on those that its name matches", path.source, part=True)
        for name, content in self.state.files.items():
            if content.pieces and fnmatchcase(name, self._path(path.text)):
                self.captured(partial(self.apart, partial(self.code, replace(content, source=name), runner)))

    def write(self, path: Word, value: Word, *, append: bool) -> None:
        text = literal(path)
        if text in self.sinks:
            self.pour(text, value)
        elif text is not None:
            before = self.state.files.get(self._path(text), unknown()) if append else EMPTY
            self.state.files[self._path(text)] = concatenate([before, value])

    def _path(self, text: str) -> str:
        directory = self.state.directory
        text = text.removeprefix("./")
        return text if directory is None or text.startswith("/") else f"{directory.text}/{text}"

    def _function(self, name: str, argv: list[Word], call: Execution) -> None:
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
        restore = self._exported(call)
        self._locals.append({})
        bodies = self.state.functions[name]
        if None in bodies:
            self.emit(argv, call)
        runs = [partial(self.run, body) for body in bodies if body is not None]
        run = runs[0] if len(bodies) == 1 else partial(self._branches, runs, complete=None not in bodies)
        around = self.state.loops, self.state.returns
        self.state.loops, self.state.returns = 0, True
        printed = self.captured(partial(self.scope, FUNCTION, run))
        self.state.loops, self.state.returns = around
        self.redirect_all(printed, call.redirects, call.source)
        self.print(printed)
        self._bring_back(self._locals.pop())
        restore()
        self.state.positional = outer
        self.status = None  # it may return anywhere, with any status
        self.budget.leave()
        self._calls.pop()

    @property
    def in_function(self) -> bool:
        return bool(self._locals)

    def make_local(self, name: str) -> bool:
        """A variable of the function that runs: what it held before comes back at the end. False if it is one already."""
        if not self._locals or name in self._locals[-1]:
            return False
        self._locals[-1][name] = self.state.variables.get(name, _ABSENT)
        return True

    def _declared(self, assignment: Assignment, words: list[str]) -> list[Word]:
        """Braces make ``export x={a,b}`` ordinary words, which are divided."""
        name, value = assignment.name, assignment.value
        options = "".join(each for each in words if each.startswith("-"))
        if words[0] in {"local", "declare", "typeset"} and "g" not in options:
            self.make_local(name)
        if "A" in options:
            self.state.exported |= {f"{name} A"}
        if not isinstance(value, Raw) or braces(self, value.parts) == [value.parts]:
            whole = self.assign(assignment)
            refused = words[0] == "local" and not self.in_function  # by bash, not by zsh
            if refused or words[0] in self.state.functions:
                self.state.variables[name] = unknown(whole.sources)
            return [whole]
        found = fields(self, Raw([LiteralText(f"{name}=", quoted=False), *value.parts], assignment.source))
        for each in found:
            if each.prefix.startswith(f"{name}="):
                self.set(name, cut(each, len(name) + 1))
        return found

    # ── variables and redirections ───────────────────────────────────────────────────────────────────

    def assign(self, assignment: Assignment) -> Word:
        """Set the variable; the whole as one word, as ``export`` and the like see it."""
        name = assignment.name
        value = self._appended(assignment) if assignment.index is None else self._value(assignment)
        if RISKY_VARIABLES.fullmatch(name) and name != "IFS":
            self.doubt(f"{name} decides which programs run", assignment.source, part=True)
        if isinstance(assignment.value, list):
            self.state.variables[name] = self._array(assignment, name)
        elif assignment.index is not None:
            self._assign_element(name, assignment.index, value, append=assignment.append)
        else:
            self.set(name, value)
        return concatenate([word(f"{name}="), value], assignment.source)

    def _assign_element(self, name: str, index: str, value: Word, *, append: bool) -> None:
        array = self._elements(name)
        if array is None:
            self.state.variables[name] = unknown(value.sources)
            return
        key = array_key(self, name, array, index)
        if key is None:
            self.state.variables[name] = unknown(value.sources)
            return
        array[key] = concatenate([array.get(key, EMPTY), value]) if append else value
        self.state.variables[name] = _in_order(array)

    def set(self, name: str, value: Word) -> None:
        """A variable with attributes (integer, lower case, a reference) holds something else than was assigned."""
        name = self.state.aliases.get(f"reference {name}", name)
        if "[" in name:
            name, _, index = name.removesuffix("]").partition("[")
            self._assign_element(name, index, value, append=False)
            return
        value = unknown(value.sources) if f"{name} " in self.state.exported else value
        before = self.state.variables.get(name)
        self.state.variables[name] = {**before, "0": value} if isinstance(before, dict) else value

    def _appended(self, assignment: Assignment) -> Word:
        value = self._value(assignment)
        before = lookup(self, assignment.name) if assignment.append else None
        return value if before is None else concatenate([before if isinstance(before, Word) else unknown(), value])

    def _value(self, assignment: Assignment) -> Word:
        if isinstance(assignment.value, list):
            return unknown(source=assignment.source)
        value = scalar(self, assignment.value, assigned=True)
        if assignment.name in _PROMPTS:
            expand_text(self, value)
        return value

    def _elements(self, name: str) -> Array | None:
        """A variable as an array, to be changed; None if what is in it is not known."""
        value = lookup(self, name)
        if isinstance(value, dict):
            return dict(value)
        if value is None or name not in self.state.variables:  # no array is inherited
            return {}
        return {"0": value} if value.known else None

    def _array(self, assignment: Assignment, name: str) -> Variable:
        """The values, behind those that the variable has if they are appended."""
        values = assignment.value if isinstance(assignment.value, list) else []
        known = self._elements(name) if assignment.append else {}
        array: Array = {"0": unknown()} if known is None else known
        #: Which key has which value is not foreseen.
        pairs = f"{name} A" in self.state.exported and not all(isinstance(each, Assignment) for each in values)
        at = max((int(key) for key in array if key.isdecimal()), default=-1) + 1
        for each in values:
            if isinstance(each, Assignment) and each.index is not None:
                # A name may be the key of an associative array as well as a number: it stays as it is written.
                key = each.index if each.index.isidentifier() else array_key(self, name, array, each.index)
                if key is None:
                    pairs, key = True, "0"
                array[key] = self._value(each)
                at = int(key) + 1 if key.isdecimal() else at
                if key == each.index and "~" in each.source:
                    array[key] = unknown(array[key].sources)  # an associative array keeps the tilde
            elif isinstance(each, Raw):
                for value in fields(self, each, like=False):
                    array[str(at)] = value
                    at += 1
        return unknown(concatenate(array.values()).sources) if pairs else _in_order(array)

    def _redirects(self, redirections: list[Redirection]) -> tuple[tuple[Redirect, ...], Stream | None, Word | None]:
        """The redirects, standard input if it changes, and where standard output goes if not to where it went."""
        found, stdin, output = list[Redirect](), None, None
        copies = 0
        self.closed = [each.descriptor for each in redirections if each.target.source == "-"]
        for each in redirections:
            if each.operator in {"<<", "<<-", "<<<"}:
                stdin = self._input(each, stdin)
                continue
            target = scalar(self, each.target)
            copy = each.operator in {"<&", ">&"} and (
                not target.known or target.text.rstrip("-").isdigit() or target.text == "-"
            )
            if copy:
                self.joins += each.operator == ">&" and target.text != "-"
                copies += each.descriptor in {"", "1"} and each.operator == ">&"
                if each.operator == "<&" and each.descriptor in {"", "0"}:
                    stdin = (
                        Stream(self.state.files[held])
                        if (held := f"/dev/fd/{target.text}") in self.state.files
                        else stdin
                    )
                opened = self.state.descriptors.get(target.text)
                found += [replace(opened, descriptor=self._descriptor(each.descriptor))] if opened else []
                if each.descriptor in {"", "1"} and each.operator == ">&" and target.text != "1":
                    poured = opened is not None and opened.target.text in self.sinks
                    output = replace(opened.target, source=">>") if opened and poured else word("&")
                continue
            operator = "&>" if each.operator == ">&" else each.operator
            found.append(Redirect(operator=operator, target=target, descriptor=self._descriptor(each.descriptor)))
            if operator == "<" and each.descriptor in {"", "0"}:
                stdin = Stream(self.file(target) or self._from_file(found[-1:]))
            elif operator == "<" and (content := self.file(target)) is not None:
                self.state.files[f"/dev/fd/{found[-1].descriptor}"] = content
            elif operator in {">", ">>", ">|", "&>", "&>>"} and each.descriptor in {"", "1"}:
                output = replace(target, source=operator)
            elif operator != "<" and target.text not in _NO_OUTPUT:
                self.write(target, unknown(), append=True)  # what is printed to that descriptor
        if copies > 1 or (copies and len(redirections) > 1):
            output = None if output is None else replace(output, source="?")
        return tuple(found), stdin, output

    def _from_file(self, opened: list[Redirect]) -> Word | None:
        """What nobody knows but where it comes from, if it comes from a file that matters."""
        if not any(secret_harm(each.target.text) for each in opened):
            return None
        return unknown((Invocation(argv=(), redirects=tuple(opened), directory=self.state.directory),))

    def redirect_all(self, printed: Word, redirects: tuple[Redirect, ...], source: str) -> None:
        """Redirections that hold for several programs stand by themselves, behind those whose output they take."""
        if any(each.operator != "<" or secret_harm(each.target.text) for each in redirects):
            outer, self.upstream = self.upstream, printed.sources
            self.emit([], Execution(source, redirects, (), self.wrappers))
            self.upstream = outer

    def _input(self, redirection: Redirection, stdin: Stream | None) -> Stream | None:
        """A text on standard input, or on another descriptor, which is a file to whoever names it."""
        if redirection.operator == "<<<":
            body = concatenate([scalar(self, redirection.target, assigned=True), word("\n")])
        else:
            body = scalar(self, redirection.body, assigned=True) if redirection.body else unknown()
        if redirection.descriptor in {"", "0"}:
            return Stream(body)
        self.state.files[f"/dev/fd/{self._descriptor(redirection.descriptor)}"] = body
        return stdin

    def _descriptor(self, name: str) -> int | None:
        """``3`` as it is; for ``{name}`` bash takes a free one and sets the variable."""
        if not name.startswith("{"):
            return int(name) if name.isdigit() else None
        number = next(
            free
            for free in range(10, 99)
            if str(free) not in self.state.descriptors and f"/dev/fd/{free}" not in self.state.files
        )
        self.state.variables[name.strip("{}")] = word(str(number))
        return number

    def _deliver(self, printed: Word, target: Word | None) -> None:
        opened = self.state.descriptors.get("1") if target is None else None
        if opened and opened.target.text in self.sinks:
            self.write(opened.target, printed, append=True)
        elif target is None or target.text in _SAME_OUTPUT:
            self.print(printed)
        elif target.source == "?":
            self.print(unknown(printed.sources) if printed.pieces else EMPTY)
        elif target.text == "&":
            self.errors += bool(printed.pieces)
        elif target.text not in _NO_OUTPUT:
            self.write(target, printed, append=">>" in target.source)


def _takes_errors(redirection: Redirection) -> bool:
    return (redirection.operator, redirection.descriptor, redirection.target.source) == (">&", "2", "1")


def _in_order(array: Array) -> Array:
    """As bash lists it: by number. An associative array has an order that nobody foresees."""
    return dict(sorted(array.items(), key=lambda item: int(item[0]))) if all(map(str.isdecimal, array)) else array


def _word(raw: Raw | Assignment) -> str | None:
    return raw.plain if isinstance(raw, Raw) else None


def _echo(args: list[Word]) -> Word:
    texts = [each.text if each.known and not each.globs else "" for each in args]
    count, newline, escapes = echo_options(texts)
    glued = concatenate(
        [*[each for value in args[count:] for each in (word(" "), value)][1:], word("\n" if newline else "")]
    )
    if not escapes:
        return glued
    text = literal(glued)
    plain = None if text is None else unescape(text)
    return unknown(glued.sources) if plain is None or "\0" in plain else word(plain)
