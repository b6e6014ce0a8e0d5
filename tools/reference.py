"""Fills the generated parts of docs/reference from the code; with ``--check`` it only says whether they are current.

A page is written by hand, except for what stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``: that
is made here, from the tables that the program itself uses, so that the manual cannot say something else.
"""

from __future__ import annotations

import itertools
import re
import sys
import tomllib
from argparse import SUPPRESS, _SubParsersAction
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from hookline import __version__
from hookline.cli import COMMANDS, EXIT_CODES, GROUPS, command_module, command_parser, overview
from hookline.core.agents import find_agent
from hookline.core.event import COMMON_FIELDS, EVENTS
from hookline.core.result import STATUS, Effect, Placement
from hookline.core.settings import Limits, RecordSettings, TelemetrySettings
from hookline.core.tool_names import ANSWERS_TO, CANONICAL, INPUTS, RUNNERS
from hookline.dialects import ALIASES, DIALECTS, dialect_named
from hookline.dialects.native import fields, guard
from hookline.llm.names import PROVIDERS, SHORT_NAMES
from hookline.shell.dispatcher import RECORDED_EVENTS
from hookline.shell.engine_host import EDITOR_TIMEOUTS
from hookline.shell.xonsh.patch_points import ANNOUNCED, POINTS

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hookline.core.event import EventKind
    from hookline.dialects.native.kinds import Field

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
_BLOCK = re.compile(r"(<!-- generated: ([a-z-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

#: Key -> an example in TOML and the default, for every key of a table of ``hookline.toml``.
EXAMPLES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "hook": {
        "name": ('"no-rm"', "`hookline#1`: file and number"),
        "description": ('"rm -rf is for people"', ""),
        "enabled": ("false", "true"),
        "on": ('["PreToolUse", "PermissionRequest"]', "must be given"),
        "match": ('{ "tool_input.command" = ".*rm -rf.*" }', "every event"),
        "run": ('["./hooks/check.sh", "--fast"]', ""),
        "shell": ('"git diff --stat | tail -1"', ""),
        "script": ('"#!/bin/sh\\necho ready\\n"', ""),
        "python": ('"hooks.guard:no_rm"', ""),
        "http": ('{ url = "https://example.org/hook", headers = { Authorization = "Bearer $TOKEN" } }', ""),
        "prompt": ('"Is this command safe? $ARGUMENTS"', ""),
        "agent": ('{ prompt = "Sum up the session.", tools = ["memory"], steps = 3 }', ""),
        "plugin": ('"./plugins/guard"', ""),
        "dialect": ('"claude"', "hookline's, and Claude Code's beside it"),
        "model": ('"haiku"', "the model `default`, else the first provider with a key"),
        "timeout": ('"5s"', "60 s; a prompt 30 s; a detached hook none"),
        "budget": ('"50ms"', "none"),
        "over_budget": ('"background"', "`report`"),
        "cache": ('"10s"', "asked every time"),
        "on_failure": (
            '"deny"',
            "ignore; deny for a program before a tool or a permission that is waited for and injects nothing",
        ),
        "on_unsupported": ('"ignore"', "deny"),
        "ask": ('"inbox"', "agent"),
        "mode": ('"background"', "sync"),
        "order": ("-10", "0"),
        "flow": ('"parallel"', "the event's own"),
        "after_deny": ('"continue"', "stop"),
        "when": ("{ min_turn = 2 }", "always"),
        "env": ('{ LEVEL = "strict" }', "none"),
        "covers": ('["scripts/lib"]', "the folder of the script"),
        "inject": ('"context"', "none"),
        "label": ('"Branch"', ""),
        "prefix": ('"### Branch"', ""),
    },
    "when": {
        "every_n_turns": ("3", ""),
        "min_turn": ("2", ""),
        "message_contains": ('["deploy", "release"]', ""),
        "role": ('"user"', ""),
        "agent": ('["codex"]', ""),
        "cwd": ('["~/work/**"]', ""),
        "once_per_session": ("true", "false"),
        "once": ("true", "false"),
        "debounce": ('"30s"', ""),
        "max_per_minute": ("5", ""),
    },
    "http": {
        "url": ('"https://example.org/hook"', "must be given"),
        "headers": ('{ Authorization = "Bearer $TOKEN" }', "none"),
        "allow_insecure": ("true", "false"),
        "variables": ('["TOKEN"]', "all, and each must be set"),
    },
    "agent": {
        "prompt": ('"Sum up the session."', "must be given"),
        "model": ('"haiku"', "as for a prompt"),
        "tools": ('["memory", "ragsearch"]', "all of them"),
        "steps": ("3", "1"),
        "runner": ('"external"', "internal"),
        "command": ('["my-agent", "--json"]', "`hookline agent`"),
    },
    "source": {
        "dialect": ('"letta"', "must be given, or installed"),
        "installed": ('"claude-code"', ""),
        "path": ('".letta/settings.json"', "the system's own places"),
        "paths": ('["a.json", "b.json"]', ""),
        "on_failure": ('"deny"', "as its system does"),
        "name": ('"team"', ""),
        "enabled": ("false", "true"),
    },
    "pack": {
        "source": ('"github:owner/repo"', "must be given"),
        "revision": ('"0123456789abcdef0123456789abcdef01234567"', ""),
        "digest": (f'"sha256:{"0" * 64}"', "must be given"),
        "on_failure": ('"deny"', "as its hooks say"),
        "env": ('{ NTFY_URL = "https://ntfy.example.org/me" }', "none"),
        "enabled": ("false", "true"),
    },
    "guard": {
        "policy": ('"strict"', "standard"),
        "allow": ('"read-only"', "nothing"),
        "unknown": ('"ask"', "strict asks where it matters, standard does not"),
        "ask": ('"inbox"', "agent"),
        "rule": ('[{ effect = "send", then = "deny" }]', "none"),
        "exception": ('[{ command = "make clean", until = "2027-01-31", reason = "ours" }]', "none"),
    },
    "rule": {
        "effect": ('"delete"', "must be given"),
        "where": ('"outside project"', "everywhere"),
        "harm": ('"medium"', "low"),
        "then": ('"deny"', "must be given"),
    },
    "exception": {
        "command": ('"git push --force origin wip"', ""),
        "path": ('"~/scratch"', ""),
        "effect": ('"delete"', ""),
        "until": ('"2027-01-31"', "must be given"),
        "reason": ('"the scratch disk is mine"', "must be given"),
    },
    "limits": {
        "timeout": ('"30s"', f"{Limits().timeout:g} s"),
        "output": ("2097152", str(Limits().output)),
        "stop_continuations": ("20", str(Limits().stop_continuations)),
        "grace": ('"2s"', f"{Limits().grace:g} s"),
        "model_tokens_per_day": ("2000000", "no cap"),
        "model_usd_per_day": ("2.50", "no cap"),
    },
    "record": {
        "enabled": ("false", "true"),
        "keep": ('"90d"', f"{RecordSettings().keep_days}d"),
        "keep_days": ("90", str(RecordSettings().keep_days)),
        "keep_mb": ("500", str(RecordSettings().keep_mb)),
        "redact": ('["tok_[a-z0-9]+"]', "the built-in shapes"),
    },
    "telemetry": {
        "endpoint": ('"http://127.0.0.1:4318"', "nothing is sent"),
        "headers": ('{ Authorization = "Bearer $OTLP_TOKEN" }', "none"),
        "buffer": ("50000", str(TelemetrySettings().buffer)),
        "timeout": ('"2s"', f"{TelemetrySettings().timeout:g} s"),
    },
    "inbox": {"webhook": ('"https://chat.example.com/hooks/1"', "nobody is told")},
}

