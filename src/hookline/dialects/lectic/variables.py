"""The variables that each event sets for a hook, and which stale ones must not show through.

A variable that does not apply is unset, not empty, even if the caller's environment has one of that name.
"""

from __future__ import annotations

import json
import os.path
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hookline.core.event import Event, iso_time
from hookline.core.hook import HookSpec

_KIB = 1024


def _results_json(output: Any) -> str:
    """A list of ``{mimetype, content}``."""
    return _compact(_results(output))


def _error_json(error: Any) -> str:
    """``{type, message}``; a type that was not given is ``error``, as for everything unforeseen."""
    if isinstance(error, Mapping):
        message = error.get("message", "")
        return _compact({"type": str(error.get("type") or "error"), "message": _as_text(message)})
    return _compact({"type": "error", "message": "" if error is None else _as_text(error)})


def _size_text(size: int) -> str:
    """``68 KiB``: one decimal below ten, none from ten on."""
    if size < _KIB:
        return f"{size} B"
    scaled, unit = (size / _KIB, "KiB") if size < _KIB * _KIB else (size / (_KIB * _KIB), "MiB")
    return f"{scaled:.1f} {unit}" if scaled < 10 else f"{scaled:.0f} {unit}"


def _results(output: Any) -> list[dict[str, Any]]:
    if output is None:
        return []
    if isinstance(output, str):
        return [_result("text/plain", output)]
    if isinstance(output, list | tuple) and all(isinstance(item, Mapping | str) for item in output):
        return [_one(item) for item in output]
    return [_result("application/json", _compact(output))]


