"""``.claude/settings.json`` and its two sisters: the same shape as Letta Code's, with seconds and more fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.event import EVENTS as ROWS
from hookline.core.hook import OWN_MODEL, Action, Command, FieldTest, HookSpec, Http, Matcher, Origin, Pattern, Prompt
from hookline.core.tool_names import canonical
from hookline.dialects.base import ConfigPlace, Layer, Lookup, Parsed, Rendered, agent_places
from hookline.dialects.claude import EVENTS
from hookline.dialects.claude_family.matcher import (
    NAMES_OR_REGEX,
    NOT_REFUSED,
    claude_pattern,
    claude_text,
    names_pattern,
)
from hookline.dialects.claude_family.render import Groups, Losses, amount, command_text, writable_hooks
from hookline.dialects.claude_family.settings_file import Findings, HookEntry, as_object, check_events, entries, show

_RULE = re.compile(r"(?s)([A-Za-z_][\w\-]*\*?)(?:\((.*)\))?")

#: A rule for one of these also speaks for the tools that do the same.
_ANSWERING: Mapping[str, tuple[str, ...]] = {"Edit": ("Edit", "Write", "MultiEdit", "NotebookEdit")}


def rule_tests(rule: str) -> tuple[FieldTest, ...] | None:
    """The tests that a rule stands for; None if it is no rule that we know."""
    found = _RULE.fullmatch(rule.strip())
    if found is None:
        return None
    tool, inside = found[1], found[2]
    tests = (FieldTest(path="tool_name", pattern=_tool(tool)),)
    if inside is None or inside.strip() in {"", "*"}:
        return tests
    known = _INSIDE.get(canonical(tool))
    test = known(inside.strip()) if known is not None else None
    return None if test is None else (*tests, test)


def _tool(name: str) -> Pattern:
    if name.endswith("*"):
        return Pattern(style="glob", text=name)
    ours = canonical(name)
    return names_pattern(tuple(dict.fromkeys((name, *_ANSWERING.get(ours, (ours,))))))


def _rule_command(text: str) -> FieldTest:
    return FieldTest(path="tool_input.command", pattern=Pattern(style="command", text=text))


def _path(text: str) -> FieldTest:
    """gitignore's patterns: ``*`` stays in one directory, ``**`` does not; ``//`` begins at the root."""
    if text.startswith("//"):
        before, text = "/", text[2:]
    elif text.startswith("~/"):
        before, text = "(?:/.*/|~/)", text[2:]
    else:
        # From the project or the working directory: which of them is not known here, so any directory will do.
        before, text = "(?:.*/)?", text.removeprefix("./").removeprefix("/")
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", text)
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pattern = "(?s)" + before + "".join(words.get(part, re.escape(part)) for part in parts)
    return FieldTest(path="tool_input.file_path", pattern=Pattern(style="full", text=pattern + "(?:/.*)?"))


def _domain(text: str) -> FieldTest | None:
    if not text.startswith("domain:"):
        return None
    host = re.escape(text.removeprefix("domain:")).replace(r"\*", "[^/]*")
    pattern = rf"(?i)https?://(?:[^/@]*@)?{host}(?::\d+)?(?:[/?#].*)?"
    return FieldTest(path="tool_input.url", pattern=Pattern(style="full", text=pattern))


_INSIDE: Mapping[str, Callable[[str], FieldTest | None]] = {
    "Bash": _rule_command, "Edit": _path, "Write": _path, "Read": _path, "MultiEdit": _path, "WebFetch": _domain,
}  # fmt: skip


SWITCH = "disableAllHooks"

#: Claude Code starts all hooks of an event at once; here a chain keeps the promised order where hooks decide.
_CHAINED = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop"})
TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"})
PROMPT_EVENTS = frozenset(
    {
        "PermissionDenied", "PermissionRequest", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreToolUse",
        "Stop", "SubagentStop", "TaskCompleted", "TaskCreated", "TeammateIdle", "UserPromptExpansion",
        "UserPromptSubmit",
    }
)  # fmt: skip
#: Seconds, where an event has its own.
_EVENT_TIMEOUTS: Mapping[str, float] = {
    "UserPromptSubmit": 30.0, "PreModelSwitch": 30.0, "PostModelSwitch": 30.0, "MessageDisplay": 10.0,
}  # fmt: skip
_COMMAND_TIMEOUT, _PROMPT_TIMEOUT = 600.0, 30.0

