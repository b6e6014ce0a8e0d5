"""Approval by content: a hook that a project brought along runs only as it was when a person approved it."""

from __future__ import annotations

from hookline.state.trust.covered import Pins
from hookline.state.trust.judge import Approval, Judgement, TrustVerdict
from hookline.state.trust.store import TrustStore

__all__ = ["Approval", "Judgement", "Pins", "TrustStore", "TrustVerdict"]
