"""What an agent asks, parsed: the words of its registration, its payload, and where its hooks are looked up.

Everything a caller brings is a value: words, standard input, environment and directory.
"""

from __future__ import annotations

import os
from _blake2 import blake2b  # hashlib would load the whole of OpenSSL for it
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from hookline.core._dataclass import dataclass, fast_constructor, replace
from hookline.core.agents import AGENTS, Agent, full_name
from hookline.core.errors import DataError, UsageError
from hookline.core.event import GUARDED, Event, event_kind
from hookline.core.fast_json import reader
from hookline.core.own_directories import agents_directories
from hookline.core.paths import Directories, Paths, account_home, find_paths
from hookline.core.typed import Any
from hookline.dialects import dialect_named, find_guests
from hookline.dialects.base import Dialect, Incoming
from hookline.gateway.args import HOOK_SYNTAX, parse_plain, parse_seconds
from hookline.gateway.dedupe import Key, event_key

#: NaN and Infinity are not JSON, but some agents write them; for a hook they are null.
_decode = reader(lambda _name: None)

#: Where agents name the event.
_NAME_FIELDS = ("hook_event_name", "event_type", "event", "hookEventName")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookArguments:
    """The command line of ``hookline hook``."""

    agent: str
    event: str = ""
    dialect: str | None = None
    config: tuple[str, ...] = ()
    #: Which registration calls; "" where a person wrote the line by hand.
    registration: str = ""
    #: Seconds until the agent must have an answer; 0.0: as long as its hooks may take (``handler.answer_seconds``).
    deadline: float = 0.0
    #: Where the entry says that the person's files are; None if it does not say.
    directories: Directories | None = None
    #: Some hook must not be skipped: if hookline cannot answer, it refuses.
    fail_closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """A parsed payload, and the place in which its hooks are looked up."""

    arguments: HookArguments
    dialect: Dialect
    payload: Mapping[str, Any]
    event_name: str
    incoming: Incoming
    #: The caller's directory; ``cwd`` is where the agent says it works.
    caller_cwd: str
    cwd: str
    #: Where its session began: its hooks are looked up there, wherever the agent works now.
    project: str
    #: Where it began as far as we have seen it, if the agent does not say it.
    began_in: tuple[str, ...] = ()
    environ: Mapping[str, str]
    home: str
    paths: Paths
    #: Where guards count besides; only if the entry names no directories.
    others: tuple[Directories, ...] = ()
    #: When hooks must be done, so that there is time to answer (``time.monotonic``); 0.0: they have their own limits.
    until: float = 0.0
    #: Gives the process id of the caller, negative where it is the agent itself; None: it is unknown.
    caller_pid: Callable[[], int] | None = None

    @property
    def working_in(self) -> tuple[str, ...]:
        """Where guards are looked for besides: where the agent works, or where it started us if it names no other place,
        and where its session began."""
        return (self.caller_cwd if self.cwd == self.project else self.cwd, *self.began_in)

    def until_then(self, until: float) -> AgentRequest:
        """The same, with this moment; ``replace`` would take ten times as long, and every event passes here."""
        return _make_request(
            arguments=self.arguments, dialect=self.dialect, payload=self.payload, event_name=self.event_name,
            incoming=self.incoming, caller_cwd=self.caller_cwd, cwd=self.cwd, project=self.project, began_in=self.began_in,
            environ=self.environ, home=self.home, paths=self.paths, others=self.others, until=until, caller_pid=self.caller_pid,
        )  # fmt: skip


_make_request = fast_constructor(AgentRequest)


def arguments_from(args: Any) -> HookArguments:
    """From a parser's namespace."""
    return HookArguments(
        agent=args.agent, event=args.event, dialect=args.dialect, config=tuple(args.config),
        registration=args.registration, deadline=parse_seconds(args.deadline),
        fail_closed=args.on_failure == "deny", directories=_named_directories(args),
    )  # fmt: skip


def _named_directories(args: Any) -> Directories | None:
    """Those that the entry names; the others are in their usual places below its home directory."""
    names = ("home", "config_dir", "state_dir", "data_dir")
    given = {name: value for name in names if (value := getattr(args, name, ""))}
    if not given:
        return None
    for name, value in given.items():
        if not os.path.isabs(value):
            raise UsageError(
                f"--{name.replace('_', '-')} {value} is not an absolute path; deploy again: hookline deploy"
            )
    home = given.get("home") or account_home() or "/"
    usual = find_paths({}, home)
    paths = Paths(
        config=given.get("config_dir", usual.config), state=given.get("state_dir", usual.state),
        data=given.get("data_dir", usual.data),
    )  # fmt: skip
    return Directories(home=home, paths=paths)


