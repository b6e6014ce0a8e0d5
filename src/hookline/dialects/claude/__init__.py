"""Claude Code: commands, prompts and requests that decide, rewrite or add context, in layered JSON settings."""

from __future__ import annotations

from hookline.dialects.claude.dialect import DIALECT

__all__ = ["DIALECT"]
