"""Hooks that never run, because their ``match`` or ``when`` asks for what no event has, hooks that cannot refuse as they are
meant to, and hooks that mean something else than they did in an earlier version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hookline.core._dataclass import replace
from hookline.core.agents import AGENTS, Agent
from hookline.core.event import COMMON_FIELDS, event_kind
from hookline.core.hook import DEFAULTED, Command, Gates, HookSpec
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.problem import Problem
from hookline.core.suggest import nearest
from hookline.core.tool_names import ANSWERS_TO, CANONICAL, CANONICAL_DIALECTS, INPUTS
from hookline.dialects.tool_matchers import hides_server
from hookline.engine.match import is_named

#: Names of agents for a part of a tool's input that any other tool may have too.
_COMMON_WORDS = frozenset({"text", "message", "include", "path", "agent_type", "dir_path"})
#: What agents send with their events beyond the documented fields.
_AGENTS_FIELDS = (
    "permission_mode", "prompt_id", "turn_id", "agent_type", "effort", "timestamp", "hook_event_name",
    "stop_hook_active", "last_assistant_message", "tool_response", "mcp_context",
)  # fmt: skip
#: The arguments of the usual tools. A tool may have any other, so only a near miss is reported.
_TOOL_FIELDS = (
    *dict.fromkeys(key for keys in INPUTS.values() for names in keys.values() for key in names),
    "description", "timeout", "workdir", "run_in_background", "paths", "file_paths", "urls", "edits", "patterns",
    "output_mode", "offset", "limit", "notebook_path", "cell_id", "todos", "input", "patch",
)  # fmt: skip


#: Seconds that nobody means: other agents count milliseconds.
_LONG = 1000


def mode_problems(specs: Iterable[HookSpec]) -> list[Problem]:
    """A warning for each hook whose failure is to refuse something that nobody holds back for it, or not for so long."""
    fix = 'write mode = "sync" if it guards, else on_failure = "ignore"'
    late = [
        spec.origin.problem(
            f"{spec.name!r} runs in mode {spec.mode}, so its {what} comes too late to refuse", fix, "warning"
        )
        for spec in specs
        if spec.enabled and spec.mode != "sync" and event_kind(spec.event).deniable and (what := _would_refuse(spec))
    ]
    return late + [
        spec.origin.problem(
            f"the timeout of {spec.name!r} is {spec.timeout:g} seconds, and agents give up sooner",
            f'if you mean milliseconds, write timeout = "{spec.timeout:g}ms"', "warning",
        )
        for spec in specs
        if spec.enabled and spec.dialect == "native" and (spec.timeout or 0) >= _LONG
    ]  # fmt: skip


def _would_refuse(spec: HookSpec) -> str:
    """By what it is to refuse, as far as its own text tells; "" if it only watches."""
    if spec.on_failure == "deny":
        return "failure"
    text = spec.action.text if isinstance(spec.action, Command) else ""
    return "answer" if spec.dialect == "native" and _REFUSES.search(text) else ""


def gate_problems(specs: Iterable[HookSpec]) -> list[Problem]:
    """A warning for each ``when`` that no agent and no directory can fulfil."""
    found = (
        spec.origin.problem(f"the hook {spec.name!r} never runs: {finding}", fix, "warning")
        for spec in specs
        if spec.enabled and spec.dialect == "native"
        for finding, fix in _closed_gates(spec.gates)
    )
    return list(dict.fromkeys(found))


def _closed_gates(gates: Gates) -> Iterator[tuple[str, str]]:
    known = [name for row in AGENTS.values() for name in (row.name, row.dialect)]
    # Other programs may call themselves what they like, so only a near miss is reported.
    near = ["" if is_named(name, tuple(known)) else nearest(name, known, 0.75) for name in gates.agent]
    if near and all(near):
        yield f"no agent is called {' or '.join(map(repr, gates.agent))}", f"did you mean {near[0]!r}?"
    if gates.cwd and not any(text.startswith(("/", "~", "*", "?", "[")) for text in gates.cwd):
        yield f"no directory's full path begins with {' or '.join(map(repr, gates.cwd))}", f'write "**/{gates.cwd[0]}"'


def why_no_server(agent: Agent) -> str:
    return f"{agent.title} does not tell which MCP server a tool belongs to, so it never runs there"


def server_problems(specs: Iterable[HookSpec], agent: Agent) -> Iterator[Problem]:
    """A warning for each hook on the tools of one MCP server that never runs in this agent."""
    for spec in specs:
        only = spec.gates.agent
        if spec.enabled and hides_server(agent, spec) and (not only or is_named(agent.name, only)):
            fix = 'write match = "mcp__(SERVER|unknown)__TOOL"'
            yield spec.origin.problem(f"the hook {spec.name!r}: {why_no_server(agent)}", fix, "warning")


#: What a guard's text ends with, or prints.
_REFUSES = lazy_pattern(r"\bexit 2\b|[\"'](?:deny|block|ask)[\"']")
#: ``mcp__github__*``, and ``mcp__github``.
_SHELL_PATTERN, _SERVER = lazy_pattern(r"[\w-]+\*[\w*-]*"), lazy_pattern(r"mcp__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*")


def match_problems(specs: Sequence[HookSpec]) -> list[Problem]:
    """A warning for each field, at the place of its hook: an agent may send more than is documented."""
    hooks: dict[tuple[str, str, str], list[HookSpec]] = {}
    for spec in specs:
        if spec.enabled and spec.dialect == "native":
            hooks.setdefault((spec.origin.file, spec.origin.pointer, spec.name), []).append(spec)
    found = [problem for ours in hooks.values() for problem in _of_hook(ours)]
    return found + [problem for spec in specs if spec.enabled for problem in _own_tool_names(spec)]


def _own_tool_names(spec: HookSpec) -> Iterator[Problem]:
    """The matcher of a hook for Claude Code, where it names tools: it would never run there either."""
    pattern = spec.matcher.subject
    text = "|".join(pattern.options) if pattern.style == "exact" else pattern.text if pattern.style == "search" else ""
    if spec.dialect in CANONICAL_DIALECTS and event_kind(spec.event).subject == "tool_name" and "Agent" not in text:
        for finding, fix in _tool_name_problems(text):
            rule = f'write "matcher": "{text.partition("(")[0]}", "if": "{text}"' if "(" in text else fix
            yield spec.origin.problem(f"the matcher {text!r} {finding}", rule, "warning")


def _of_hook(ours: Sequence[HookSpec]) -> Iterator[Problem]:
    kinds = [event_kind(spec.event) for spec in ours]
    pattern = ours[0].matcher.subject
    if pattern.style == "full" and kinds[0].subject == "tool_name" and not ours[0].gates.agent:
        for finding, fix in (*_tool_name_problems(pattern.text), *_wildcard_problems(pattern.text)):
            yield ours[0].origin.problem(
                f"the hook {ours[0].name!r}: match = {pattern.text!r} {finding}", fix, "warning"
            )
    yield from (_field_problem(ours[0], *problem) for problem in _value_problems(ours))
    documented = dict.fromkeys(field for kind in kinds for field in (*kind.fields, kind.subject) if field)
    events = ", ".join(kind.name for kind in kinds)
    for path in dict.fromkeys(test.path for spec in ours for test in spec.matcher.fields):
        first, _, rest = path.partition(".")
        known = (*documented, *COMMON_FIELDS, *_AGENTS_FIELDS)
        if first == "tool_input" and first in documented:
            leaf = rest.partition(".")[0]
            near = nearest(leaf, _TOOL_FIELDS, 0.75) if leaf and leaf not in _TOOL_FIELDS else ""
            if near:
                finding = f"match asks for {path!r}, and no usual tool has it: without it the hook never runs"
                yield _field_problem(ours[0], path, finding, f"did you mean 'tool_input.{near}'?")
        elif all(kind.fields for kind in kinds) and first not in known:
            inside = f"tool_input.{first}" if first in _TOOL_FIELDS and "tool_input" in documented else ""
            near = inside or nearest(first, known, 0.6)
            fix = f"did you mean {near!r}?" if near else f"documented fields: {', '.join(documented)}"
            yield _field_problem(
                ours[0], path, f"match asks for {first!r}, which {events} does not have: the hook never runs", fix
            )


def _value_problems(ours: Sequence[HookSpec]) -> Iterator[tuple[str, str, str]]:
    """The path, what is wrong, and what to write: a test that fails in most agents, or on every usual text."""
    subject = ours[0].matcher.subject
    tools = INPUTS if subject.style == "any" else subject.text.split("|")
    theirs = {
        f"tool_input.{key}": f"tool_input.{name}"
        for tool in tools
        for name, (_, *others) in INPUTS.get(tool, {}).items()
        for key in others
        if subject.style != "any" or key not in _COMMON_WORDS
    }
    for test in {test.path: test for spec in ours for test in spec.matcher.fields}.values():
        if (meant := theirs.get(test.path)) and not ours[0].gates.agent:
            finding = f"only some agents call it {test.path!r}: in the others the hook never runs"
            yield test.path, finding, f"write {meant!r} for every agent's"
        text = test.pattern.text if test.pattern else ""
        if text.strip() and text != text.strip("\n"):
            fix = f"write {text.strip(chr(10))!r}, or \\n if you mean it"
            yield test.path, f"the pattern {text!r} has a line break at its end, which the text must have too", fix


#: Words that people mean as commands.
_COMMANDS = frozenset(
    {"rm", "mv", "dd", "git", "curl", "wget", "sudo", "ssh", "npm", "pip", "docker", "kubectl", "chmod"}
)
_COMMAND_FIX = """match = {{ tool_name = "Bash", "tool_input.command" = '{}' }}, with a regular expression"""
_TOOLS = {name.lower(): CANONICAL.get(name, name) for name in (*CANONICAL, *CANONICAL.values())}


def _tool_name_problems(text: str) -> Iterator[tuple[str, str]]:
    """A pattern that looks like a tool's name, and matches none or only that of some agents."""
    words = re.split(r"\s*[|,]\s*|\s+", text.strip())
    if (plain := "|".join(words)) != text and all(word in _TOOLS.values() for word in words):
        yield "has spaces or commas, and no tool's name has: the hook does not run for each of them", f"write {plain!r}"
        return
    if "(" not in text and (" " in text.strip() or text in _COMMANDS):
        yield "is tried on the tool's name, and looks like a command: the hook never runs", _COMMAND_FIX.format(text)
        return
    for word in text.split("|"):
        tool, _, rest = word.partition("(")
        meant = CANONICAL.get(tool) or _TOOLS.get(tool.lower(), "")
        if rest and meant and not rest.startswith("?"):
            fix = _COMMAND_FIX.format("…").replace("Bash", meant)
            yield "is tried on the tool's name, which has no arguments: the hook never runs", fix
        elif meant and meant not in {tool, *text.split("|")} and tool not in ANSWERS_TO:
            yield (
                f"has {tool!r}, a name that only some agents use: in the others the hook never runs",
                f"write {meant!r} for every agent's",
            )
        elif not meant and tool.isidentifier() and (near := nearest(tool, _TOOLS.values(), 0.75)):
            yield f"has {tool!r}, and no usual tool is called so", f"did you mean {near!r}?"


