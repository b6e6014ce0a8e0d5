"""The verdict on a call of an agent's own tools: files that it reads or edits, addresses that it fetches, MCP tools."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final

from hookline.core.tool_names import CANONICAL, tool_fields
from hookline.guard.addresses import address_effects
from hookline.guard.effects import Effect, Harm
from hookline.guard.patches import patch_targets
from hookline.guard.paths import KnownPlaces, expand_home, locate_path
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.policy import READY, Policy
from hookline.guard.programs.databases import without_comments
from hookline.guard.sensitive import CREDENTIAL, edit_kind, secret_harm
from hookline.guard.verdict import Surroundings, Verdict, decide, here, judge

_WRITES: Final = words("Write Edit MultiEdit NotebookEdit")
_LONGEST_PATH: Final = 4_096
_LONGEST_TEXT: Final = 50_000
_MOST_FILES: Final = 500
_READS: Final = words("Read NotebookRead Grep Glob LS")
_LISTS: Final = frozenset({"Glob", "LS"})
_FETCHES: Final = frozenset({"WebFetch", "WebSearch"})
_PATH_FIELDS: Final = ("file_path", "path", "notebook_path", "filename", "paths", "file_paths")
#: Parts of an MCP tool's input that name files, and those that name where something goes.
_NAMES_FILE: Final = lazy_pattern(r"(?i)(\w*(path|file|folder|dir|directory|uri)s?(name)?|source|src|old|location)")
_TARGETS: Final = ("destination", "dest", "dst", "target", "new_path", "newPath", "to")
_BY_LETTERS: Final = {name.lower(): name for name in (*CANONICAL.values(), "MultiEdit", "NotebookRead", *CANONICAL)}

# What the words in the name of an MCP tool say that it does.
_MCP_WRITES: Final = words("write edit create update move append patch save put rename copy")
_MCP_DELETES: Final = lazy_pattern(r"(^|_)(delete|remove|drop|destroy|purge|truncate|wipe|kill|terminate|(rm|rmdir|unlink|erase)(?=_|$))")  # fmt: skip
_MCP_SENDS: Final = words("send post upload publish share email comment submit")
_MCP_RUNS: Final = words(
    "run exec execute shell bash sh terminal command cmd process spawn start eval keys console repl"
)
_COMMANDS: Final = ("command", "cmd", "script", "shell_command", "commandLine", "argv", "input", "keys")
_CODE: Final = ("code", "source_code", "expression")
_LANGUAGES: Final = (
    (words("python py python3 ipython jupyter"), ("python3", "-c")), (words("node js javascript typescript ts deno"), ("node", "-e")),
    (words("bash sh shell zsh"), ("bash", "-c")), (words("ruby rb"), ("ruby", "-e")), (words("php"), ("php", "-r")),
)  # fmt: skip
_SQL: Final = lazy_pattern(r"(?i)\s*(drop|truncate|delete|alter|update|with|begin|insert)\b")


def judge_tool(
    tool_name: str,
    tool_input: Mapping[str, Any],
    *,
    policy: Policy | str = "standard",
    around: Surroundings | None = None,
    today: date | None = None,
) -> Verdict:
    """What a policy says to a tool call, by the names of any agent; a shell's command is judged by ``judge``."""
    around = around or here()
    policy = READY[policy] if isinstance(policy, str) else policy
    given = {**tool_input}
    fields = tool_fields(_BY_LETTERS.get(tool_name.lower(), tool_name), given, around.cwd)
    tool, values = fields["tool_name"], fields.get("tool_input", given)
    text, raw = values.get("command"), given.get("command")
    legible = not isinstance(raw, list) or all(isinstance(word, str) for word in raw)
    if tool == "Bash" and isinstance(text, str) and legible:
        return judge(text, policy=policy, around=around, today=today)
    effects = tuple(dict.fromkeys(_effects(tool, values, around.places())))
    for text in _commands(tool, values):
        effects += judge(text, policy=policy, around=around, today=today).effects
    grant = policy.allow_read_only and tool in _READS and all(one.harm == "low" for one in effects)
    return decide(effects, policy, around.home, command=tool, today=today, grant=grant)


def _joined(command: Any) -> str:
    """An argv as a line of shell: ``["bash", "-lc", "…"]``."""
    return " ".join(shlex.quote(str(word)) for word in command) if isinstance(command, (list, tuple)) else str(command)


def _effects(tool: str, values: Mapping[str, Any], places: KnownPlaces) -> Iterator[Effect]:
    if tool == "Bash" or not tool:
        yield _effect(tool or "a call of no tool", "unknown", "high", "its input", why="no command can be read in it")
    elif tool in _WRITES:
        paths = [*dict.fromkeys((*_paths(values), *_patched(values)))]
        for path in paths[:_MOST_FILES]:
            yield from _edit(path, places, tool)
        if len(paths) > _MOST_FILES:
            yield _effect(tool, "unknown", "high", tool, why="it changes more files than are judged")
        if not paths:
            yield _effect(tool, "unknown", "high", "its input", why="no file can be read in it")
    elif tool in _READS:
        for path in _paths(values) if tool not in _LISTS else ():
            yield from _look(path, places, tool)
        if tool == "Grep" and isinstance(values.get("glob"), str):
            yield from _look(values["glob"], places, tool)
    elif tool in _FETCHES:
        yield from address_effects(values, tool)
    elif tool.lower().startswith("mcp__"):
        yield from _served(tool, values, places)