FIELDS: Mapping[str, tuple[Field, ...]] = {
    "hook": fields.HOOK_FIELDS,
    "when": fields.WHEN_FIELDS,
    "http": fields.HTTP_FIELDS,
    "agent": fields.AGENT_FIELDS,
    "source": fields.SOURCE_FIELDS,
    "pack": fields.PACK_FIELDS,
    "guard": guard.GUARD_FIELDS,
    "rule": guard.RULE_FIELDS,
    "exception": guard.EXCEPTION_FIELDS,
    "limits": fields.LIMIT_FIELDS,
    "record": fields.RECORD_FIELDS,
    "telemetry": fields.TELEMETRY_FIELDS,
    "inbox": fields.INBOX_FIELDS,
}


# ── markdown ─────────────────────────────────────────────────────────────────────────────────────────


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"

    return "\n".join([line(head), line(["---"] * len(head)), *(line(row) for row in rows)])


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def listed(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))


# ── events and tools ─────────────────────────────────────────────────────────────────────────────────


def events(family: str) -> str:
    return "\n\n".join(_event(kind) for kind in EVENTS.values() if kind.family == family)


def _event(kind: EventKind) -> str:
    facts = [f"a deny stops {kind.denies}" if kind.denies else "cannot be denied"]
    facts += [f"may be changed: {listed(sorted(kind.modifies))}"] if kind.modifies else []
    facts += ["text can be injected"] if kind.injects else []
    facts += [f"`match` is tried on {code(kind.subject)}"] if kind.subject else []
    facts += [f"`message_contains` looks at {code(kind.message)}"] if kind.message else []
    facts += ["a deny lets the agent go on, counted by the loop guard"] if kind.continues else []
    facts += ["a typed one opens a turn"] if kind.opens_turn else []
    facts += ["background hooks of the session are awaited first"] if kind.joins else []
    told = f"Fields: {listed(kind.fields)}." if kind.fields else "No fields of its own."
    return f"### {kind.name}\n\n{kind.about}\n\n- {told}\n- Hooks run as a {kind.flow}; {'; '.join(facts)}."


