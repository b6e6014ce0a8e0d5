"""OpenCode: no hooks file, but a plugin of ours that asks us and does what we say."""

from __future__ import annotations

from hookline.dialects.opencode.dialect import DIALECT

__all__ = ["DIALECT"]
