"""Show which hooks would run for an event, in which order, and why the others would not.

  hookline explain PreToolUse --data '{"tool_name": "Bash"}'
  hookline explain PreToolUse --agent codex
  hookline explain --agent all

Nothing is run or counted; the same code decides as for a real event. With --agent NAME (or all): whether the event fires
in that agent, what its hooks can do there, what of a hook's answer the agent does not support, and under which names
hooks find what a tool is given; without an event, for every event that hooks listen to.

--json prints {"event", "flow", "deny_stops", "hooks": [{"hook", "dialect", "file", "line", "layer", "would_run",
"why_not", "mode", "flow", "timeout", "on_failure", "action"}], "agents": only with --agent, [{"agent", "event", "fires",
"native_event", "derived_from", "deny", "ask", "allow", "rewrite", "context", "messages", "lost"}], "inputs": only with
--agent, what is mapped and what is not, "keys": only with --keys}.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookline.cli.capabilities import Ability, Fate, ability, agents_named
from hookline.cli.loading import build_runtime, read_event, require_readable, tell_problems
from hookline.cli.options import add_event, add_json, add_sources
from hookline.cli.output import paint, print_json, safe, table
from hookline.core.agents import all_agents, find_agent
from hookline.core.describe import action_text
from hookline.core.errors import UsageError
from hookline.core.event import EVENTS, Event
from hookline.core.hook import HookSpec
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.tool_names import INPUTS, input_names
from hookline.core.typed import TYPE_CHECKING, Any
from hookline.engine.build import Runtime, StoreOptions
from hookline.engine.eligibility import Explained

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

#: An id as hookline log shows it; no event has such a name.
_ID = lazy_pattern(r"[0-9a-f]{6,}")


def configure(parser: ArgumentParser) -> None:
    add_event(parser, optional=True)  # --keys needs no event
    add_sources(parser)
    parser.add_argument("--keys", action="store_true", help="print the keys that shell hooks listen to")
    add_json(parser)


def run(args: Namespace) -> int:
    asker = next(iter(agents_named(args.agent)), "") if args.agent != "all" else ""
    runtime = build_runtime(args, StoreOptions(record=False, sessions=bool(args.session)), asked_by=asker, inspect=True)
    require_readable(runtime, args.config)
    tell_problems(runtime)
    with runtime.engine:
        _require_known(args.agent, runtime.engine.specs)
        if args.keys:
            return _keys(args, runtime)
        if args.event is None and agents_named(args.agent):
            return _explain_all_events(args, runtime)
        _require_event(args.event)
        agents = agents_named(args.agent)
        if args.agent == "all":
            args.agent = ""
        event = read_event(args, runtime)
        explained = (*runtime.engine.explain(event), *_off(runtime.engine.specs, event.kind.name))
    known = event.kind.name in EVENTS
    able = [ability(agent, event.kind.name, event.data) for agent in agents] if known else []
    if args.json:
        kind = event.kind
        shape: dict[str, Any] = {"event": kind.name, "flow": kind.flow, "deny_stops": kind.denies or None}
        shape |= {"hooks": [_shape(one) for one in explained]}
        shown = {"agents": [_ability_shape(one) for one in able], "inputs": list(_input_lines(event, agents))}
        print_json(shape | (shown if agents else {}))
    else:
        _print(event, explained, able, bare=args.data == "{}")
    return 0


def _print(event: Event, explained: Sequence[Explained], able: Sequence[Ability], *, bare: bool) -> None:
    """``bare``: no data was given, so hooks may not match that would match real events."""
    deny = f"a deny stops {event.kind.denies}" if event.kind.deniable else "it cannot be denied"
    print(f"{paint(safe(event.kind.name), 'bold')}: {event.kind.about} {deny[0].upper()}{deny[1:]}.")
    nothing = f"No hook listens to it here. To add one: hookline hooks add NAME --on {safe(event.kind.name)} --run CMD"
    print(_hook_table(explained) if explained else nothing)
    if bare and not all(one.matches for one in explained):
        subject = event.kind.subject or (event.kind.fields or ("field",))[0]
        command = f'hookline explain {safe(event.kind.name)} --data \'{{"{subject}": "…"}}\''
        print(f"Hooks match on the event's data; to give some: {command}")
    if able:
        print(f"\n{_ability_table(able)}")
        print("\n".join(_input_lines(event, [one.agent for one in able])))
        _print_losses(able, [one.spec for one in explained if not one.why])


def _input_lines(event: Event, agents: Sequence[str]) -> Iterator[str]:
    """Under which names hooks find what a tool is given, and what keeps the agent's own."""
    if event.kind.subject != "tool_name":
        return
    data = event.data
    if isinstance(data.get("tool_input"), dict) and isinstance(data.get("tool_name"), str):
        names, others = input_names(data["tool_name"], data["tool_input"], event.cwd)
        made = "made of the input"
        yield f"tool_input of {safe(data['tool_name'])}: " + (
            "; ".join(f"{ours} ({safe(theirs) or made})" for ours, theirs in names.items()) or "nothing is mapped"
        )
        yield f"  not mapped, as the agent sends it: {safe(', '.join(others)) or '-'}"
        return
    for agent in agents:
        row = find_agent(agent)
        called = {} if row is None else row.tools
        tools = (f"{called.get(tool, tool)}: {', '.join(keys)}" for tool, keys in INPUTS.items())
        yield f"{agent}, tool_input under one name: {'; '.join(tools)}; of a patch: file_paths, and each file by itself."
    yield "Not mapped: the input of any other tool, which is as the agent sends it. To try one: --data"