def event_overview(family: str) -> str:
    rows = (
        (f"[{kind.name}](#{kind.name.lower().replace('.', '')})", kind.about, kind.denies or "-", kind.flow)
        for kind in EVENTS.values()
        if kind.family == family
    )
    return table(("event", "when", "a deny stops", "flow"), rows)


def tool_names() -> str:
    by_name: dict[str, list[str]] = {}
    for native, canonical in CANONICAL.items():
        by_name.setdefault(canonical, []).append(native)
    return table(("canonical", "also called"), ((code(name), listed(natives)) for name, natives in by_name.items()))


def tools_of_many() -> str:
    return table(("tool", "answers to"), ((code(name), listed(names)) for name, names in ANSWERS_TO.items()))


def runners() -> str:
    return table(("tool", "what it runs is in"), ((code(name), code(part)) for name, part in RUNNERS.items()))


def tool_inputs() -> str:
    rows = (
        (code(tool), code(ours), listed(theirs[1:]) or "-")
        for tool, names in INPUTS.items()
        for ours, theirs in names.items()
    )
    return table(("tool", "name in `tool_input`", "agents also call it"), rows)


# ── configuration ────────────────────────────────────────────────────────────────────────────────────


def keys(name: str) -> str:
    """Raises KeyError for a key without an example: whoever adds a key adds one."""
    rows = []
    for field in FIELDS[name]:
        example, default = EXAMPLES[name][field.key]
        written = code(f"{field.key} = {example}")
        rows.append((code(field.key), kind_of(field.kind.schema), field.about, written, default or "-"))
    return table(("key", "kind", "meaning", "example", "default"), rows)


