"""Hooks that a person has switched off, for good or for a while, without editing anybody's file."""

from __future__ import annotations

from hookline.state.disabled.store import Switches, switches_at
from hookline.state.disabled.switch import Switch, moment, why

__all__ = ["Switch", "Switches", "moment", "switches_at", "why"]
