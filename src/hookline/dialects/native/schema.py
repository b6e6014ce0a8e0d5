"""The JSON Schema of a ``hookline.toml``, made from the very tables that the loader reads.

``python -m hookline.dialects.native.schema`` prints it; a test holds the shipped copy to it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from hookline.core.event import EVENTS
from hookline.dialects import ALIASES, DIALECTS
from hookline.dialects.native.build import ACTION_KEYS
from hookline.dialects.native.fields import (
    HOOK_FIELDS,
    INBOX_FIELDS,
    LIMIT_FIELDS,
    PACK_FIELDS,
    RECORD_FIELDS,
    SOURCE_FIELDS,
    TELEMETRY_FIELDS,
    table_schema,
)
from hookline.dialects.native.guard import GUARD_FIELDS
from hookline.dialects.native.memory import ABOUT, PROFILE_FIELDS, TABLES

#: From here to the shipped copy, which editors are pointed at.
_SHIPPED = os.path.join(os.path.dirname(__file__), "hookline.schema.json")
_ABOUT = "Hooks of hookline: programs, prompts, agents and functions that run when something happens."


def schema() -> dict[str, Any]:
    """A hook may leave out what a lower layer says, so only its name or its event and action are demanded."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hookline.toml",
        "description": _ABOUT,
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "$schema": {"type": "string"},
            "hook": {"type": "array", "description": "One hook each.", "items": _hook()},
            "source": {
                "type": "array",
                "description": "Hooks in another dialect, used as they are.",
                "items": _source(),
            },
            "pack": {
                "type": "array",
                "description": "Published hook sets, pinned; hookline add writes them.",
                "items": table_schema(PACK_FIELDS, ("source", "digest")),
            },
            "hooks": _named_hooks(),
            "guard": {"description": "The ready guard.", **table_schema(GUARD_FIELDS)},
            "limits": {"description": "What a hook may take.", **table_schema(LIMIT_FIELDS)},
            "record": {"description": "What is kept of each firing.", **table_schema(RECORD_FIELDS)},
            "telemetry": {"description": "Spans and metrics for a collector.", **table_schema(TELEMETRY_FIELDS)},
            "inbox": {"description": "Who is told of a question.", **table_schema(INBOX_FIELDS)},
            "models": {
                "description": "Short names of models, as provider:model.",
                "type": "object",
                "additionalProperties": {"type": "string", "minLength": 1},
            },
            "mcp": {"description": "MCP servers for hook agents, by name.", "type": "object"},
            **{name: {"description": ABOUT[name], **table_schema(fields)} for name, fields in TABLES.items()},
            "profiles": _profiles(),
        },
    }


def _named_hooks() -> dict[str, Any]:
    """lazy-harness's tables, one per event."""
    names = {"type": "array", "items": {"type": "string", "minLength": 1}}
    outside = {"type": "object", "properties": {"command": {"type": "string"}, "matcher": {"type": "string"}}}
    table = {
        "scripts": {"description": "Names of hooks: built in, or files in a hooks directory.", **names},
        "external": {"type": "array", "items": {"anyOf": [{"type": "string"}, outside]}},
        "allow_patterns": names,
    }
    return {
        "description": "Hooks by name, per event, as in lazy-harness's config.toml.",
        "type": "object",
        "additionalProperties": {"type": "object", "properties": table},
    }


def _profiles() -> dict[str, Any]:
    return {
        "description": "Who a session belongs to: by directory, or by the agent's own directory.",
        "type": "object",
        "properties": {"default": {"type": "string"}},
        "additionalProperties": table_schema(PROFILE_FIELDS),
    }


def _hook() -> dict[str, Any]:
    hook = table_schema(HOOK_FIELDS)
    properties = {**hook["properties"], "on": {**hook["properties"]["on"], **_events()}}
    acts = [{"required": [key]} for key in ACTION_KEYS]
    several = {"not": {"anyOf": [{"required": [one, two]} for one, two in _pairs(ACTION_KEYS)]}}
    defines = {"required": ["on"], "anyOf": acts}
    return {**hook, "properties": properties, "allOf": [several, {"anyOf": [{"required": ["name"]}, defines]}]}


def _pairs(keys: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(one, two) for number, one in enumerate(keys) for two in keys[number + 1 :]]


def _events() -> dict[str, Any]:
    known = {"enum": list(EVENTS)}
    carried = {"type": "string", "pattern": "^[^:]+:.+$", "description": "An event of one agent, as agent:Name."}
    one = {"anyOf": [known, carried]}
    return {"anyOf": [*one["anyOf"], {"type": "array", "minItems": 1, "items": one}]}


def _source() -> dict[str, Any]:
    source = table_schema(SOURCE_FIELDS)
    # Examples, not an enum: other packages bring dialects of their own.
    named = {**source["properties"]["dialect"], "examples": [*DIALECTS, *ALIASES]}
    return {**source, "properties": {**source["properties"], "dialect": named}, "not": {"required": ["path", "paths"]},
            "oneOf": [{"required": ["dialect"]}, {"required": ["installed"]}]}  # fmt: skip


def text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
