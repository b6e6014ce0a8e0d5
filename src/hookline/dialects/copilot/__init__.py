"""Copilot CLI: commands in hooks files of its own, in two spellings, and an agent that calls us."""

from __future__ import annotations

from hookline.dialects.copilot.dialect import DIALECT

__all__ = ["DIALECT"]