#: What a matcher is tried on where our row names no subject.
_SUBJECTS = {"InstructionsLoaded": "load_reason", "StopFailure": "error", "Elicitation": "mcp_server_name"}
_SHARED = frozenset({"type", "if", "timeout", "statusMessage", "once"})
_FIELDS: Mapping[str, frozenset[str]] = {
    "command": _SHARED | {"command", "args", "async", "asyncRewake", "rewakeMessage", "rewakeSummary", "shell"},
    "prompt": _SHARED | {"prompt", "model", "continueOnBlock"},
    "http": _SHARED | {"url", "headers", "allowedEnvVars"},
}
_SHELLS = ("bash", "powershell")
#: Kept as written, so that a file can be written again.
_KEPT = (
    "if", "statusMessage", "once", "asyncRewake", "rewakeMessage", "rewakeSummary", "shell", "continueOnBlock",
)  # fmt: skip
#: What only Claude Code itself can do: the hook runs without it.
_WITHOUT: Mapping[str, tuple[str, str]] = {
    "asyncRewake": ("a late exit code 2 does not wake the agent here", "use a hook that is not asynchronous where its answer matters"),
    "rewakeMessage": ("nothing wakes the agent here, so this text is not shown", "use a hook that is not asynchronous"),
    "rewakeSummary": ("nothing wakes the agent here, so this text is not shown", "use a hook that is not asynchronous"),
    "statusMessage": ("only Claude Code shows this text while the hook runs", "nothing needs to be changed"),
    "once": ("has an effect only in the front matter of a skill", "use `when = { once_per_session = true }` in hookline.toml"),
    "continueOnBlock": ("a refusal ends the turn in Claude Code unless this is set; here it never does", "nothing needs to be changed"),
}  # fmt: skip
#: Where Claude Code passes a file for variables of later commands.
_WITH_ENV_FILE = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")


def places(cwd: str, home: str, environ: Mapping[str, str]) -> tuple[ConfigPlace, ...]:
    return agent_places("claude-code", cwd, home, environ)


def parse(layers: Sequence[Layer], lookup: Lookup) -> Parsed:
    """Per event, in the order of the files; the same hook in two files runs once."""
    findings = Findings()
    enabled = not _switched_off(layers, findings)
    by_event: dict[str, list[HookSpec]] = {}
    for layer in layers:
        check_events(layer, EVENTS, findings)
        for entry in entries(layer, findings):
            spec = _spec(entry, enabled=enabled)
            if spec is not None:
                by_event.setdefault(spec.event, []).append(spec)
    specs = chain.from_iterable(map(_once_each, by_event.values()))
    return Parsed(specs=tuple(specs), problems=findings.all())


def _once_each(specs: list[HookSpec]) -> Iterator[HookSpec]:
    """A hook that stands twice is one; a command under several matchers runs once, if they match together."""
    if len({spec.name for spec in specs}) == len(specs):  # to compare the rest takes longer than to read the file
        yield from specs
        return
    left: dict[str, HookSpec] = {}
    for spec in specs:
        left.setdefault(_meaning(spec), spec)
    keys = [repr((spec.action, spec.extra.get("if"), spec.extra.get("shell"))) for spec in left.values()]
    times = Counter(keys)
    for spec, key in zip(left.values(), keys, strict=True):
        yield replace(spec, same=key) if times[key] > 1 else spec


def _meaning(spec: HookSpec) -> str:
    """Everything about a hook but its place."""
    return repr(replace(spec, id="", origin=Origin(file="")))


def _switched_off(layers: Sequence[Layer], findings: Findings) -> bool:
    off = False
    for layer in layers:
        value = (as_object(layer.tree) or {}).get(SWITCH)
        if isinstance(value, bool):
            off = value
        elif value is not None:
            findings.report(layer, f"$.{SWITCH}", f"{SWITCH} is {show(value)}", "write true or false")
    return off


def _spec(entry: HookEntry, *, enabled: bool) -> HookSpec | None:
    matcher, action = _matcher(entry), _action(entry)
    if action is None or matcher is None:
        return None
    _report_without(entry)
    extra = {key: entry.fields[key] for key in _KEPT if entry.fields.get(key) not in (None, False)}
    if entry.matcher:
        extra["matcher"] = entry.matcher
    return HookSpec(
        id=entry.id,
        name=_name_of(action),
        dialect="claude",
        event=EVENTS.get(entry.event, f"claude:{entry.event}"),
        native_event=entry.event,
        origin=entry.origin,
        action=action,
        matcher=matcher,
        mode="async" if isinstance(action, Command) and _on_its_own(entry) else "sync",
        timeout=entry.seconds(_default_timeout(action, entry.event), per_second=1),
        flow="chain" if entry.event in _CHAINED else "parallel",
        after_deny="continue",
        on_failure="ignore",
        enabled=enabled,
        extra=extra,
    )


