"""Files to hooks: find, read, parse, put in order. Loading never raises on a bad file."""

from __future__ import annotations

from hookline.config.layers import ProjectGate, SourceFile
from hookline.config.load import Loaded, load

__all__ = ["Loaded", "ProjectGate", "SourceFile", "load"]
