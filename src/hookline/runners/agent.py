"""Hook agents: a model with a prompt, tools and a step limit, in this process or as a separate command.

Models and tools are imported inside functions: a hook set without agents must not pay for them.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, empty, field, replace
from hookline.core.errors import HooklineError
from hookline.core.hook import AgentRun, anchor_model
from hookline.core.isolation import MAIN
from hookline.core.paths import Directories, Paths
from hookline.core.result import RunResult
from hookline.runners.command import CommandRunner
from hookline.runners.environ import hook_environ
from hookline.runners.prompt import Fence
from hookline.runners.snapshot import ChatTurn, NotASnapshotError, Snapshot, decode, read_snapshot, snapshot_payload

if TYPE_CHECKING:
    from hookline.core.settings import Settings
    from hookline.llm.tools import ToolSet
    from hookline.runners.base import Job, Stop


_TEMPLATE = re.compile(r"\{\{\s*(?P<name>\w+)\s*(?::(?P<options>[^{}]*))?\}\}")
_OURS = frozenset({"hook_name", "hook_phase"})

_DEFAULT_PROMPT = "Look at the conversation and write down, in a few lines, what would help with the next answer."

#: How much of the conversation an agent gets whose prompt does not select a part of it.
_LATEST_TURNS = 20
_LONGEST_CHAT = 40_000
_LONGEST_FACTS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Briefing:
    system: str
    user: str


def build_prompt(snapshot: Snapshot, *, steps: int, fence: Fence) -> _Briefing:
    """One pass over the prompt: filled-in text is never searched for templates."""
    used: set[str] = set()

    def fill(found: re.Match[str]) -> str:
        name = found["name"]
        if name == "chat":
            used.add(name)
            return fence.around(_shown(_selected(snapshot.chat, found["options"] or "")))
        if name not in snapshot.variables:
            return "" if name.startswith("hook_") else found[0]
        used.add(name)
        value = snapshot.variables[name]
        return value if name in _OURS else fence.around(value)

    prompt = _TEMPLATE.sub(fill, snapshot.prompt or _DEFAULT_PROMPT)
    rules = (
        "You are a small agent that runs beside a conversation between a person and an assistant. You do not talk to "
        "the person: your last message is handed on as it is, so write only what should be handed on. "
        f"You have {steps} step{'s' if steps != 1 else ''}; tool calls of the last step are carried out, but you will "
        "not see what came of them."
    )
    return _Briefing(system=f"{prompt}\n\n{rules}\n{fence.law}", user=_beside(snapshot, used, steps, fence))


def _beside(snapshot: Snapshot, used: set[str], steps: int, fence: Fence) -> str:
    parts = [f"Turn 1 of {steps}."]
    sections = {
        "The message of the person": ("hook_input_text", snapshot.variables.get("hook_input_text", "")),
        "The answer of the assistant": ("hook_last_display", snapshot.variables.get("hook_last_display", "")),
        "The conversation so far": ("chat", _shown(snapshot.chat[-_LATEST_TURNS:])),
        "Further context": ("contexts", _json(snapshot.contexts)),
        "The event": ("facts", _json(snapshot.facts)),
    }
    for title, (name, text) in sections.items():
        if text and name not in used:
            parts.append(f"{title}:\n{fence.around(text)}")
    return "\n\n".join(parts)


def _selected(chat: Sequence[ChatTurn], options: str) -> Sequence[ChatTurn]:
    """``last=N`` and ``role=user``, separated by commas or semicolons; other options have no effect."""
    wanted = dict(part.split("=", 1) for part in re.split(r"[,;]", options.replace(" ", "")) if "=" in part)
    chosen = [turn for turn in chat if wanted.get("role", turn.role) == turn.role]
    last = wanted.get("last", "")
    return (chosen[-int(last) :] if int(last) else []) if last.isdecimal() and last.isascii() else chosen


def _shown(chat: Sequence[ChatTurn]) -> str:
    text = "\n".join(f"{turn.role}: {turn.text}" for turn in chat)
    return text if len(text) <= _LONGEST_CHAT else "…" + text[-_LONGEST_CHAT:]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)[:_LONGEST_FACTS] if value else ""


#: The variable in which our own command finds the settings of the process that started it.
PASSED_ON = "HOOKLINE_AGENT_SETTINGS"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAssignment:
    """One run of a hook agent."""

    snapshot: Snapshot
    steps: int
    settings: Settings
    stop: Stop
    timeout: float | None = None
    cwd: str = ""
    environ: Mapping[str, str] = field(default_factory=empty, repr=False)
    #: Who fired the event, and where it says that the person's files are.
    agent: str = "hookline"
    directories: Directories | None = None


class AgentRunner:
    """Runs ``AgentRun`` actions. ``tools`` are what a host adds to the tools that every agent has."""

    def __init__(self, tools: Sequence[ToolSet] = ()) -> None:
        self._tools = tuple(tools)

    def run(self, job: Job) -> RunResult:
        begun = time.monotonic()
        raw = self._external(job) if _action(job).runner == "external" else self._internal(job)
        return replace(raw, ms=(time.monotonic() - begun) * 1000)

    def start(self, job: Job) -> RunResult:
        if _action(job).runner == "internal":
            return RunResult(error="an internal agent cannot be detached; write runner = external")
        return CommandRunner().start(_as_command(job))

    def close(self) -> None:
        """Nothing outlives a run."""

    def _external(self, job: Job) -> RunResult:
        raw = CommandRunner().run(_as_command(job))
        return raw if _action(job).command else _without_usage(raw)

    def _internal(self, job: Job) -> RunResult:
        action = _action(job)
        try:
            snapshot = _completed(read_snapshot(decode(job.call.stdin)), job)
        except NotASnapshotError as error:
            return RunResult(error=str(error))
        return run_assignment(
            AgentAssignment(
                snapshot=snapshot,
                steps=action.steps,
                settings=job.settings,
                stop=job.stop,
                timeout=job.timeout,
                cwd=job.call.cwd or job.event.cwd,
                environ=hook_environ(job, job.event.environ)[0],
                agent=job.event.agent,
                directories=job.event.directories,
            ),
            self._tools,
        )


def _action(job: Job) -> AgentRun:
    assert isinstance(job.spec.action, AgentRun)
    return job.spec.action


def _completed(snapshot: Snapshot, job: Job) -> Snapshot:
    """A payload that is not a snapshot does not describe the agent: the hook does."""
    action = _action(job)
    return replace(
        snapshot,
        prompt=action.prompt,
        model=anchor_model(action.model, job.spec.origin.file),
        tools=action.tools,
        variables={"hook_name": job.spec.name, "hook_phase": job.spec.native_event, **snapshot.variables},
    )


# ── in this process ──────────────────────────────────────────────────────────────────────────────────


def run_assignment(assignment: AgentAssignment, more: Sequence[ToolSet] = ()) -> RunResult:
    """The answer as ``{"last_text", "error"}`` on stdout, like an external agent's; never raises."""
    from hookline.llm.requests import AgentTask, run_agent_task, run_bounded
    from hookline.llm.spending import check_cap, note_usage

    snapshot, settings, environ = assignment.snapshot, assignment.settings, assignment.environ
    briefing = build_prompt(snapshot, steps=assignment.steps, fence=Fence())
    try:
        check_cap(settings.state_dir, settings.limits)
        functions, toolsets, notes = _tools(assignment, more)
        task = AgentTask(
            system=briefing.system,
            text=briefing.user,
            model=snapshot.model,
            steps=assignment.steps,
            functions=functions,
            toolsets=toolsets,
            table=settings.models,
            environ=environ,
        )
        reply = run_bounded(run_agent_task(task), timeout=assignment.timeout, stop=assignment.stop)
    except TimeoutError:
        return RunResult(timed_out=True, error=f"the agent did not finish within {assignment.timeout:g} s")
    except HooklineError as error:
        return RunResult(error=str(error), stderr=str(error))
    note_usage(settings.state_dir, str(snapshot.variables.get("hook_name") or "agent"), reply.usage)
    answer = {"last_text": reply.text or None, "error": None}
    stdout = json.dumps(answer, ensure_ascii=False)
    return RunResult(exit_code=0, stdout=stdout, value=answer, usage=reply.usage, notes=(*notes, *reply.notes))


