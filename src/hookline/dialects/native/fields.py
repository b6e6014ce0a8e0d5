"""Every key of a ``hookline.toml``, with its kind and its meaning. The loader and the JSON Schema both read this."""

from __future__ import annotations

from hookline.core._dataclass import replace
from hookline.core.hook import Http
from hookline.core.typed import Any
from hookline.dialects.native import kinds
from hookline.dialects.native.kinds import Field, Kind, Wrong, bad_pattern, show

#: Formats that a hook can be bound to: those in which an event comes on stdin.
WIRES = (
    "native", "claude", "codex", "copilot", "gemini", "lazy", "letta", "qwen", "droid", "kimi", "grok", "hermes", "deepagents",
    "cursor", "vscode", "windsurf", "kiro", "antigravity", "crush", "openhands", "vibe", "junie",
)  # fmt: skip

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY_SUBJECT = frozenset({"", "*", ".*"})


def _match() -> Kind:
    """A pattern for the subject, or a table of dotted field paths to patterns and values."""

    def read(value: Any) -> Any:
        if isinstance(value, str):
            return None if value in _ANY_SUBJECT else bad_pattern(value) or {"": value}
        if not isinstance(value, dict):
            return Wrong(finding=f"must be a pattern or a table; got {show(value)}", fix='write "Bash|Edit"')
        for path, test in value.items():
            if wrong := _bad_test(path, test):
                return wrong
        return value

    scalar = {"type": ["string", "boolean", "number"]}
    listed = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    rule = {"type": "object", "properties": {"command": {"type": "string"}, "not": {}}, "maxProperties": 1}
    table = {"type": "object", "additionalProperties": {"anyOf": [scalar, listed, rule]}}
    return Kind(read=read, schema={"anyOf": [{"type": "string", "format": "regex"}, table]})


def _bad_test(path: str, test: Any) -> Wrong | None:
    if not path:
        return Wrong(
            finding="has a field without a name", fix="name a field of the event's data, e.g. tool_input.command"
        )
    if isinstance(test, (bool, int, float)):
        return None
    if isinstance(test, dict) and list(test) == ["not"]:
        return _bad_test(path, test["not"])
    if isinstance(test, dict) and path == "tool_input":
        key = next(iter(test), "command")
        return Wrong(finding=f"has a table for {path!r}; name the field in it", fix=f'write "{path}.{key}" = "…"')
    if isinstance(test, dict) and list(test) == ["command"] and isinstance(test["command"], str):
        return None
    listed: list[Any] = test if isinstance(test, list) else [test]
    if not listed or not all(isinstance(one, str) for one in listed):
        return Wrong(
            finding=f"the test of {path!r} must be a pattern, a list of patterns, a number or a boolean; got {show(test)}",
            fix=f'write "{path}" = "…"',
        )
    return next((wrong for one in listed if (wrong := bad_pattern(one))), None)


def _http() -> Kind:
    def read(value: Any) -> Any:
        table = {"url": value} if isinstance(value, str) else value
        if not isinstance(table, dict):
            return Wrong(finding=f"must be a URL or a table; got {show(value)}", fix='write "https://…"')
        if unknown := sorted(set(table) - set(kinds.names(HTTP_FIELDS))):
            return Wrong(
                finding=f"has an unknown key {unknown[0]!r}", fix=f"write one of {', '.join(kinds.names(HTTP_FIELDS))}"
            )
        read_values: dict[str, Any] = {}
        for field in HTTP_FIELDS:
            if field.key in table:
                one = field.kind.read(table[field.key])
                if isinstance(one, Wrong):
                    return Wrong(finding=f"{field.key} {one.finding}", fix=one.fix)
                read_values[field.key] = one
        return (
            _http_action(**read_values)
            if "url" in read_values
            else Wrong(finding="has no url", fix='add url = "https://…"')
        )

    return Kind(
        read=read, schema={"anyOf": [{"type": "string", "pattern": "^https?://"}, table_schema(HTTP_FIELDS, ("url",))]}
    )


