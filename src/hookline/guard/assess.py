"""From what a command would start to its effects: each program by its table, then the flow of data between them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from hookline.core._dataclass import replace
from hookline.guard.budget import LimitReached
from hookline.guard.builtins import BUILTINS
from hookline.guard.call import ProgramCall, Scene
from hookline.guard.effects import Effect, Harm
from hookline.guard.flows import flow_effects
from hookline.guard.paths import absolute
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.programs import HANDLERS
from hookline.guard.programs.rows import row_effects
from hookline.guard.read_only import programs_read
from hookline.guard.read_only_lists import listing
from hookline.guard.reading import Invocation, Reading, Word, cut
from hookline.guard.wrappers import wrapper

#: More programs or words than this in one command are not judged one by one.
_MOST = 400
_MOST_WORDS = 2_000
_MOST_LINKS = 20
#: A loop that waits for what it started is no bomb.
_WAITS = lazy_pattern(r"(?<!\()\bwait\b")
#: Words of fish and PowerShell, in a text that bash would refuse.
_FOREIGN = lazy_pattern(
    r"(?im)^\s*[\w./-]+( [^\s$(<>]+)* \((?!\))|(^|[;\n}])\s*(end\b|and |or |not |begin\b|switch |set -[gxUl]|function [\w-]+\s*($|;)|else if )|\$\w+\s*=\s|\b(foreach-object|where-object|get-\w+|set-\w+|remove-\w+|new-\w+|invoke-\w+|write-host|start-\w+|stop-\w+)\b|-(eq|ne|like|match)\s"
)
_GAINS = frozenset({"sudo", "doas", "run0"})


def assess(reading: Reading, scene: Scene) -> tuple[Effect, ...]:
    """All effects of a command, each once, in the order of their causes."""
    return tuple(dict.fromkeys(_gentle(reading, scene, _effects(reading, scene))))


def _effects(reading: Reading, scene: Scene) -> Iterator[Effect]:
    try:
        yield from _found(reading, scene)
    except LimitReached:
        yield Effect(kind="unknown", harm="high", what=reading.text[:80], why="it does more than can be judged in time")


def _found(reading: Reading, scene: Scene) -> Iterator[Effect]:
    for source in (one for one in reading.bombs if not _WAITS.search(one.rpartition("&")[2])):
        yield Effect(
            kind="exhaust", harm="critical", what=source[:80], cause=source[:200], why="it starts processes without end"
        )
    for doubt in reading.doubts:
        if doubt.piped:
            continue
        foreign = doubt.syntax and _FOREIGN.search(reading.text)
        harm: Harm = "low" if (doubt.syntax and not foreign) or doubt.part else "high" if doubt.limit else "medium"
        why = "it looks like the syntax of another shell, which is not read" if foreign else doubt.reason
        yield Effect(kind="unknown", harm=harm, what=doubt.source[:80], cause=doubt.source[:200], why=why)
    known = _within_limits(reading.invocations)
    linked = _with_links(scene, known)
    if len(known) < len(reading.invocations):
        yield Effect(kind="unknown", harm="high", why="it has more programs or words than are judged")
    for one in known:
        yield from _one(ProgramCall(invocation=one, scene=scene if one.name == "ln" else linked))
    yield from flow_effects(known, linked)


def _with_links(scene: Scene, programs: Iterable[Invocation]) -> Scene:
    """``ln -s / x; rm -rf x/``: paths lead through links that this very command makes."""
    links: dict[str, str] = {}
    for one in [one for one in programs if one.name == "ln"][:_MOST_LINKS]:
        named = [word.text for word in one.argv[1:] if word.known and not word.text.startswith("-")]
        if named and any(re.match(r"-\w*s|--sy", word.text) for word in one.argv[1:]):
            folder = ProgramCall(invocation=one, scene=scene).directory or "/"
            link = absolute(named[-1] if len(named) > 1 else posixpath.basename(named[0]), scene.places, folder)
            links[link] = absolute(named[0], scene.places, posixpath.dirname(link))
    if not links:
        return scene

    def resolve(path: str) -> str:
        for link, target in links.items():
            if path == link or path.startswith(link + "/"):
                path = posixpath.normpath(target + path[len(link) :])
        return scene.places.resolve(path)

    return replace(scene, places=replace(scene.places, resolve=resolve))


def _within_limits(invocations: tuple[Invocation, ...]) -> tuple[Invocation, ...]:
    """As many as can be judged in time."""
    words = 0
    for number, one in enumerate(invocations):
        words += len(one.argv)
        if number >= _MOST or words > _MOST_WORDS:
            return invocations[:number]
    return invocations


def _gentle(reading: Reading, scene: Scene, effects: Iterable[Effect]) -> Iterator[Effect]:
    """Rights of another user matter little to programs that only read."""
    behind = [one for one in reading.invocations if _GAINS & set(one.wrappers)]
    reads = programs_read(behind, scene)
    for effect in effects:
        yield replace(effect, harm="low") if reads and effect.kind == "privilege" else effect


#: Variables whose value a program runs as a command, and those that load code into it.
_RUN_BY_NAME = lazy_pattern(
    r"(\w*PAGER|(GIT_|GIT_SEQUENCE_)?EDITOR|VISUAL|GIT_(SSH_COMMAND|EXTERNAL_DIFF|ASKPASS)|PROMPT_COMMAND|BROWSER|RSYNC_RSH|LESSOPEN|LESSCLOSE)$"
)
_LOADS = lazy_pattern(r"(LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|PERL5OPT|PYTHONSTARTUP|RUBYOPT)$")


#: Settings of programs that check a commit, with which they do not.
_SKIPS = lazy_pattern(
    r"(HUSKY|LEFTHOOK)=(0|false)|OVERCOMMIT_DISABLE=1|(HUSKY_SKIP_HOOKS|PRE_COMMIT_ALLOW_NO_CONFIG)=1|SKIP=.+"
)


def _surroundings(call: ProgramCall) -> Iterator[Effect]:
    for name, value in call.invocation.environment:
        if _RUN_BY_NAME.fullmatch(name) and (value.known or value.sources):
            yield from call.shell(cut(value, len(value.prefix) - len(value.prefix.lstrip("|"))))
        elif call.name == "git" and _SKIPS.fullmatch(f"{name}={value.text}"):
            yield call.effect("git-bypass", "medium", f"{name}={value.text}", why="the project's checks are skipped")
        elif name == "PATH" and any(call.place(Word((one,))).name == "temp" for one in value.text.split(":")):
            yield call.effect("unknown", "medium", value.text, why="programs are taken from a temporary directory")
        elif name.startswith("HOOKLINE_"):
            yield call.effect("guard", "medium", name, why="it tells hookline to look elsewhere")
        elif _LOADS.fullmatch(name):
            yield call.effect("unknown", "medium", f"{name}={value.text}", why="it loads other code into the program")


def _one(call: ProgramCall) -> Iterator[Effect]:
    for redirect in call.invocation.redirects:
        if redirect.operator != "<":
            yield from call.write(redirect.target, append=redirect.operator.endswith(">>"))
    if not call.invocation.argv:
        return
    yield from _surroundings(call)
    if not call.name or call.invocation.argv[0].globs:
        yield from _nameless(call) if call.invocation.argv[0].text else ()  # nothing is called ""
        return
    if "=" in call.name and "/" not in call.name:
        yield call.effect("unknown", "medium", call.name, why="it may be an assignment of another shell")
        yield from call.argv(call.words)
    handlers = HANDLERS.get(call.name) or HANDLERS.get(_family(call.name), ())
    for handler in handlers:
        yield from handler(call)
    yield from row_effects(call, call.name, _family(call.name))
    if not handlers and wrapper(call.name) is None and call.name not in BUILTINS:
        yield from _handed_on(call)


#: Words by which one sees that a command begins, and options whose value is one.
_BEGINS = words("rm dd git shred chmod chown mkfs mkfs.ext4 sh bash zsh")
_OPTION = lazy_pattern(r"-c|--(command|cmd|exec|run|scripts?|shell-command)")
_LINE = lazy_pattern(r"\s*(sudo\s+)?(rm|git|dd|mkfs\S*|shred|chmod|chown|find|mv|curl|wget)\s+\S")


def _handed_on(call: ProgramCall) -> Iterator[Effect]:
    """A program that no table knows may start what stands in its words; only grave things are worth the doubt."""
    found: list[Effect] = []
    listed = listing(call.name)
    for index, word in enumerate(call.words):
        name, equals, _ = word.prefix.partition("=")
        before = call.words[index - 1].text if index else ""
        value = cut(word, len(name) + 1) if equals and _OPTION.fullmatch(name) else word
        if (value is not word or _OPTION.fullmatch(before)) and _LINE.match(value.text):
            found += call.shell(value)
        elif word.text in _BEGINS and listed is None:
            found += call.argv(call.words[index:])
            break
    for one in found:
        if one.harm in {"high", "critical"}:
            yield replace(one, harm="high", why=f"{one.why}, if {call.name} starts what stands behind it")


def _family(name: str) -> str:
    """``python3.12`` is python, ``mkfs.whatever`` is mkfs."""
    return "mkfs" if name.startswith("mkfs.") else re.sub(r"[\d.]+$", "", name)


def _nameless(call: ProgramCall) -> Iterator[Effect]:
    """A program whose name is not known. What it would be as ``rm`` decides how much that matters."""
    places = [call.place(word) for word in call.words if word.known]
    grave = any(place.whole and place.name in {"root", "home", "system"} for place in places)
    forced = any(re.fullmatch(r"-\w*[rRf]\w*", text) for text in call.texts)
    harm: Harm = "high" if grave and forced else "medium"
    program = call.invocation.argv[0]
    yield call.effect("unknown", harm, program.source or program.text, why="which program it starts is not known")
