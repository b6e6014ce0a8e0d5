"""LazyNorth: the person's long-term goals, one file for everything and one per profile, a few lines of each."""

from __future__ import annotations

import os

from hookline.core.files import read_text
from hookline.memory.notes.front_matter import split_front_matter
from hookline.memory.profiles import find_profile, real_path
from hookline.memory.settings import KnowledgeLoop, TrustedEnvironment

_UNIVERSAL_LINES = 20
_PROFILE_LINES = 15


def lazynorth_text(settings: KnowledgeLoop, here: TrustedEnvironment) -> str:
    north = settings.lazynorth
    if not north.enabled or not north.path:
        return ""
    folder = real_path(north.path, here.home)
    profile = find_profile(settings, here)
    docs = [(north.universal_doc, _UNIVERSAL_LINES), (profile.lazynorth_doc if profile else "", _PROFILE_LINES)]
    parts = [_first_lines(os.path.join(folder, name), most) for name, most in docs if name]
    return "\n\n".join(part for part in parts if part)


def _first_lines(path: str, most: int) -> str:
    """Without front matter, top headings and blank lines: they use up lines and say nothing."""
    _fields, body = split_front_matter(read_text(path, 1 << 20) or "")
    kept = [line.rstrip() for line in body.splitlines() if line.strip() and not line.startswith("# ")]
    return "\n".join(kept[:most])
