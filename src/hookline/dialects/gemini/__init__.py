"""Gemini CLI: commands in its settings, under event names of its own, and an agent that calls us."""

from __future__ import annotations

from hookline.dialects.gemini.dialect import DIALECT

__all__ = ["DIALECT"]