def _tools(assignment: AgentAssignment, more: Sequence[ToolSet]) -> tuple[list[Any], list[Any], tuple[str, ...]]:
    from hookline.llm.tools import ToolPlace, gather, tool_project

    cwd = assignment.snapshot.base_directory or assignment.cwd
    place = ToolPlace(
        project=tool_project(cwd), cwd=cwd, agent=assignment.agent, environ=assignment.environ,
        directories=assignment.directories,
    )  # fmt: skip
    found = gather(assignment.snapshot.tools, place, assignment.settings.mcp, more)
    toolsets: list[Any] = []
    if found.servers:
        from hookline.llm.tools.mcp import toolset

        servers = assignment.settings.mcp
        toolsets = [toolset(name, servers[name], environ=assignment.environ, cwd=cwd) for name in found.servers]
    functions = [function for one in found.sets for function in one.functions]
    return functions, toolsets, tuple(f"there is no tool {name!r}" for name in found.unknown)


# ── as a command ─────────────────────────────────────────────────────────────────────────────────────


def _as_command(job: Job) -> Job:
    """The hook's own command as configured; without one, ours: this Python, with our settings."""
    action, call = _action(job), job.call
    if action.command:
        return replace(job, call=replace(call, argv=action.command))
    options = ("--steps", str(action.steps), "--json", "--from-stdin", "--no-hooks")
    argv = (sys.executable, "-I", MAIN, "agent", *options)
    environ = {**call.environ, "HOOKLINE_NO_HOOKS": "1", PASSED_ON: _settings_text(job)}
    return replace(job, call=replace(call, argv=argv, stdin=_as_snapshot(job), environ=environ))


