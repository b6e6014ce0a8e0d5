"""Letta Code: commands and prompts that allow, block or add context, in three layers of JSON settings."""

from __future__ import annotations

from hookline.dialects.letta.dialect import DIALECT

__all__ = ["DIALECT"]