def _wildcard_problems(text: str) -> Iterator[tuple[str, str]]:
    """A pattern that is no regular expression, but a shell's, or the name of a server: it matches no tool of it."""
    for word in text.split("|"):
        if _SHELL_PATTERN.fullmatch(word):
            what = (
                f"has {word!r}, in which * only repeats the letter before it: the hook does not run for what you mean"
            )
            yield what, f"write {word.replace('*', '.*')!r}"
        elif _SERVER.fullmatch(word):
            yield f"has {word!r}, a server and not one of its tools: the hook never runs", f"write '{word}__.*'"


def _field_problem(spec: HookSpec, path: str, finding: str, fix: str) -> Problem:
    where = replace(spec.origin, pointer=f"{spec.origin.pointer}.match.{path}")
    return where.problem(f"the hook {spec.name!r}: {finding}", fix, "warning")


# ── what has changed ─────────────────────────────────────────────────────────────────────────────────

_EARLIER = "earlier versions"
#: A pattern that says itself where it begins and ends.
_ANCHORED = lazy_pattern(r"(?s)(?:\.\*|\^|\\A|\(\?).*(?:\.\*|\$|\\Z|\))")


def find_changes_of_meaning(specs: Sequence[HookSpec]) -> list[Problem]:
    """A note for each hook of ours that an earlier version would have treated otherwise."""
    found = (note for spec in specs if spec.enabled and spec.dialect == "native" for note in _changes(spec))
    return list(dict.fromkeys(found))


def _changes(spec: HookSpec) -> Iterator[Problem]:
    if spec.extra.get("on_failure") == DEFAULTED:
        finding = (
            f"the hook {spec.name!r} does not set on_failure: if it fails, the call is refused ({_EARLIER} ignored it)"
        )
        yield spec.origin.problem(finding, 'write on_failure = "deny" if that is right, else "ignore"', "note")
    for test in spec.matcher.fields:
        pattern = test.pattern
        if pattern and pattern.style == "search across lines" and not _ANCHORED.fullmatch(pattern.text):
            finding = f"{pattern.text} is searched for anywhere in {test.path} ({_EARLIER} matched all of it)"
            where = replace(spec.origin, pointer=f"{spec.origin.pointer}.match.{test.path}")
            fix = r"to match all of it, write \A and \Z around it; a match of a part can refuse the call, not permit it"
            yield where.problem(f"the hook {spec.name!r}: {finding}", fix, "note")