def _default_timeout(action: Action, event: str) -> float:
    return _EVENT_TIMEOUTS.get(event, _PROMPT_TIMEOUT if isinstance(action, Prompt) else _COMMAND_TIMEOUT)


def _name_of(action: Action) -> str:
    match action:
        case Command(form="argv", argv=argv):
            return " ".join(argv)
        case Command(text=text):
            return text
        case Prompt(text=text):
            return f"prompt:{text[:50]}{'...' if len(text) > 50 else ''}"
        case Http(url=url):
            return url
        case _:
            return ""


def _on_its_own(entry: HookEntry) -> bool:
    return entry.flag("asyncRewake") or entry.flag("async")


def _report_without(entry: HookEntry) -> None:
    for field, (finding, fix) in _WITHOUT.items():
        if entry.fields.get(field) not in (None, False):
            entry.report(field, f"{field}: {finding}", fix, "warning")
    words = (entry.fields.get("command"), entry.fields.get("args"))
    if entry.event in _WITH_ENV_FILE and "CLAUDE_ENV_FILE" in repr(words):
        finding = (
            "only Claude Code reads CLAUDE_ENV_FILE: what the hook writes there reaches no command of other agents"
        )
        entry.report("command", finding, "set these variables where the agent is started", "warning")


# ── when it runs ─────────────────────────────────────────────────────────────────────────────────────


def _matcher(entry: HookEntry) -> Matcher | None:
    pattern = claude_pattern(entry.matcher)
    if pattern is None:
        entry.report_matcher(" is not a regular expression", NAMES_OR_REGEX)
        return None
    conditions = _condition(entry)
    if conditions is None:
        return None
    fields = (*((NOT_REFUSED,) if entry.event == "PostToolUseFailure" else ()), *conditions)
    row = ROWS.get(entry.event)
    if entry.event in _SUBJECTS and pattern != Pattern():
        return Matcher(fields=(*fields, FieldTest(path=_SUBJECTS[entry.event], pattern=pattern)))
    subject = pattern if row is not None and row.subject is not None else Pattern()
    return Matcher(subject=subject, fields=fields)


def _condition(entry: HookEntry) -> tuple[FieldTest, ...] | None:
    rule = entry.fields.get("if")
    if rule is None:
        return ()
    if entry.event not in TOOL_EVENTS:
        entry.report("if", f"a hook with `if` never runs on {entry.event}", "remove it, or use a tool event")
        return None
    tests = rule_tests(rule) if isinstance(rule, str) else None
    if tests is None:
        fix = "write one rule like Bash(git *) or Edit(src/**); without one the hook runs for every call"
        entry.report("if", f"{show(rule)} is not a supported rule", fix)
        return ()
    return tests


# ── what it does ─────────────────────────────────────────────────────────────────────────────────────


def _action(entry: HookEntry) -> Action | None:
    kind = entry.fields.get("type")
    if isinstance(kind, str) and kind in _FIELDS:
        entry.check_fields(_FIELDS[kind])
    match kind:
        case "command":
            return _command(entry)
        case "prompt":
            return _prompt(entry)
        case "http":
            return _http(entry)
        case "agent" | "mcp_tool":
            entry.report("type", f"hooks of type {kind!r} are not supported here", "use a command, prompt or http")
            return None
        case _:
            finding = "the hook has no type" if kind is None else f"unknown hook type {show(kind)}"
            entry.report("type", finding, 'write "command", "prompt" or "http"')
            return None


def _command(entry: HookEntry) -> Command | None:
    text = entry.text("command", required=True)
    args, shell = entry.fields.get("args"), entry.fields.get("shell")
    if shell is not None and shell not in _SHELLS:
        entry.report("shell", f"shell is {show(shell)}", f"write {' or '.join(_SHELLS)}; bash is used", "warning")
    if text is None:
        return None
    if args is None:
        return Command(form="shell", text=text)
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        entry.report("args", f"args is {show(args)}", "write a list of strings")
        return None
    return Command(form="argv", argv=(text, *args))