def _http_action(
    url: str, headers: tuple[tuple[str, str], ...] = (), *, allow_insecure: bool = False, variables: Any = None
) -> Http | Wrong:
    # Imported here: only a configuration with an http hook pays for it.
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        return Wrong(finding=f"is not a URL: {error}", fix='write "https://…"')
    if parts.scheme not in {"http", "https"} or not host or port == 0:
        return Wrong(finding=f"is not an http or https URL: {url[:80]!r}", fix='write "https://…"')
    if parts.scheme == "http" and host not in _LOOPBACK and not allow_insecure:
        return Wrong(finding="is plain http to another machine", fix="use https, or write allow_insecure = true")
    return Http(url=url, headers=headers, allow_insecure=allow_insecure, variables=variables)


def _table(fields: tuple[Field, ...], required: tuple[str, ...] = ()) -> Kind:
    return replace(kinds.table(), schema=table_schema(fields, required))


def table_schema(fields: tuple[Field, ...], required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {field.key: {"description": field.about, **field.kind.schema} for field in fields}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _inject() -> Kind:
    options = ("none", "context", "attachment", "comment")

    def read(value: Any) -> Any:
        if isinstance(value, bool):
            return "context" if value else "none"
        return kinds.choice(*options).read(value)

    return Kind(read=read, schema={"anyOf": [{"type": "boolean"}, {"type": "string", "enum": list(options)}]})


# ── the tables ───────────────────────────────────────────────────────────────────────────────────────

HTTP_FIELDS = (
    Field(key="url", kind=kinds.text('"https://…"'), about="Where the event is posted to."),
    Field(key="headers", kind=kinds.text_table('{ Authorization = "Bearer $TOKEN" }'),
          about="Headers; $NAME is read from the environment when the hook runs, so that no secret is in the file."),
    Field(key="allow_insecure", kind=kinds.flag(), about="Allow plain http to a machine other than this one."),
    Field(key="variables", kind=kinds.text_list('["TOKEN"]'),
          about="The only variables that headers may name; every other, and one that is not set, is empty."),
)  # fmt: skip

AGENT_FIELDS = (
    Field(key="prompt", kind=kinds.text(), about="The instructions of the agent."),
    Field(key="model", kind=kinds.text('"haiku"'), about="Its model: a short name or provider:model."),
    Field(key="tools", kind=kinds.text_list('["memory"]'), about="The tools it may use; an empty list for none."),
    Field(key="steps", kind=kinds.whole(1, 1000), about="How many model calls it may make."),
    Field(key="runner", kind=kinds.choice("internal", "external"), about="In process, or as a program of its own."),
    Field(key="command", kind=kinds.argv('["my-agent", "--json"]'), about="The program of an external runner."),
)  # fmt: skip

WHEN_FIELDS = (
    Field(key="every_n_turns", kind=kinds.whole(1), about="Only on every n-th turn that a person typed."),
    Field(key="min_turn", kind=kinds.whole(0), about="Not before this turn."),
    Field(key="message_contains", kind=kinds.texts('["deploy"]'), about="Any of these is part of the message, in any case."),
    Field(key="role", kind=kinds.text('"user"'), about="Only for messages of this role."),
    Field(key="agent", kind=kinds.texts('["codex"]'), about="Only when one of these agents fired the event."),
    Field(key="cwd", kind=kinds.texts('["~/work/**"]'), about="Only below directories that match one of these globs."),
    Field(key="once_per_session", kind=kinds.flag(), about="Only the first time in a session."),
    Field(key="once", kind=kinds.flag(), about="Short for once_per_session."),
    Field(key="debounce", kind=kinds.duration('"30s"'), about="Not again within this time."),
    Field(key="max_per_minute", kind=kinds.whole(1), about="At most this often per minute."),
)  # fmt: skip

ACTIONS = (
    Field(key="run", kind=kinds.argv(), about="A program and its arguments, without a shell; relative paths start at the project's root, then at this file."),
    Field(key="shell", kind=kinds.text(), about="A line for /bin/sh."),
    Field(key="script", kind=kinds.text(), about="A script that begins with a shebang line."),
    Field(key="python", kind=kinds.text('"package.module:function"'), about="A Python function, package.module:function, called in process."),
    Field(key="http", kind=_http(), about="A URL that the event is posted to; https, or plain http on this machine."),
    Field(key="prompt", kind=kinds.text(), about="A question to a model, which answers ok or not ok with a reason; $ARGUMENTS is the event."),
    Field(key="agent", kind=_table(AGENT_FIELDS, ("prompt",)), about="A small agent with its own model, tools and step limit."),
    Field(key="plugin", kind=kinds.text('"./plugins/guard"'), about="A long-lived program that speaks lash's plugin protocol."),
)  # fmt: skip

HOOK_FIELDS = (
    Field(key="name", kind=kinds.text('"no-rm"'), about="Its name; a later layer overrides a hook by naming it."),
    Field(key="description", kind=kinds.any_text(), about="What it is for."),
    Field(key="enabled", kind=kinds.flag(), about="false turns it off."),
    Field(key="on", kind=kinds.texts('"PreToolUse"'), about="The event or events it runs on."),
    Field(key="match", kind=_match(), about="A regular expression that the event's subject (mostly the tool's name) matches in full, or a table of fields of the data to expressions, which are searched for, and values; { \"tool_input.command\" = { command = \"git push *\" } } is a rule on the programs that a shell command starts, { not = … } is the opposite."),
    *ACTIONS,
    Field(key="dialect", kind=kinds.choice(*WIRES), about="The format of what it reads and answers, if only one counts; without it, it reads hookline's with Claude Code's fields beside them, and may answer in either."),
    Field(key="model", kind=kinds.text('"haiku"'), about="The model that answers a prompt; agent is the model of the agent that fired the event."),
    Field(key="timeout", kind=kinds.duration(), about='How long it may take: "500ms", "5s", "2m", or seconds.'),
    Field(key="budget", kind=kinds.duration('"50ms"'), about="How long 95 of 100 runs should take at most; hookline list, status and doctor report when they do not."),
    Field(key="over_budget", kind=kinds.choice("report", "background", "skip"), about="What becomes of a hook that is over its budget; one that could refuse is only reported."),
    Field(key="cache", kind=kinds.duration('"10s"'), about="The hook is pure: for this long the daemon reuses its answer to the same event in the same directory."),
    Field(key="on_failure", kind=kinds.choice("ignore", "deny", "abort"), about="What it means when the hook cannot do its job."),
    Field(key="on_unsupported", kind=kinds.choice("deny", "ignore"), about="What it means when the agent cannot carry out the hook's answer."),
    Field(key="ask", kind=kinds.choice("agent", "inbox", "two"), about="Who answers when the hook asks: the agent's own question, or a person in hookline web or on call, or two different people on call (hookline fleet inbox); without an answer in time the call is refused."),
    Field(key="mode", kind=kinds.choice("sync", "background", "async", "detached", "apply-later"), about="Whether the event waits for the hook."),
    Field(key="order", kind=kinds.whole(-(1 << 31), 1 << 31), about="Lower runs earlier; equal numbers keep the order of the files."),
    Field(key="flow", kind=kinds.choice("chain", "parallel"), about="One after the other, or with its neighbours."),
    Field(key="after_deny", kind=kinds.choice("stop", "always-stop", "continue"), about="Whether later hooks still run after this one denied; always-stop also where the event cannot be denied."),
    Field(key="when", kind=_table(WHEN_FIELDS), about="Further conditions; all must hold."),
    Field(key="env", kind=kinds.text_table(), about="Variables for the hook's environment."),
    Field(key="covers", kind=kinds.texts('["scripts/lib"]'), about="Files and folders of the project that belong to the hook and are approved with it, instead of its script's folder."),
    Field(key="inject", kind=_inject(), about="What the plain text it prints becomes."),
    Field(key="label", kind=kinds.any_text(), about="The label of its injected text."),
    Field(key="prefix", kind=kinds.any_text(), about="Text put before its injected text."),
)  # fmt: skip

SOURCE_FIELDS = (
    Field(key="dialect", kind=kinds.text('"letta"'), about="The system the hooks were written for."),
    Field(key="installed", kind=kinds.text('"claude-code"'), about="Instead: the plugins that are installed in this agent, for all the others. It runs its own itself."),
    Field(key="path", kind=kinds.text('".letta/settings.json"'), about="Its file; without it, the system's own places."),
    Field(key="paths", kind=kinds.texts('["a.json", "b.json"]'), about="Its files, lowest precedence first."),
    Field(key="on_failure", kind=kinds.choice("ignore", "deny"), about="deny: where its hooks can refuse a tool call, a permission or a prompt, their failure refuses it."),
    Field(key="name", kind=kinds.text(), about="What to call this source."),
    Field(key="enabled", kind=kinds.flag(), about="false leaves it out."),
)  # fmt: skip

PACK_FIELDS = (
    Field(key="source", kind=kinds.text('"github:owner/repo"'), about="Where it comes from, as hookline add takes it."),
    Field(key="revision", kind=kinds.any_text(), about="The commit (40 hexadecimal digits), or the version of a package."),
    Field(key="digest", kind=kinds.text('"sha256:…"'), about="The digest of its published files; nothing else is run."),
    Field(key="on_failure", kind=kinds.choice("ignore", "deny"), about="deny: where its hooks can refuse a tool call, a permission or a prompt, their failure refuses it."),
    Field(key="env", kind=kinds.text_table('{ NTFY_URL = "https://…" }'), about="Variables for its hooks: the settings of the pack."),
    Field(key="enabled", kind=kinds.flag(), about="false leaves it out."),
)  # fmt: skip

LIMIT_FIELDS = (
    Field(key="timeout", kind=kinds.duration('"60s"'), about="The time limit of a hook that sets none itself."),
    Field(key="output", kind=kinds.whole(1024, 1 << 30), about="Bytes of output kept in memory; the rest goes to a file."),
    Field(key="stop_continuations", kind=kinds.whole(0, 1000), about="How often a Stop hook may send the agent back to work in one turn."),
    Field(key="grace", kind=kinds.duration('"1s"'), about="Time between asking a program to end and ending it."),
    Field(key="model_tokens_per_day", kind=kinds.whole(0), about="Tokens that hooks and the distiller may use in a day; then no model is asked until tomorrow. 0: no cap."),
    Field(key="model_usd_per_day", kind=kinds.amount(), about="The same in US dollars, where the price of the model is known."),
)  # fmt: skip

TELEMETRY_FIELDS = (
    Field(key="endpoint", kind=kinds.text('"http://127.0.0.1:4318"'), about="Where an OpenTelemetry collector listens (OTLP over HTTP); /v1/traces and /v1/metrics are added. Without it nothing is sent."),
    Field(key="headers", kind=kinds.text_table('{ Authorization = "Bearer $TOKEN" }'), about="Headers; $NAME is read from the daemon's environment, so that no secret is in the file."),
    Field(key="buffer", kind=kinds.whole(1, 1_000_000), about="Events that may wait for a collector that is down; the oldest beyond it are dropped and counted."),
    Field(key="timeout", kind=kinds.duration('"5s"'), about="How long one attempt to send may take."),
)  # fmt: skip

INBOX_FIELDS = (
    Field(key="webhook", kind=kinds.text('"https://chat.example.com/hooks/1"'), about="Where a note of a question is sent (POST, JSON with text), so that a chat tells who is on call. It only notifies: nothing that comes back is read."),
)  # fmt: skip

RECORD_FIELDS = (
    Field(key="enabled", kind=kinds.flag(), about="Whether firings are recorded."),
    Field(key="keep", kind=kinds.days(), about="How long a record is kept."),
    Field(key="keep_days", kind=kinds.whole(1), about="The same as a number of days."),
    Field(key="keep_mb", kind=kinds.whole(1), about="Megabytes of records that are kept."),
    Field(key="redact", kind=kinds.patterns(), about="Further regular expressions whose matches are redacted before anything is kept."),
)  # fmt: skip