def _require_event(name: str | None) -> None:
    if name is None:
        raise UsageError("name an event: hookline explain PreToolUse. All events: hookline list --events")
    if _ID.fullmatch(name):
        raise UsageError(f"{name!r} looks like an id, not an event; for its hooks: hookline replay {name} --dry-run")


def _require_known(agent: str, specs: Sequence[HookSpec]) -> None:
    """Reject a mistyped agent: the answer would be about no agent at all."""
    theirs = [name for spec in specs for name in spec.gates.agent]
    if agent in {"", "all", "hookline", *theirs} or agents_named(agent):
        return
    known = ", ".join(dict.fromkeys((*all_agents(), *theirs)))
    raise UsageError(f"unknown agent {agent!r}; use one of {known}, or all")


def _off(specs: Sequence[HookSpec], event: str) -> list[Explained]:
    """Hooks that their own file disables: the engine does not consider them."""
    why = "off: enabled = false in its file"
    return [Explained(spec=spec, why=why) for spec in specs if spec.event == event and not spec.enabled]


def _explain_all_events(args: Namespace, runtime: Runtime) -> int:
    """What the agents support on every event that hooks listen to."""
    hooked = {spec.event for spec in runtime.engine.specs if spec.enabled}
    events = [event for event in EVENTS if event in hooked]
    able = [ability(agent, event, {}) for event in events for agent in agents_named(args.agent)]
    if args.json:
        print_json({"agents": [_ability_shape(one) for one in able]})
        return 0
    print(_ability_table(able) if able else "No hooks here. To add one: hookline hooks add NAME --on EVENT --run CMD")
    _print_losses(able, runtime.engine.specs)
    return 0


def _ability_table(able: Sequence[Ability]) -> str:
    """What happens to each kind of answer."""
    head = ("AGENT", "EVENT", "FIRES", "DENY", "ASK", "ALLOW GRANTS", "REWRITE", "CONTEXT", "MESSAGE")
    return table(head, [_ability_row(one) for one in able])


def _ability_row(one: Ability) -> tuple[str, ...]:
    fires = {"natively": f"as {one.native_event}", "derived": f"derived from {', '.join(one.derived_from)}"}
    if one.fires == "never":
        return (one.agent, one.event, paint("never", "red"), *[""] * 6)
    rewrite = ", ".join(f"{name}: {_fate(fate)}" for name, fate in one.rewrite.items()) or "-"
    grants = "yes" if one.allow == "yes" else "-"
    shown = (_fate(one.deny), _fate(one.ask), grants, rewrite, _fate(one.context), _fate(one.messages))
    return (one.agent, one.event, fires[one.fires], *shown)


def _fate(fate: Fate) -> str:
    colours = {"yes": "green", "lost": "red", "becomes a deny": "yellow", "adds only": "yellow"}
    return paint(fate, colours[fate]) if fate in colours else "-"


def _print_losses(able: Sequence[Ability], specs: Sequence[HookSpec]) -> None:
    """For the hooks found here: what the agent does not support, and which hooks accept that."""
    for one in able:
        mine = [spec for spec in specs if spec.enabled and spec.event == one.event]
        if not mine or not one.losses():
            continue
        print(f"{one.agent}, {one.event}: {'; '.join(one.losses())}.")
        soft = [spec.name for spec in mine if spec.on_unsupported == "ignore"]
        if soft and any("becomes a deny" in loss for loss in one.losses()):
            print(f"  skipped instead of denied, because on_unsupported is ignore: {safe(', '.join(soft), 100)}")
        closed = [spec.name for spec in mine if spec.on_failure == "deny"]
        if closed and (one.fires == "never" or one.deny == "lost"):
            print(f"  cannot deny there when they fail, despite on_failure: {safe(', '.join(closed), 100)}")


def _ability_shape(one: Ability) -> dict[str, Any]:
    return {**one.to_json(), "lost": list(one.losses())}


def _hook_table(explained: Sequence[Explained]) -> str:
    rows = [
        (
            str(position),
            safe(one.spec.name, 40),
            one.spec.dialect,
            paint("no", "grey") if one.why else paint("yes", "green"),
            f"{one.spec.mode}, {one.spec.flow}",
            safe(one.why or action_text(one.spec), 200),
        )
        for position, one in enumerate(explained, 1)
    ]
    return table(("#", "HOOK", "DIALECT", "RUNS", "HOW", "WHY NOT, OR ACTION"), rows)


def _shape(one: Explained) -> dict[str, Any]:
    spec = one.spec
    return {
        "hook": spec.name,
        "dialect": spec.dialect,
        "file": spec.origin.file,
        "line": spec.origin.line,
        "layer": spec.origin.layer,
        "would_run": not one.why,
        "why_not": one.why or None,
        "mode": spec.mode,
        "flow": spec.flow,
        "timeout": spec.timeout,
        "on_failure": spec.on_failure,
        "action": action_text(spec),
    }


def _keys(args: Namespace, runtime: Runtime) -> int:
    from hookline.dialects.lash.entry import key_hook_config  # only this option needs it

    keys = key_hook_config(runtime.loaded.specs)
    if args.json:
        print_json({"keys": keys})
    else:
        print("all keys" if keys == "*" else "\n".join(repr(key) if key == " " else key for key in keys))
    return 0
