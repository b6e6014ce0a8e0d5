"""Qwen Code: commands in its settings, under Claude Code's names, and an agent that calls us."""

from __future__ import annotations

from hookline.dialects.qwen.dialect import DIALECT

__all__ = ["DIALECT"]
