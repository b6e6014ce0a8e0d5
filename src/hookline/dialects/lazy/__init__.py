"""lazy-harness: built-in and user programs, named in ``config.toml`` and run by the agent."""

from __future__ import annotations

from hookline.dialects.lazy.dialect import DIALECT

__all__ = ["DIALECT"]
