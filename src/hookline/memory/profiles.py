"""Which profile and which kind of session a directory belongs to."""

from __future__ import annotations

import os

from hookline.memory.settings import KnowledgeLoop, Profile, Rule, TrustedEnvironment

_OTHER = "other"
#: Directories of notes are recognised everywhere; what is work and what is private only the person can say.
_DEFAULT_RULES = (Rule(pattern="obsidian", profile="personal", session_type="vault"),)


def classify(settings: KnowledgeLoop, here: TrustedEnvironment) -> tuple[str, str]:
    """``(profile, session_type)`` of the first rule whose pattern is in the path. Without the person's own rules, the
    roots of the profiles decide."""
    path = f"{here.cwd.rstrip('/')}/".lower()
    rules = settings.knowledge.classify_rules
    for rule in _DEFAULT_RULES if rules is None else rules:
        if rule.pattern and rule.pattern.lower() in path:
            return rule.profile, rule.session_type
    profile = find_profile(settings, here) if rules is None else None
    return (profile.name, profile.name) if profile else (_OTHER, _OTHER)


def find_profile(settings: KnowledgeLoop, here: TrustedEnvironment) -> Profile | None:
    """The profile whose agent directory is in use, else the one with the nearest root, else the default."""
    agent = here.environ.get("CLAUDE_CONFIG_DIR", "")
    for profile in settings.profiles:
        if agent and profile.config_dir and real_path(profile.config_dir, here.home) == real_path(agent, here.home):
            return profile
    cwd = os.path.realpath(here.cwd)
    rooted = [
        (len(root), profile)
        for profile in settings.profiles
        for root in (real_path(one, here.home) for one in profile.roots)
        if cwd == root or cwd.startswith(root.rstrip("/") + "/")
    ]
    if rooted:
        return max(rooted, key=lambda one: one[0])[1]
    return next((profile for profile in settings.profiles if profile.name == settings.default_profile), None)


def real_path(path: str, home: str) -> str:
    """Relative paths and ``~`` count from home."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.realpath(os.path.join(home, path))