def kind_of(schema: Mapping[str, Any]) -> str:
    """A JSON Schema in a few words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind_of(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return "one of " + ", ".join(map(code, schema["enum"]))
    if schema.get("format") == "regex":
        return "regular expression"
    if r"(ms|s|m|h)" in schema.get("pattern", ""):
        return "duration"
    given = schema.get("type")
    words = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number"}
    if given == "array":
        return f"list of {kind_of(schema['items'])}s"
    if isinstance(given, list):
        return " or ".join(words[one] for one in given)
    return words.get(str(given), "table")


def dialects() -> str:
    shorter = {name: [alias for alias, target in ALIASES.items() if target == name] for name in DIALECTS}
    systems = {name: compatibility_table(name)["system"] for name in SYSTEMS}
    rows = ((code(name), systems.get(name, "hookline itself"), listed(shorter[name]) or "-") for name in DIALECTS)
    return table(("dialect", "whose hooks", "other names"), rows)


def models() -> str:
    rows = ((code(row.name), listed(row.keys) or "no key", code(row.base_url) or "-") for row in PROVIDERS.values())
    short = table(("name", "means"), ((code(name), code(target)) for name, target in SHORT_NAMES.items()))
    return f"{table(('provider', 'key', 'address'), rows)}\n\n{short}"


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────


def commands() -> str:
    return "\n\n".join(_command(name) for name in COMMANDS)


def _command(name: str) -> str:
    module = command_module(name)
    parser = command_parser(name, module)
    about = _prose(module.__doc__ or "")
    return f"## hookline {name}\n\n{about}\n\n{_options(parser)}"


def _options(parser: ArgumentParser) -> str:
    """Its arguments, and those of the commands inside it."""
    shown = (each for each in parser._actions if each.help != SUPPRESS)  # noqa: SLF001  argparse has no other door
    actions = list(shown)
    inside = [action for action in actions if isinstance(action, _SubParsersAction)]
    parts = [table(("argument", "meaning"), (_option(action) for action in actions if action not in inside))]
    for action in inside:
        for name, one in action.choices.items():
            about = _prose(one.description or "")
            parts.append(f"### {parser.prog} {name}\n\n{about}\n\n{_options(one)}")
    return "\n\n".join(parts)


def _option(action: Action) -> tuple[str, str]:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    value = metavar or ("|".join(map(str, action.choices)) if action.choices else "")
    names = ", ".join(action.option_strings)
    takes = f" {value}" if value and action.nargs != 0 else ""
    if not names:
        return code(value or action.dest), action.help or ("one of these" if action.choices else "")
    own = names == "-h, --help"
    return code(names + takes), "print the help and exit" if own else action.help or ""


def _prose(doc: str) -> str:
    """A docstring as markdown: what is indented are commands, what begins with --json is a promise."""
    parts = []
    for part in doc.strip().split("\n\n"):
        lines = part.strip("\n").split("\n")
        if all(line.startswith("  ") for line in lines):
            body = "\n".join(line.strip() for line in lines)
            parts.append(f"```text\n{body}\n```")
        elif all(re.match(r"\w+:  ", line) for line in lines):
            parts.append("```text\n" + "\n".join(lines) + "\n```")
        elif part.startswith("--json"):
            head, brace, rest = part.partition("{")
            parts.append(f"{code('--json')}{head.removeprefix('--json')}{brace}{rest}" if not brace else _promise(part))
        else:
            parts.append(part)
    return "\n\n".join(parts)


def _promise(part: str) -> str:
    """The object in a block of its own, and below it what is said about its fields."""
    head, _, rest = part.removeprefix("--json ").partition("{")
    also, does = re.fullmatch(r"(\(.*?\) )?(.*)", head.strip(), re.DOTALL).groups("")  # type: ignore[union-attr]  # fits all
    depths = itertools.accumulate(((one == "{") - (one == "}") for one in rest), initial=1)
    end = next(at for at, depth in enumerate(depths) if depth == 0)
    about = rest[end:].lstrip(";., \n").removeprefix("where ")
    if re.match(r"(for|or|and|in) ", about):  # of several objects
        end, about = len(rest), ""
    about = re.sub(r"^([a-z_]+)(?= (is|has|are|says) )", r"`\1`", about)
    shown = f"With `--json` {also}it {does}\n\n```text\n{{{rest[:end]}\n```"
    return f"{shown}\n\n{about[0].upper()}{about[1:]}" if about else shown


def help_text() -> str:
    return f"```text\n{overview()}\n```"


# ── results ──────────────────────────────────────────────────────────────────────────────────────────


def exit_codes() -> str:
    return table(("code", "meaning"), ((code(str(number)), about) for number, about in EXIT_CODES.items()))


def words() -> str:
    return (
        f"Effects, weakest first: {listed(get_args(Effect))}. Statuses of a hook: {listed(STATUS.values())}. "
        f"Placements of a context: {listed(get_args(Placement))}."
    )


# ── compatibility ────────────────────────────────────────────────────────────────────────────────────

#: The dialects of other systems, in the order of the page; each has a table in docs/reference/compatibility.
SYSTEMS = (
    "lectic", "letta", "lazy", "lash", "memex", "claude", "codex", "gemini", "qwen", "copilot", "opencode",
    *DIALECTS[DIALECTS.index("opencode") + 1 :],
)  # fmt: skip
_HEADINGS = {"field": "Fields", "event": "Events", "behaviour": "Behaviour"}


def compatibility_table(dialect: str) -> dict[str, Any]:
    """The file as it is, but every row is a pair: whether it is honoured, and the note. An agent that is nothing but
    tables needs no file."""
    if not (PAGES / "compatibility" / f"{dialect}.toml").exists():
        return _from_tables(dialect)
    table = tomllib.loads((PAGES / "compatibility" / f"{dialect}.toml").read_text(encoding="utf-8"))
    for kind in _HEADINGS:
        rows = table.get(kind, {}).items()
        table[kind] = {what: ("yes", row) if isinstance(row, str) else next(iter(row.items())) for what, row in rows}
    return table


def _from_tables(dialect: str) -> dict[str, Any]:
    one: Any = dialect_named(dialect)
    agent = find_agent(dialect)
    assert agent is not None
    fields = sorted(one.system.fields) if hasattr(one, "system") else []
    proof = {f"{agent.title} as the agent": ("differently", f"{agent.label}.")} if agent.label else {}
    return {
        "system": agent.title,
        "places": ", ".join(f"`{'~/' if scope == 'user' else ''}{file}`" for scope, file in agent.files.items()),
        "field": dict.fromkeys(fields, ("yes", "")),
        "event": {
            theirs: ("yes", "Passed through." if ours not in EVENTS else "" if ours == theirs else f"{ours}.")
            for theirs, ours in one.events.items()
        },
        "behaviour": {**proof, **_answers(agent.title, one.replies)},
    }


def _answers(title: str, told: Any) -> dict[str, tuple[str, str]]:
    """What the agent does with each part of a decision, from the forms in which it is told."""
    parts = {
        "deny": ("a deny", "reported as lost"), "ask": ("ask", "becomes a deny"),
        "allow": ("allow", "the agent's own rules decide"), "rewrite": ("a rewrite", "becomes a deny that says so"),
        "context": ("context", "reported as lost"),
    }  # fmt: skip
    rows = {}
    for part, (name, otherwise) in parts.items():
        events = list(getattr(told, part))
        note = f"{', '.join(events)}; elsewhere {otherwise}." if events else f"Not supported: {otherwise}."
        rows[f"{title} as the agent: {name}"] = ("yes" if events else "differently", note)
    return rows


def compatibility() -> str:
    return "\n\n".join(map(_compared, SYSTEMS))


def _compared(dialect: str) -> str:
    one = compatibility_table(dialect)
    parts = [f"## {one['system']}", f"`--dialect {dialect}`. Its own places: {one['places']}."]
    for kind, heading in _HEADINGS.items():
        rows = ((what if kind == "behaviour" else code(what), *row) for what, row in one[kind].items())
        parts += [f"### {one['system']}: {heading.lower()}", table((kind, "honoured", "note"), rows)]
    return "\n\n".join(parts)


def counts() -> str:
    rows = []
    for one in map(compatibility_table, SYSTEMS):
        answers = [honoured for kind in _HEADINGS for honoured, _note in one[kind].values()]
        numbers = [str(answers.count(word)) for word in ("yes", "differently", "no")]
        rows.append((f"[{one['system']}](#{one['system'].lower().replace(' ', '-')})", *numbers))
    return table(("system", "yes", "differently", "no"), rows)


def shell_wraps() -> str:
    """Every event of the shell: from which wrap, what may be done to it, how long the editor waits, when it is recorded."""
    rows = ["| event | fired from | refused | changed | waits | recorded |", "|---|---|---|---|---|---|"]
    for kind in EVENTS.values():
        points = [f"`{point.where.partition(':')[2]}`" for point in POINTS if kind.name in point.fires]
        announced = [f"`{ANNOUNCED[kind.name]}`"] if kind.name in ANNOUNCED else []
        if kind.family != "shell" or not (points or announced):
            continue
        seconds = f"{EDITOR_TIMEOUTS[kind.name]:g} s" if kind.name in EDITOR_TIMEOUTS else "its own time"
        rows.append(
            f"| {kind.name} | {', '.join(dict.fromkeys((*announced, *points)))} | {kind.denies or '-'} "
            f"| {', '.join(sorted(kind.modifies)) or '-'} | {seconds} "
            f"| {'always' if kind.name in RECORDED_EVENTS else 'when heard'} |"
        )
    return "\n".join(rows)


BLOCKS: Mapping[str, Callable[[], str]] = {
    "shell-wraps": shell_wraps,
    "agent-events": lambda: events("agent"),
    "agent-event-list": lambda: event_overview("agent"),
    "shell-events": lambda: events("shell"),
    "shell-event-list": lambda: event_overview("shell"),
    "common-fields": lambda: f"{listed(COMMON_FIELDS)}.",
    "tool-names": tool_names,
    "tools-of-many": tools_of_many,
    "runners": runners,
    "tool-inputs": tool_inputs,
    **{f"{name}-keys": lambda name=name: keys(name) for name in FIELDS},  # type: ignore[misc]  # a bound default
    "dialects": dialects,
    "models": models,
    "help": help_text,
    "commands": commands,
    "exit-codes": exit_codes,
    "words": words,
    "compatibility": compatibility,
    "compatibility-counts": counts,
}


# ── the man pages ────────────────────────────────────────────────────────────────────────────────────

MAN = PAGES.parent / "man"


def man_page() -> str:
    """``man hookline``: the commands in their groups, files, variables and exit codes."""
    groups = "".join(
        f".SS {group}\n" + "".join(f".TP\n.B {_roff(name)}\n{_roff(about)}\n" for name, about in commands.items())
        for group, commands in GROUPS.items()
    )
    codes = "".join(f".TP\n.B {number}\n{_roff(about)}\n" for number, about in EXIT_CODES.items())
    return (
        f'.TH HOOKLINE 1 "" "hookline {__version__}" "User commands"\n'
        ".SH NAME\nhookline \\- lifecycle hooks of AI agents and shells\n"
        ".SH SYNOPSIS\n.B hookline\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
        ".SH DESCRIPTION\nA hook is written once and runs in every agent and shell. "
        "Of one command: \\fBhookline COMMAND \\-\\-help\\fR. The manual: \\fBhookline help topics\\fR.\n"
        f".SH COMMANDS\n{groups}"
        ".SH FILES\n.TP\n.I ~/.config/hookline/hookline.toml\nyour own hooks\n"
        ".TP\n.I .hookline/hookline.toml\nhooks of a project; they run once they are approved\n"
        ".TP\n.I .hookline/local.toml\nhooks of your clone of it\n"
        ".TP\n.I /etc/hookline/hookline.toml\nhooks of the machine\n"
        ".SH ENVIRONMENT\n.TP\n.B HOOKLINE_DAEMON\nauto, or off: start no resident engine\n"
        ".TP\n.B HOOKLINE_CONFIG_DIR, HOOKLINE_STATE_DIR, HOOKLINE_DATA_DIR\n"
        "other directories, for commands that a person types\n"
        f".SH EXIT STATUS\n{codes}"
        ".SH SEE ALSO\n.BR hookline.toml (5)\n"
    )


def configuration_man_page() -> str:
    """``man hookline.toml``: every key of every table, under the headings of the page on the site."""
    page = (PAGES / "configuration.md").read_text(encoding="utf-8")
    found = re.findall(r"^##+ `(.+)`\n(?:(?!#).*\n)*?<!-- generated: ([a-z]+)-keys -->", page, re.MULTILINE)
    tables = "".join(f".SS {title}\n{''.join(map(_key, FIELDS[name]))}" for title, name in found)
    return (
        f'.TH HOOKLINE.TOML 5 "" "hookline {__version__}" "File formats"\n'
        ".SH NAME\nhookline.toml \\- hooks and settings of hookline\n"
        ".SH DESCRIPTION\nhookline reads four files, each of which overrides those before it: "
        "\\fI/etc/hookline/hookline.toml\\fR, \\fI~/.config/hookline/hookline.toml\\fR, and in a project "
        "\\fI.hookline/hookline.toml\\fR and \\fI.hookline/local.toml\\fR. "
        "\\fBhookline check\\fR reports every mistake in them, and \\fBhookline help configuration\\fR says more.\n"
        f".SH TABLES\n{tables}.SH SEE ALSO\n.BR hookline (1)\n"
    )


def _key(field: Field) -> str:
    kind = kind_of(field.kind.schema).replace("`", "")
    return f'.TP\n.BR {_roff(field.key)} " ({_roff(kind)})"\n{_roff(field.about)}\n'


def _roff(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────


def filled(text: str, used: set[str]) -> str:
    """The page with every generated part made anew."""

    def block(found: re.Match[str]) -> str:
        used.add(found[2])
        return f"{found[1]}{BLOCKS[found[2]]()}\n{found[4]}"

    return _BLOCK.sub(block, text)


def stale() -> dict[Path, str]:
    """Every page that is not as it should be, with what it should be."""
    used: set[str] = set()
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md"))}
    made = {page: filled(text, used) for page, text in pages.items()}
    if missing := BLOCKS.keys() - used:
        sys.exit(f"no page of {PAGES} has a place for: {', '.join(sorted(missing))}")
    for name, text in (("hookline.1", man_page()), ("hookline.toml.5", configuration_man_page())):
        made[MAN / name] = text
        pages[MAN / name] = (MAN / name).read_text(encoding="utf-8") if (MAN / name).exists() else ""
    return {page: text for page, text in made.items() if text != pages[page]}


def main(arguments: Sequence[str]) -> int:
    old = stale()
    if "--check" in arguments:
        for page in old:
            print(f"{page} is not current; run: make docs", file=sys.stderr)
        return 1 if old else 0
    for page, text in old.items():
        page.write_text(text, encoding="utf-8")
        print(f"wrote {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