def parse_arguments(words: Sequence[str]) -> HookArguments | None:
    """From the words themselves; None when they need a parser."""
    args = parse_plain(words, HOOK_SYNTAX)
    try:
        return None if args is None else arguments_from(args)
    except UsageError:
        return None


def parse_request(
    arguments: HookArguments,
    stdin: bytes,
    environ: Mapping[str, str],
    caller_cwd: str,
    find_directories: Callable[[str, Mapping[str, str]], tuple[Directories, ...]] = agents_directories,
    *,
    caller_pid: Callable[[], int] | None = None,
) -> AgentRequest:
    """Raises ``UsageError`` and ``DataError``. ``find_directories`` may have a cache."""
    payload = _parse_payload(stdin)
    dialect = dialect_for_payload(arguments.agent, payload)
    event_name = arguments.event or _event_name(payload)
    incoming = dialect.event_in(event_name, payload, environ)
    if ":" in incoming.event:
        incoming = _known_event(dialect, arguments.event, incoming, payload, environ)
    if incoming.event == "PreToolUse":
        _require_tool(incoming)
    cwd = _working_directory(incoming, caller_cwd)
    named = arguments.directories
    started = _session_project(arguments.agent, environ)
    project = started or cwd
    around = cwd if project == environ.get("HOME") else project  # a session in the home directory is in no project
    own, *others = (named,) if named is not None else find_directories(around, environ)
    request = _make_request(
        arguments=arguments, dialect=dialect, payload=payload, event_name=event_name, incoming=incoming,
        caller_cwd=caller_cwd, cwd=cwd, project=project, began_in=(), environ=environ, home=own.home, paths=own.paths,
        others=tuple(others), until=0.0, caller_pid=caller_pid,
    )  # fmt: skip
    return _with_session(request, started=bool(started))


def _with_session(request: AgentRequest, *, started: bool) -> AgentRequest:
    """With the session of an agent that does not name it, and where the session began, unless the agent says that."""
    agent = _agent_row(request.arguments.agent)
    if agent is not None and agent.session_by_process:
        from hookline.gateway.process_session import with_session

        request = with_session(request, agent)
    session = request.incoming.session
    if started or agent is None or not session:
        return request
    begins = request.incoming.event == "SessionStart"
    places = _session_places()(request.paths.state, agent.name, session, request.cwd, begins=begins)
    return request if places == (request.cwd,) else replace(request, began_in=places)


@cache  # an import inside a function takes microseconds each time
def _session_places() -> Callable[..., tuple[str, ...]]:
    from hookline.gateway.session_places import session_places

    return session_places


def _working_directory(incoming: Incoming, caller_cwd: str) -> str:
    cwd = incoming.cwd if incoming.cwd.isprintable() and incoming.cwd else _possible(incoming.cwd) or caller_cwd
    return cwd if cwd.startswith("/") else os.path.join(caller_cwd, cwd)


def _session_project(agent: str, environ: Mapping[str, str]) -> str:
    """Where the agent says that it was started; "" if it does not say. A guard must not end with a ``cd``."""
    row = _agent_row(agent)
    started = environ.get(row.project_variable, "") if row is not None and row.project_variable else ""
    return _possible(started) if started.startswith("/") else ""


@cache
def _agent_row(agent: str) -> Agent | None:
    return AGENTS.get(agent) or AGENTS.get(full_name(agent))


def _require_tool(incoming: Incoming) -> None:
    """Raises ``DataError``: a matcher fits no call without a name, and the guards behind it would not be asked."""
    name = incoming.data.get("tool_name")
    if not isinstance(name, str) or not name:
        raise DataError(f"the payload of {incoming.native_name} does not say which tool is called: {name!r:.80}")


def _known_event(
    dialect: Dialect, registered: str, incoming: Incoming, payload: Mapping[str, Any], environ: Mapping[str, str]
) -> Incoming:
    """An event that the agent has no such name for: the one that its registration names, or that has this common name,
    so that its guards are asked. An event of the agent's own is left as it is; a name that only the registration has is
    an error, since nobody would be asked."""
    fields = {*_NAME_FIELDS, *getattr(getattr(dialect, "words", None), "named_by", "").split("|")}
    unnamed = {key: payload[key] for key in payload if key not in fields}
    for name in (registered, incoming.native_name):
        known = dialect.event_in(_native_name(dialect, name), unnamed, environ)
        if name and ":" not in known.event:
            return known
    its_own = dialect.event_in("", payload, environ).native_name
    if not registered or registered in {its_own, *dialect.events, *dialect.events.values()}:
        return incoming
    from hookline.dialects.event_lookup import unknown_event

    raise unknown_event(registered, dialect.name)


