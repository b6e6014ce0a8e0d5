"""Registering hookline with the agents: what to write is planned without touching anything, then done or undone."""

from hookline.deploy.plan import Plan, Registration, plan, unplan
from hookline.deploy.targets import TARGETS, Target

__all__ = ["TARGETS", "Plan", "Registration", "Target", "plan", "unplan"]
