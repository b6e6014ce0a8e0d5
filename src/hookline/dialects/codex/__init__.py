"""Codex CLI: commands in hooks.json, a strict reader of their answers, and an agent that calls us."""

from __future__ import annotations

from hookline.dialects.codex.dialect import DIALECT

__all__ = ["DIALECT"]
