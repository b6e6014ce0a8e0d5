"""What programs do, by the rows of the tables.

A section may have these lines:

``options SPEC``            the options, as ``parse_options`` takes them
``free WORD…``              with one of these words nothing happens (a dry run), beside the usual ones
``not-free WORD…``          of the usual ones, those that mean something else here
``flags OPTION…``           options before the action that take no value, though elsewhere they do
``input``                   what stands on standard input counts as words
``run KEY…``                values of these options are commands for a shell; ``operands`` are the operands
``write KEY…``, ``read …``  they are files that are written, or read
``KIND HARM: why -> safer`` an effect; below it the conditions, one of which must hold

A condition ``/REGEX`` matches the words from the action on, without the options before it; ``/* REGEX`` begins at any
word. Else it is a list of which all must hold: ``key`` (the option is given), ``!key``, ``key=REGEX`` (its value),
``2=REGEX`` (the second operand), ``1`` (there is a first operand), ``!1``. Of the rows of one kind, the first that holds counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, cast

from hookline.guard.call import ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.options import GivenOptions, parse_options
from hookline.guard.pattern import words
from hookline.guard.reading import Word
from hookline.guard.tables import lines, sections

_FREE: Final = words("--help -help -h --dry-run --dryrun --dry-run=client --dry-run=server --what-if")
#: Options with a value that may stand before the action.
_SKIP: Final = words(
    "-n --namespace --context --kubeconfig --cluster --user -s --server --profile --region --output --endpoint-url"
    " --project --subscription --account --format --configuration -H --host -c --log-level --config -f --file -p"
    " --project-name --env-file --chdir -R --repo --prefix -C --cwd --registry -h -a -u --tenant -t --kube-context"
    " --query -o -g --resource-group -w --workspace --stack --app --token --filter --dir"
)
_FILES: Final = ("infrastructure.txt", "packages.txt", "databases.txt", "system.txt", "git.txt")
#: Letters of a call that are compared with the patterns of rows, which takes time.
_LONGEST = 4_000
_REMOTE: Final = words("infrastructure database publish")


class _Row(NamedTuple):
    kind: str
    harm: Harm
    why: str
    safer: str
    first: re.Pattern[str] | None
    anywhere: re.Pattern[str] | None
    conditions: tuple[tuple[str, ...], ...]


class _Section(NamedTuple):
    options: str | None
    free: frozenset[str]
    skip: frozenset[str]
    takes_input: bool
    #: (run, write or read) -> options, or ``operands``.
    values: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[_Row, ...]


@cache
def section(name: str) -> _Section | None:
    """The section of a program, or of ``program: sub-command``."""
    body = "".join(sections(file).get(name, "") for file in _FILES)
    if not body:
        return None
    options, free, skip, takes_input = None, set(_FREE), set(_SKIP), False
    values: list[tuple[str, tuple[str, ...]]] = []
    rows: list[_Row] = []
    for line in lines(body):
        head, _, rest = line.text.partition(" ")
        match head:
            case "options":
                options = rest
            case "free":
                free.update(rest.split())
            case "not-free":
                free.difference_update(rest.split())
            case "flags":
                skip.difference_update(rest.split())
            case "input":
                takes_input = True
            case "run" | "write" | "read":
                values.append((head, tuple(rest.split())))
            case _:
                rows.append(_row(head, rest, line.below))
    return _Section(options, frozenset(free), frozenset(skip), takes_input, tuple(values), tuple(rows))


def _row(kind: str, rest: str, below: Sequence[str]) -> _Row:
    harm, _, text = rest.partition(":")
    why, _, safer = text.strip().partition(" -> ")
    anywhere = [one[3:] for one in below if one.startswith("/* ")]
    first = [one[1:] for one in below if one.startswith("/") and not one.startswith("/* ")]
    conditions = tuple(tuple(one.split()) for one in below if not one.startswith("/"))
    return _Row(kind, cast("Harm", harm), why, safer, _compile("", first), _compile(r"(?:.* )?", anywhere), conditions)


def _compile(before: str, patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile(f"{before}(?:{'|'.join(patterns)})", re.IGNORECASE) if patterns else None


def row_effects(call: ProgramCall, *names: str) -> Iterator[Effect]:
    """The effects of a program by the section of the first of these names that has one."""
    found = next((one for one in map(section, names) if one is not None), None)
    if found is not None:
        yield from section_effects(call, found, call.words)


def prints_secret(call: ProgramCall) -> bool:
    """A row says that the program prints a credential: ``gh auth token``."""
    found = section(call.name)
    shows = found is not None and any(row.kind == "secret" for row in found.rows)
    return shows and any(one.kind == "secret" for one in row_effects(call, call.name))


def section_effects(
    call: ProgramCall, found: _Section, given: Sequence[Word], settings: Mapping[str, Word] | None = None
) -> Iterator[Effect]:
    """``given`` are the words after the program or its sub-command; ``settings`` count as options ``c:name``."""
    stdin = call.invocation.stdin
    if found.takes_input and stdin is not None:
        given = (*given, *(Word((part,), part) for part in stdin.text.split()))
    texts = [word.text for word in given]
    end = texts.index("--") if "--" in texts else len(texts)
    if found.free & set(texts[:end]) or texts[:1] == ["help"]:
        return
    options = parse_options(given, found.options or "")
    if found.options is not None and (options.informs or "dry-run" in options):
        return
    for action, keys in found.values:
        yield from _use(call, action, _values(options, keys))
    whole = " ".join(texts)
    line = " ".join(_action(texts, found.skip))
    if len(whole) > _LONGEST and any(row.first or row.anywhere for row in found.rows):
        yield call.effect("unknown", "medium", line[:80], why="it is too long to be judged to its end")
        whole, line = whole[:_LONGEST], line[:_LONGEST]
    if call.name.endswith("-compose"):
        line = f"compose {line}"
    seen: set[str] = set()
    for row in found.rows:
        if row.kind not in seen and _holds(row, line, whole, options, settings or {}):
            seen.add(row.kind)
            where = "device" if row.kind == "device" else "remote" if row.kind in _REMOTE else ""
            yield call.effect(row.kind, row.harm, line or whole, where=where, why=row.why, safer=row.safer)


def _values(options: GivenOptions, keys: tuple[str, ...]) -> tuple[Word, ...]:
    return (*options.values(*keys), *(options.operands if "operands" in keys else ()))


def _use(call: ProgramCall, action: str, given: tuple[Word, ...]) -> Iterator[Effect]:
    for word in given:
        yield from call.shell(word) if action == "run" else call.write(word) if action == "write" else call.read(word)


def _action(texts: Sequence[str], skip: frozenset[str]) -> list[str]:
    """The words from the action on; options before it, and their values, are left out."""
    rest = list(texts)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in skip and rest:
            rest.pop(0)
    return rest


def _holds(row: _Row, line: str, whole: str, options: GivenOptions, settings: Mapping[str, Word]) -> bool:
    if (row.first and row.first.match(line)) or (row.anywhere and row.anywhere.match(whole)):
        return True
    return any(all(_meets(one, options, settings) for one in condition) for condition in row.conditions)


def _meets(condition: str, options: GivenOptions, settings: Mapping[str, Word]) -> bool:
    if condition.startswith("!"):
        return not _meets(condition[1:], options, settings)
    key, equals, pattern = condition.partition("=")
    if key.isdigit():
        values = options.operands[int(key) - 1 : int(key)]
    elif key.startswith("c:"):
        values = (settings[key[2:]],) if key[2:] in settings else ()
    else:
        values = options.values(key)
        if not equals:
            return key in options
    return any(re.fullmatch(pattern, word.text, re.IGNORECASE) for word in values) if equals else bool(values)
