"""Load hooks and read events for a command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace

from hookline.cli.output import safe
from hookline.cli.stdio import decode_text
from hookline.core.agents import all_agents
from hookline.core.errors import ConfigError, DataError
from hookline.core.event import EVENTS, Event
from hookline.core.files import read_text
from hookline.core.paths import home_directory, project_root, upwards
from hookline.core.problem import Problem
from hookline.core.typed import TYPE_CHECKING, Any, BinaryIO
from hookline.dialects import DIALECTS, dialect_named
from hookline.dialects.base import FOREIGN
from hookline.engine.build import READ_ONLY, Runtime, Sources, StoreOptions, load_runtime
from hookline.gateway.notices import approval_lines, problem_lines, trust_lines

if TYPE_CHECKING:
    from argparse import Namespace

    from hookline.core.hook import HookSpec
    from hookline.core.result import Decision
    from hookline.gateway.required_events import Unregistered


#: Bytes of an event's data: some files never end (/dev/zero).
_MOST_BYTES = 256 << 20


def build_runtime(args: Namespace | SimpleNamespace, stores: StoreOptions | None = None, **more: Any) -> Runtime:
    """The hooks that the command line selects. Those that cannot be loaded are reported; the others work."""
    if args.dialect:
        dialect_named(args.dialect)
    trust_all = os.environ.get("HOOKLINE_TRUST") == "all"
    sources = Sources(config=args.config or None, dialect=args.dialect, trust_all=trust_all, **more)
    return load_runtime(sources, stores or StoreOptions(), reuse=stores is not None and not stores.record)


def look(**sources: Any) -> Runtime:
    """What the files say; nothing of it will run."""
    runtime = load_runtime(Sources(**sources), READ_ONLY)
    runtime.engine.close()
    return runtime


def require_readable(runtime: Runtime, files: list[str]) -> None:
    """Raise ConfigError for a named file that yields nothing but errors."""
    useful = {spec.origin.file for spec in runtime.loaded.specs}
    for file in map(os.path.abspath, files):
        broken = [one for one in runtime.loaded.problems if one.file == file and one.severity == "error"]
        if broken and file not in useful:
            raise ConfigError("\nhookline: ".join(map(str, broken)))


def tell_problems(runtime: Runtime) -> None:
    """Print problems on stderr: a guard that could not be loaded fails open, and must not go unnoticed."""
    for line in problem_lines(runtime):
        print(f"hookline: {safe(line)}", file=sys.stderr)


def tell_warnings(specs: Sequence[HookSpec], cwd: str) -> None:
    """Print on stderr which of these hooks look right, and never run, cannot run or cannot refuse."""
    from hookline.engine.lint import lint  # noqa: PLC0415  an agent's call needs none of it

    for problem in lint(specs, cwd, os.environ):
        print(f"hookline: {safe(str(problem))}", file=sys.stderr)


def tell_unapproved(runtime: Runtime) -> None:
    """Print on stderr what has no effect here because nobody approved it: silence would look like a working guard."""
    for line in approval_lines(runtime)[: len(runtime.unapproved)]:  # the rest is in problem_lines
        print(f"hookline: {safe(line)}", file=sys.stderr)


def files_of_other_systems() -> Iterator[tuple[str, str]]:
    """Dialect and path of every file of the project that another system reads."""
    cwd, home = os.getcwd(), home_directory(os.environ)
    for name in _systems_around(cwd, project_root(cwd, home)):
        places = dialect_named(name).places(cwd, home, os.environ) if name != "native" else ()
        yield from ((name, one.path) for one in places if one.layer in FOREIGN and os.path.isfile(one.path))


def _systems_around(cwd: str, root: str) -> Iterator[str]:
    """Agents with a folder or file in the project, and systems with a file of their name here or above, where they look
    too: asking all of them would load all."""
    files = {row.dialect: row.files.get("project", "") for row in all_agents().values()}
    for name in DIALECTS:
        own = os.path.dirname(files[name]) or files[name] if name in files else ""
        places = (os.path.join(root, own),) if own else (os.path.join(one, f"{name}.yaml") for one in upwards(cwd))
        if any(map(os.path.exists, places)):
            yield name


def unread_files(runtime: Runtime) -> Iterator[Problem]:
    """Files of other systems with hooks, which run for that system only: who has them may expect them everywhere."""
    read = {source.path for source in runtime.loaded.sources}
    for dialect, path in files_of_other_systems():
        text = read_text(path) or ""
        if path not in read and "hooks" in text and "hookline hook" not in text:  # those call us for every hook
            finding = f"these hooks run for {dialect} only; to see them: hookline list --dialect {dialect}"
            fix = "to run them in every agent, make the file a source: hookline help use-existing-hooks"
            yield Problem(file=path, severity="note", pointer="$", finding=finding, fix=fix)


def missing_registrations(runtime: Runtime, more: Sequence[HookSpec] = ()) -> list[Unregistered]:
    """Which agents do not call hookline for an event that these hooks need; ``more`` were approved just now."""
    from hookline.core.agents import all_agents  # noqa: PLC0415  an agent's call needs none of these
    from hookline.engine.lint_matchers import server_problems  # noqa: PLC0415
    from hookline.gateway.required_events import (
        Unregistered,
        active_hooks,
        empty_events,
        events_without_sender,
        missing_events,
        scopes_by_agent,
    )

    home = home_directory(os.environ)
    hooks, place = (*active_hooks(runtime), *more), (runtime.engine.cwd, home, os.environ)
    calling = scopes_by_agent(all_agents().values(), *place)
    agents = [all_agents()[name] for name in calling]
    around = (agents, *place)
    hidden = [
        Unregistered(path=one.file, finding=one.finding, fix=one.fix, does="run it there too")
        for agent in agents
        for one in server_problems(hooks, agent)
    ]
    return [
        *missing_events(hooks, *around, unwanted=empty_events(runtime)), *events_without_sender(hooks, *around), *hidden
    ]  # fmt: skip


def tell_untrusted(decision: Decision) -> None:
    """Print untrusted hooks on stderr too: a hook must not stay out silently."""
    for line in trust_lines(decision):
        print(f"hookline: {safe(line)}", file=sys.stderr)


def read_event(args: Namespace | SimpleNamespace, runtime: Runtime) -> Event:
    """The event with its data; names may be canonical or the dialect's own."""
    data = read_data(args.data)
    name, implied = canonical_name(args.event, args.dialect, data)
    data = {**implied, **data}
    return runtime.engine.event(name, data, session=args.session, agent=args.agent, native_name=args.event)