def _strings(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(one, str) and one:
            yield one


def _paths(values: Mapping[str, Any]) -> Iterator[str]:
    return (path for name in _PATH_FIELDS for path in _strings(values.get(name)))


def _patched(values: Mapping[str, Any]) -> Iterator[str]:
    for name in ("patch", "input", "command", "diff", "patchText"):
        yield from patch_targets("\n".join(_strings(values.get(name))))


def _effect(tool: str, kind: str, harm: Harm, what: str, *, where: str = "", why: str = "") -> Effect:
    return Effect(kind=kind, harm=harm, what=what[:200], where=where, why=why, cause=tool)


def _edit(path: str, places: KnownPlaces, tool: str) -> Iterator[Effect]:
    place = locate_path(_local(path, places), places, places.cwd, follow=True)
    special = edit_kind(place.path)
    if special is not None:
        kind, harm, why = special
        yield _effect(tool, kind, harm, path, where=place.name, why=why)
    elif secret_harm(place.path):
        yield _effect(tool, "secret", "medium", path, where=place.name, why="it holds credentials")
    elif place.name in {"system", "root", "device"}:
        yield _effect(tool, "overwrite", "high", path, where=place.name, why="the system depends on it")
    elif place.outside:
        yield _effect(tool, "overwrite", "medium", path, where=place.name, why="it is outside the project")
    else:
        yield _effect(tool, "overwrite", "low", path, where=place.name)


def _look(path: str, places: KnownPlaces, tool: str) -> Iterator[Effect]:
    place = locate_path(_local(path, places), places, places.cwd, follow=True)
    if harm := secret_harm(place.path) or secret_harm(places.resolve(place.path)):
        yield _effect(tool, "secret", harm, path, where=place.name, why="it holds credentials")


def _local(path: str, places: KnownPlaces) -> str:
    """A path as a program would open it: without the scheme, up to a NUL, with the home that it names."""
    path = path.partition("\0")[0]
    if len(path) > _LONGEST_PATH:  # no system opens it, but a program may shorten it before
        path = posixpath.normpath(path)[:_LONGEST_PATH]
    path = re.sub(r"^(?i:file:)(//(localhost)?(?=/))?", "", path)
    return expand_home(re.sub(r"^\$(HOME\b|\{HOME\})", "~", path), places.home)


# ── tools of MCP servers ─────────────────────────────────────────────────────────────────────────────


def _verb(tool: str) -> str:
    """``mcp__fs__writeFile`` writes: write_file."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", tool.rpartition("__")[2]).lower()


def _served(tool: str, values: Mapping[str, Any], places: KnownPlaces) -> Iterator[Effect]:
    """A tool of an MCP server, by the verb in its name and the paths and addresses in its input."""
    verb, parts = _verb(tool), {*_verb(tool).split("_")}
    paths = [path for name, value in values.items() if _NAMES_FILE.fullmatch(name) for path in _strings(value)]
    paths = [path for path in paths if "://" not in path or path.lower().startswith("file:")]
    for path in paths:
        yield from _edit(path, places, tool) if parts & _MCP_WRITES else _look(path, places, tool)
    yield from address_effects(values, tool)
    if _MCP_DELETES.search(verb) and not paths:
        yield _effect(tool, "infrastructure", "medium", verb, where="remote", why="something elsewhere is deleted")
    elif parts & _MCP_SENDS:
        yield _effect(tool, "send", "medium", verb, where="remote", why="others can see it")
    if parts & (_MCP_SENDS | _MCP_WRITES) and not paths and CREDENTIAL.search(repr(values)[:_LONGEST_TEXT]):
        yield _effect(tool, "send", "high", verb, where="remote", why="a credential leaves the machine")


def _commands(tool: str, values: Mapping[str, Any]) -> Iterator[str]:
    """What an MCP server is told to run, to delete or to move, as commands of a shell."""
    if tool == "Delete":
        yield from (_joined(["rm", "-rf", "--", path]) for path in _paths(values))
    if not tool.lower().startswith("mcp__"):
        return
    verb, named = _verb(tool), {*re.split(r"[_-]+", tool.lower()), *_verb(tool).split("_")}
    yield from _run(values, named)
    sources = [path for key, value in values.items() if _NAMES_FILE.fullmatch(key) for path in _strings(value)]
    targets = [path for key in _TARGETS for path in _strings(values.get(key))]
    if _MCP_DELETES.search(verb):
        whole = [path for key in ("target", "name", "key") for path in _strings(values.get(key)) if path[0] in "/~."]
        yield from (_joined(["rm", "-rf", "--", path]) for path in (*sources, *whole))
    elif sources and targets and named & {"move", "rename", "copy", "mv", "cp"}:
        program = ["cp", "-r"] if named & {"copy", "cp"} else ["mv"]
        yield _joined([*program, "--", *sources, targets[0]])


def _run(values: Mapping[str, Any], named: set[str]) -> Iterator[str]:
    runs = bool(named & _MCP_RUNS)
    for name in _COMMANDS:
        if given := values.get(name):
            text = given if isinstance(given, str) else _joined(given)
            more = values.get("args") if name == "command" else None
            if runs or text.partition(" ")[0] in named:
                yield f"{text} {_joined(more)}" if isinstance(more, list) else text
    if runs and values.get("args") and "command" not in values:
        yield _joined(values["args"])
    language = str(values.get("language") or values.get("kernel") or "").lower()
    for text in (text for name in _CODE for text in _strings(values.get(name)) if runs or "code" in named):
        known = ({language} if language else named) & frozenset().union(*(names for names, _ in _LANGUAGES))
        program = next((program for names, program in _LANGUAGES if known & names), ("python3", "-c"))
        yield _joined([*program, text])
    for name in ("sql", "query", "statement", "statements", "queries"):
        yield from (
            _joined(["psql", "-c", text]) for text in _strings(values.get(name)) if _SQL.match(without_comments(text))
        )
