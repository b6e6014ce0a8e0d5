"""``[profiles.*] config_dir``: further directories of an agent of the same person, each with settings of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hookline.config.discover import lazy_places, native_places
from hookline.config.layers import LayerLoader
from hookline.config.load import lazy_layer
from hookline.core.paths import find_paths
from hookline.dialects.base import FOREIGN, Lookup
from hookline.dialects.native.memory import read_knowledge

#: The agent whose directories they are.
PROFILED = "claude-code"


def profile_files(name: str, home: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The file of that name in the directory of each profile; one that several profiles share, once."""
    paths = find_paths(environ, home)
    reading = LayerLoader(lookup=Lookup(cwd=home, home=home, environ=environ))
    theirs = lazy_layer(reading, lazy_places(home, environ, paths, ""))
    ours = reading.load_layers([one for one in native_places(home, home, paths) if one.layer not in FOREIGN], "native")
    lower, _ = read_knowledge([theirs] if theirs else [], lenient=True)
    upper, _ = read_knowledge(ours)
    profiles = {**lower.get("profiles", {}), **upper.get("profiles", {})}.values()
    given = [one.get("config_dir") for one in profiles if isinstance(one, dict)]
    folders = [os.path.join(home, one.removeprefix("~/")) for one in given if isinstance(one, str) and one]
    files = {os.path.realpath(path): path for folder in folders if (path := os.path.join(folder, name))}
    return tuple(files.values())
