"""LazyNorth: a person's long-term aims, one file for everything and one per profile, a few lines of each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.core.files import read_text

if TYPE_CHECKING:
    from hookline.memory.settings import KnowledgeLoop, Profile, TrustedEnvironment

_UNIVERSAL_LINES = 20
_PROFILE_LINES = 15
_LARGEST = 1 << 20


def lazynorth_text(settings: KnowledgeLoop, here: TrustedEnvironment) -> str:
    north = settings.lazynorth
    if not north.enabled or not north.path:
        return ""
    folder = os.path.join(here.home, _from_home(north.path, here.home))
    profile = find_profile(settings, here)
    docs = [(north.universal_doc, _UNIVERSAL_LINES), (profile.lazynorth_doc if profile else "", _PROFILE_LINES)]
    parts = [_lines(os.path.join(folder, name), most) for name, most in docs if name]
    return "\n\n".join(part for part in parts if part)


def _lines(path: str, most: int) -> str:
    """Without frontmatter, top headings and blank lines: they cost lines and say nothing."""
    lines = (read_text(path, _LARGEST) or "").splitlines()
    if lines and lines[0].strip() == "---":
        end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
        lines = lines[end + 1 :]
    kept = [line.rstrip() for line in lines if line.strip() and not line.startswith("# ")]
    return "\n".join(kept[:most])


def find_profile(settings: KnowledgeLoop, here: TrustedEnvironment) -> Profile | None:
    """The one whose agent directory is in use; else the one with the nearest root; else the default."""
    agent = here.environ.get("CLAUDE_CONFIG_DIR", "")
    for profile in settings.profiles:
        if agent and profile.config_dir and _real(profile.config_dir, here.home) == _real(agent, here.home):
            return profile
    cwd = os.path.realpath(here.cwd)
    rooted = [
        (len(root), profile)
        for profile in settings.profiles
        for root in (_real(one, here.home) for one in profile.roots)
        if cwd == root or cwd.startswith(root.rstrip("/") + "/")
    ]
    if rooted:
        return max(rooted, key=lambda one: one[0])[1]
    return next((profile for profile in settings.profiles if profile.name == settings.default_profile), None)


def _from_home(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def _real(path: str, home: str) -> str:
    return os.path.realpath(os.path.join(home, _from_home(path, home)))