def _as_snapshot(job: Job) -> bytes:
    """Some dialects write a snapshot themselves; other payloads are converted to one."""
    try:
        payload = decode(job.call.stdin)
        if "params" in payload:
            return job.call.stdin
        converted = snapshot_payload(_completed(read_snapshot(payload), job))
    except NotASnapshotError:
        return job.call.stdin
    return json.dumps(converted, ensure_ascii=False, default=str).encode(errors="replace")


def _settings_text(job: Job) -> str:
    """Models and servers may come from a file that only we were given (``--config``). Passed on in the
    environment and not with the data: the data of an event must never name a program to run."""
    settings, own = job.settings, job.event.directories
    passed = {
        "models": dict(settings.models), "mcp": dict(settings.mcp), "state_dir": settings.state_dir,
        "timeout": job.timeout, "agent": job.event.agent,
        "caps": [settings.limits.model_tokens_per_day, settings.limits.model_usd_per_day],
        "directories": own and [own.home, own.paths.config, own.paths.state, own.paths.data],
    }  # fmt: skip
    return json.dumps(passed, ensure_ascii=False, default=str)


def parse_directories(given: Any) -> Directories | None:
    """As ``_settings_text`` wrote them."""
    if not isinstance(given, list) or len(given) != 4:
        return None
    home, config, state, data = map(str, given)
    return Directories(home=home, paths=Paths(config=config, state=state, data=data))


def _without_usage(raw: RunResult) -> RunResult:
    """Our own command adds the model's usage to its answer; dialects expect only the answer."""
    try:
        answer = json.loads(raw.stdout)
        usage = answer.pop("usage")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return raw
    return replace(raw, stdout=json.dumps(answer, ensure_ascii=False), usage=usage if isinstance(usage, dict) else {})