def _native_name(dialect: Dialect, name: str) -> str:
    """What the agent calls an event that has this common name. Raises ``UsageError`` if that depends on the tool."""
    if name in dialect.events:
        return name
    agent = _agent_row(dialect.name)
    if agent is not None and name in agent.several:
        raise UsageError(f"{agent.title} has several events for {name}; name one: {', '.join(agent.several[name])}")
    return next((theirs for theirs, ours in dialect.events.items() if ours == name), name)


def _possible(path: str) -> str:
    """The path, or "" if no file can have that name."""
    try:
        return "" if b"\0" in os.fsencode(path) else path
    except UnicodeEncodeError:
        return ""


def dialect_for_payload(agent: str, payload: Mapping[str, Any]) -> Dialect:
    """An agent that reads another agent's files calls hookline under that agent's name, with a payload of its own."""
    guest = next((dialect for mark, dialect in _find_guests(agent) if mark in payload), agent)
    return _dialect_named(guest)


# Every event passes here, and an agent's name keeps its meaning for as long as we run.
_dialect_named, _find_guests = cache(dialect_named), cache(find_guests)


def dedupe_key(request: AgentRequest) -> Key:
    """Equal for the same event, whichever registration it comes through.

    Not for one that somebody sends by hand, with other directories or variables, so that no guard is found: its decision
    would be given to the agent.
    """
    arguments, paths = request.arguments, request.paths
    guarded = request.incoming.event in GUARDED
    places = (request.project, *request.working_in, request.home, paths.config, paths.state, paths.data)
    others = (one.paths.config for one in request.others if arguments.dialect or _may_add(one.paths))
    around = (*places, *others, _environ_digest(request.environ)) if guarded else ()
    return event_key(request.incoming, request.cwd, arguments.dialect or "", *arguments.config, *around)


#: What may add a guard or an approval, in the directory of the configuration and in that of the state.
_ADDING = (
    ("config", ("", "../lazy-harness")),
    ("state", ("trust.json", "trust.json.expected", "own-guards.json", "deployed.json", "packs.json", "packs")),
)


def _may_add(paths: Paths) -> bool:
    """Whether hooks may come from there: a file that cannot be looked at counts, and one that is surely not there does
    not, so that an entry that names its directories and one that does not are one event's, wherever HOME is."""
    for folder, names in _ADDING:
        for name in names:
            try:
                os.lstat(os.path.join(getattr(paths, folder), name))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                pass
            return True
    return False


#: What a shell changes on the way from an agent to its hook, and where an agent says which entry of which file it runs.
_VOLATILE = frozenset({"_", "SHLVL", "PWD", "OLDPWD", *(one.entry_variable for one in AGENTS.values())})
#: The latest caller's variables, and their digest: nearly always the same caller asks again.
_latest: list[tuple[Mapping[str, str], str]] = []


def _environ_digest(environ: Mapping[str, str]) -> str:
    for seen, digest in tuple(_latest):
        if seen == environ:
            return digest
    text = "\0".join(sorted(f"{name}={value}" for name, value in environ.items() if name not in _VOLATILE))
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    _latest[:] = [(dict(environ), digest)]
    return digest


def bare_event(request: AgentRequest) -> Event:
    """The event as it came, where there is no engine to make it."""
    incoming = request.incoming
    return Event(
        kind=event_kind(incoming.event), data=incoming.data, session=incoming.session, agent=request.arguments.agent,
        cwd=request.cwd, environ=request.environ, native=request.payload,
        native_name=incoming.native_name or request.event_name,
    )  # fmt: skip


# ── the payload ──────────────────────────────────────────────────────────────────────────────────────


def _parse_payload(stdin: bytes) -> dict[str, Any]:
    """One JSON object. Raises ``DataError`` with what is wrong and where."""
    try:
        value = _decode(stdin.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DataError(f"standard input is not UTF-8: {error.reason} at byte {error.start}") from None
    except ValueError as error:
        from json import JSONDecodeError  # noqa: PLC0415  only a mistake pays for it

        if isinstance(error, JSONDecodeError):
            place = f"line {error.lineno}, column {error.colno}"
            raise DataError(f"standard input is not JSON: {error.msg} at {place}") from None
        # Python's limit on the digits of an integer
        raise DataError("standard input has a number that is too long") from None
    except RecursionError:
        raise DataError("standard input is nested too deeply") from None
    if not isinstance(value, dict):
        raise DataError("standard input must be a JSON object")
    return value


def _event_name(payload: dict[str, Any]) -> str:
    for field in _NAME_FIELDS:
        if isinstance(payload.get(field), str):
            return str(payload[field])
    raise UsageError("the payload does not name its event; add --event NAME")
