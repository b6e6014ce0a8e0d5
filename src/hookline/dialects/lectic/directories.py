"""Lectic's own directories: the caller's value, else the platform's place, as Lectic chooses it."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from types import MappingProxyType

#: Variable -> (XDG variable, place below HOME on Linux, place below HOME on macOS).
_PLACES: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "LECTIC_CONFIG": ("XDG_CONFIG_HOME", ".config", "Library/Preferences"),
        "LECTIC_DATA": ("XDG_DATA_HOME", ".local/share", "Library/Application Support"),
        "LECTIC_CACHE": ("XDG_CACHE_HOME", ".cache", "Library/Caches"),
        "LECTIC_STATE": ("XDG_STATE_HOME", ".local/state", "Library/Logs"),
    }
)


def directory(variable: str, environ: Mapping[str, str], platform: str) -> str:
    """The value of one of the five directory variables."""
    if given := environ.get(variable):
        return given
    if variable == "LECTIC_TEMP":
        return os.path.join(environ.get("TMPDIR") or "/tmp", "lectic")  # noqa: S108  (only named, never opened)
    xdg, linux, macos = _PLACES[variable]
    home = environ.get("HOME", "")
    if platform == "darwin":
        return os.path.join(home, macos, "lectic")
    return os.path.join(environ.get(xdg) or os.path.join(home, linux), "lectic")


def standard_variables(environ: Mapping[str, str], platform: str, file: str) -> dict[str, str]:
    """What every hook sees. LECTIC_FILE is there only when the conversation has a file."""
    names = (*_PLACES, "LECTIC_TEMP")
    given = {name: directory(name, environ, platform) for name in names}
    return {**given, "LECTIC_FILE": file} if file else given