def canonical_name(name: str, dialect: str | None, data: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The canonical event, and the data that the dialect's own event name implies."""
    if dialect:
        spoken = dialect_named(dialect)
        known = spoken.events.get(name)
        if known is not None:
            failed = known == "PostToolUse" and "tool_error" in data
            implied = getattr(spoken, "implied", {}).get(name, {})
            return "PostToolUseFailure" if failed else known, implied
    if name in EVENTS or ":" in name:
        return name, {}
    from hookline.dialects.event_lookup import unknown_event

    raise unknown_event(name, dialect)


def read_data(text: str) -> dict[str, Any]:
    """The object given as JSON, in a file (@FILE) or on standard input (-)."""
    source, where = _source(text)
    try:
        value = json.loads(source, parse_constant=lambda name: _no_json(name, source))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise DataError(
            f'{where} is not JSON: {error.msg} at {place}; give an object like \'{{"tool_name": "Bash"}}\''
        ) from None
    except ValueError:  # Python's limit on the digits of a whole number
        raise DataError(f"{where} has a number that is too long; give it as text") from None
    except RecursionError:
        raise DataError(f"{where} is nested too deeply; give a flatter object") from None
    if not isinstance(value, dict):
        raise DataError(
            f'{where} must be a JSON object, not {_kind(value)}; give an object like \'{{"tool_name": "Bash"}}\''
        )
    return value


def _no_json(name: str, source: str) -> None:
    """Python reads NaN and Infinity as numbers, but a hook in another language could not."""
    import re  # noqa: PLC0415  only bad data needs it

    outside_texts = re.finditer(r'"(?:[^"\\]|\\.)*"|-?[A-Z]\w+', source, re.DOTALL)
    place = next((found.start() for found in outside_texts if found.group() == name), 0)
    raise json.JSONDecodeError(f"{name} is not a JSON number", source, place)


def _source(text: str) -> tuple[str, str]:
    try:
        if text == "-":
            return decode_text(_read_stdin()), "standard input"
        if text.startswith("@"):
            with open(text[1:], "rb") as file:
                return decode_text(_whole(file, text[1:]), text[1:]), text[1:]
    except OSError as error:
        raise DataError(f"cannot read {text[1:]!r}: {error.strerror}") from None
    return text, "--data"


def _read_stdin() -> bytes:
    # A caller may have closed it; Python then has none at all.
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  typeshed leaves this out
        raise DataError("standard input is closed; pipe the event's data into it")
    return _whole(sys.stdin.buffer, "standard input")


def _whole(file: BinaryIO, where: str) -> bytes:
    content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"{where} is larger than {_MOST_BYTES >> 20} MiB; give less data")
    return content


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}
    return kinds.get(type(value), "null")