def _one(item: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return _result("text/plain", item)
    if "mimetype" in item:
        return {"mimetype": item["mimetype"], "content": item.get("content", "")}
    # The content blocks of other agents: {"type": "text", "text": …}.
    if isinstance(item.get("text"), str):
        return _result("text/plain", item["text"])
    return _result("application/json", _compact(item))


def _result(mimetype: str, content: str) -> dict[str, Any]:
    return {"mimetype": mimetype, "content": content}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else _compact(value)


def _compact(value: Any) -> str:
    """JSON without spaces, with characters unescaped; a value that JSON does not have becomes text."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(str(type(value)))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


#: Results longer than this are not passed on; a warning stands in for them.
_MAX_RESULTS = 65536

TOKENS = MappingProxyType(
    {
        "TOKEN_USAGE_INPUT": "input",
        "TOKEN_USAGE_CACHED": "cached",
        "TOKEN_USAGE_OUTPUT": "output",
        "TOKEN_USAGE_TOTAL": "total",
    }
)


def whole(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


#: Variable -> (field of the canonical data, how its text is read), for an agent that sends them to us.
FIELDS: Mapping[str, tuple[str, Callable[[str], Any]]] = MappingProxyType(
    {
        "USER_MESSAGE": ("prompt", str),
        "MESSAGES_LENGTH": ("messages_length", whole),
        "LECTIC_INTERLOCUTOR": ("interlocutor", str),
        "LECTIC_MODEL": ("model", str),
        "LECTIC_FILE": ("file", str),
        "ASSISTANT_MESSAGE": ("message", str),
        "TOOL_USE_DONE": ("tool_use_done", lambda text: text == "1"),
        "LOOP_COUNT": ("loop_count", whole),
        "FINAL_PASS_COUNT": ("final_pass_count", whole),
        "TOOL_CALL_ID": ("tool_use_id", str),
        "TOOL_NAME": ("tool_name", str),
        "TOOL_ARGS": ("tool_input", _json),
        "TOOL_CALL_RESULTS": ("tool_output", _json),
        "TOOL_CALL_ERROR": ("tool_error", _json),
        "TOOL_DURATION_MS": ("duration_ms", whole),
        "RUN_ID": ("run_id", str),
        "RUN_STARTED_AT": ("started_at", str),
        "RUN_CWD": ("cwd", str),
        "RUN_STATUS": ("status", str),
        "RUN_DURATION_MS": ("duration_ms", whole),
        "RUN_ERROR_MESSAGE": ("error_message", str),
        "ERROR_MESSAGE": ("error_message", str),
    }
)

#: Every variable that some event sets.
EVENT_VARIABLES = frozenset((*FIELDS, *TOKENS, "TOOL_CALL_WARNING", "SHELL_EVENT", "SHELL_DATA")) - {"LECTIC_FILE"}


def event_variables(spec: HookSpec, event: Event) -> dict[str, str]:
    """The variables of this event, each with its value; what is None does not apply."""
    make = _shell if event.kind.family == "shell" else _EVENTS.get(event.kind.name)
    variables = make(spec, event) if make else {}
    return {name: clean(value) for name, value in variables.items() if value is not None}


def _shell(_spec: HookSpec, event: Event) -> dict[str, str | None]:
    """A shell's event, which Lectic has no variables for: its name, and all of its data as JSON."""
    return {"SHELL_EVENT": event.kind.name, "SHELL_DATA": _compact(dict(event.data))}


def _user_message(spec: HookSpec, event: Event) -> dict[str, str | None]:
    return {
        "USER_MESSAGE": _text(event.data.get("prompt")) or None,
        **_speaker(spec, event),
        "MESSAGES_LENGTH": str(_messages_length(event)),
    }


def _assistant_message(spec: HookSpec, event: Event) -> dict[str, str | None]:
    data = event.data
    return {
        "ASSISTANT_MESSAGE": _text(data.get("message")) or None,
        **_speaker(spec, event),
        "TOOL_USE_DONE": "1" if data.get("tool_use_done") == 1 else None,
        **_tokens(data),
        "LOOP_COUNT": _number(data.get("loop_count")) or "0",
        "FINAL_PASS_COUNT": _number(data.get("final_pass_count")) or "0",
    }


def _tool_use_pre(_spec: HookSpec, event: Event) -> dict[str, str | None]:
    data = event.data
    return {
        "TOOL_CALL_ID": _text(data.get("tool_use_id")) or event.id or None,
        "TOOL_NAME": _text(data.get("tool_name")),
        "TOOL_ARGS": _compact(data.get("tool_input", {})),
        **_tokens(data),
    }


def _tool_use_post(spec: HookSpec, event: Event) -> dict[str, str | None]:
    data = event.data
    found = _tool_use_pre(spec, event) | {"TOOL_DURATION_MS": _number(data.get("duration_ms"))}
    if event.kind.name == "PostToolUseFailure" or data.get("tool_error") is not None:
        return found | {"TOOL_CALL_ERROR": _error_json(data.get("tool_error"))}
    results = _results_json(data.get("tool_output"))
    size = len(results.encode(errors="replace"))
    if size > _MAX_RESULTS:
        return found | {"TOOL_CALL_WARNING": f"tool call results too large ({_size_text(size)})"}
    return found | {"TOOL_CALL_RESULTS": results}


def _run_start(_spec: HookSpec, event: Event) -> dict[str, str | None]:
    return {
        "RUN_ID": _run_id(event),
        "RUN_STARTED_AT": _moment(event.data.get("started_at"), event.time),
        "RUN_CWD": _text(event.data.get("cwd")) or event.cwd,
    }


def _run_end(_spec: HookSpec, event: Event) -> dict[str, str | None]:
    data = event.data
    status = _text(data.get("status")) or "success"
    error = (_text(data.get("error_message")) or "") if status == "error" else None
    return {
        "RUN_ID": _run_id(event),
        "RUN_STATUS": status,
        "RUN_DURATION_MS": _number(data.get("duration_ms")),
        "RUN_ERROR_MESSAGE": error,
        "ERROR_MESSAGE": error,
        **_tokens(data),
    }


_EVENTS: Mapping[str, Callable[[HookSpec, Event], dict[str, str | None]]] = MappingProxyType(
    {
        "UserPromptSubmit": _user_message,
        "AssistantMessage": _assistant_message,
        "PreToolUse": _tool_use_pre,
        "PostToolUse": _tool_use_post,
        "PostToolUseFailure": _tool_use_post,
        "RunStart": _run_start,
        "RunEnd": _run_end,
    }
)


# ── the pieces ───────────────────────────────────────────────────────────────────────────────────────


#: The interlocutor's name if there is none; the conversation that a hook reads uses it too.
NOBODY = "Assistant"


def interlocutor(spec: HookSpec, event: Event) -> str | None:
    """Who speaks: as the event says, as the configuration says, or the agent itself."""
    agent = event.agent if event.agent != "hookline" else ""
    return _text(event.data.get("interlocutor")) or spec.extra.get("interlocutor") or agent or None


def _speaker(spec: HookSpec, event: Event) -> dict[str, str | None]:
    model = _text(event.data.get("model")) or spec.extra.get("model") or "default"
    return {"LECTIC_INTERLOCUTOR": interlocutor(spec, event) or NOBODY, "LECTIC_MODEL": model}


def _messages_length(event: Event) -> int:
    """As given; else counted from the history, or from the turns (each but the last has an answer)."""
    given = _number(event.data.get("messages_length"))
    if given is not None:
        return int(given)
    history = event.data.get("history")
    if isinstance(history, list | tuple) and history:
        return len(history) + 1
    return max(1, 2 * event.turn - 1)


def _tokens(data: Mapping[str, Any]) -> dict[str, str | None]:
    """All four or none; 0 is a number too."""
    given = data.get("tokens")
    if not isinstance(given, Mapping) or all(_number(given.get(key)) is None for key in TOKENS.values()):
        return {}
    counts = {key: _number(given.get(key)) or "0" for key in TOKENS.values()}
    if _number(given.get("total")) is None:
        counts["total"] = str(int(counts["input"]) + int(counts["output"]))
    return {name: counts[key] for name, key in TOKENS.items()}


def _run_id(event: Event) -> str | None:
    return _text(event.data.get("run_id")) or event.session or event.id or None


def _moment(given: Any, now: float) -> str:
    if isinstance(given, str) and given:
        return given
    return iso_time(given if isinstance(given, int | float) else now)


def _number(value: Any) -> str | None:
    """A whole number as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return str(round(float(value))) if not isinstance(value, int) else str(value)
    except (ValueError, OverflowError):
        return None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return _compact(value)


def clean(text: str) -> str:
    """Text that an environment variable can hold: no NUL, no lone surrogate."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


#: Variable -> (XDG variable, place below HOME on Linux, place below HOME on macOS).
_PLACES: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "LECTIC_CONFIG": ("XDG_CONFIG_HOME", ".config", "Library/Preferences"),
        "LECTIC_DATA": ("XDG_DATA_HOME", ".local/share", "Library/Application Support"),
        "LECTIC_CACHE": ("XDG_CACHE_HOME", ".cache", "Library/Caches"),
        "LECTIC_STATE": ("XDG_STATE_HOME", ".local/state", "Library/Logs"),
    }
)


def directory(variable: str, environ: Mapping[str, str], platform: str) -> str:
    """The value of one of the five directory variables."""
    if given := environ.get(variable):
        return given
    if variable == "LECTIC_TEMP":
        return os.path.join(environ.get("TMPDIR") or "/tmp", "lectic")  # noqa: S108  (only named, never opened)
    xdg, linux, macos = _PLACES[variable]
    home = environ.get("HOME", "")
    if platform == "darwin":
        return os.path.join(home, macos, "lectic")
    return os.path.join(environ.get(xdg) or os.path.join(home, linux), "lectic")


def standard_variables(environ: Mapping[str, str], platform: str, file: str) -> dict[str, str]:
    """What every hook sees. LECTIC_FILE is there only when the conversation has a file."""
    names = (*_PLACES, "LECTIC_TEMP")
    given = {name: directory(name, environ, platform) for name in names}
    return {**given, "LECTIC_FILE": file} if file else given
