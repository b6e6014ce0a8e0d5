"""Published hook sets: where they come from, what they contain, and which exact bytes a person approved."""

from __future__ import annotations

from hookline.core.errors import ConfigError


class PackError(ConfigError):
    """A pack that is not taken, and why."""