def _prompt(entry: HookEntry) -> Prompt | None:
    text = entry.text("prompt", required=True)
    model = entry.text("model", required=False)
    if entry.event in EVENTS and entry.event not in PROMPT_EVENTS:
        able = ", ".join(sorted(PROMPT_EVENTS))
        entry.report("type", f"prompt hooks are not supported on {entry.event}", f"use a command, or one of {able}")
        return None
    return Prompt(text=text, model=model or "") if text else None


def _http(entry: HookEntry) -> Http | None:
    url = entry.text("url", required=True)
    headers = as_object(entry.fields.get("headers") or {})
    if headers is None or not all(isinstance(value, str) for value in headers.values()):
        entry.report("headers", f"headers is {show(entry.fields['headers'])}", "write an object of strings")
        return None
    allowed = entry.fields.get("allowedEnvVars") or []
    if not isinstance(allowed, list) or not all(isinstance(name, str) for name in allowed):
        entry.report("allowedEnvVars", f"allowedEnvVars is {show(allowed)}", "write a list of names of variables")
        return None
    for name, value in headers.items():
        for variable in dict.fromkeys(_VARIABLE.findall(value)):
            if variable not in allowed:
                finding = f"${variable} is empty: allowedEnvVars does not list it"
                entry.report(f"headers.{name}", finding, f'add "{variable}" to allowedEnvVars', "warning")
    return Http(url=url, headers=tuple(headers.items()), variables=tuple(allowed)) if url else None


def render(specs: Sequence[HookSpec]) -> Rendered:
    losses, groups = Losses("claude", kin=("lazy",)), Groups()
    off = bool(specs) and not any(spec.enabled for spec in specs)
    for event, spec in writable_hooks(specs, "claude", EVENTS, losses, off=off):
        if not _unwritable(spec, losses) and (hook := _hook(spec, losses)) is not None:
            groups.add(event, _matcher_text(spec), hook)
    return groups.text(losses, inside={}, beside={SWITCH: True} if off else {})


def _unwritable(spec: HookSpec, losses: Losses) -> bool:
    row = ROWS.get(spec.event)
    if row is not None and row.subject is None and spec.matcher.subject != Pattern():
        losses.leave_out(spec, f"a matcher on {spec.event}")
        return True
    # Its own tests are written as ``if`` and the matcher.
    return losses.unwritable(spec, written=spec.matcher.fields if spec.dialect == "claude" else ())


def _hook(spec: HookSpec, losses: Losses) -> dict[str, Any] | None:
    hook = _render_action(spec)
    if hook is None or (isinstance(spec.action, Prompt) and spec.event in EVENTS and spec.event not in PROMPT_EVENTS):
        losses.leave_out(spec, f"a hook of kind {type(spec.action).__name__} on {spec.event}")
        return None
    if spec.dialect == "claude":
        hook |= {key: spec.extra[key] for key in _KEPT if key in spec.extra}
    if spec.mode in {"async", "background"} and hook.get("asyncRewake") is not True:
        hook["async"] = True
    if spec.timeout is not None and spec.timeout != _default_timeout(spec.action, spec.event):
        hook["timeout"] = amount(spec.timeout, 1)
    losses.policy(spec, modes=("sync", "async", "background"))
    if isinstance(spec.action, Prompt) and spec.action.model == OWN_MODEL:
        losses.weaken(spec, "asking the agent's own model")
    if isinstance(spec.action, Http) and spec.action.allow_insecure:
        losses.weaken(spec, "plain http to another machine")
    if spec.after_deny != "continue" and spec.flow == "chain":
        losses.weaken(spec, "stopping the next hooks after a deny")
    return hook


def _render_action(spec: HookSpec) -> dict[str, Any] | None:
    match spec.action:
        case Command(form="argv", argv=(program, *args)):
            return {"type": "command", "command": program, "args": args}
        case Command() as action:
            text = command_text(action)
            return None if text is None else {"type": "command", "command": text}
        case Prompt(text=text, model=model):
            return {"type": "prompt", "prompt": text, **({"model": model} if model not in {"", OWN_MODEL} else {})}
        case Http(url=url, headers=headers, variables=variables):
            if variables is None:
                variables = tuple(dict.fromkeys(name for _, value in headers for name in _VARIABLE.findall(value)))
            hook = {"type": "http", "url": url, **({"headers": dict(headers)} if headers else {})}
            return {**hook, **({"allowedEnvVars": list(variables)} if variables else {})}
        case _:
            return None


def _matcher_text(spec: HookSpec) -> str | None:
    if spec.dialect == "claude":
        return spec.extra.get("matcher")
    return claude_text(spec.matcher.subject) or None
