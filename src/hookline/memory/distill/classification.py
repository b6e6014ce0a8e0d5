"""Which profile and which kind of session a directory means: the first rule whose pattern is part of its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.memory.inject.compass import find_profile
from hookline.memory.settings import Rule

if TYPE_CHECKING:
    from hookline.memory.settings import KnowledgeLoop, TrustedEnvironment

_OTHER = "other"
#: Directories of notes are told from code everywhere; who is at work and who at home, only the person can say.
_DEFAULT_RULES = (Rule(pattern="obsidian", profile="personal", session_type="vault"),)


def classify(settings: KnowledgeLoop, here: TrustedEnvironment) -> tuple[str, str]:
    """``(profile, session_type)``. Without rules of the person's own, the profiles' roots decide."""
    path = f"{here.cwd.rstrip('/')}/".lower()
    rules = settings.knowledge.classify_rules
    for rule in _DEFAULT_RULES if rules is None else rules:
        if rule.pattern and rule.pattern.lower() in path:
            return rule.profile, rule.session_type
    profile = find_profile(settings, here) if rules is None else None
    return (profile.name, profile.name) if profile else (_OTHER, _OTHER)
