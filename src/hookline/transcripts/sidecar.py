"""What an agent says of a session beside the transcript, not in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace

if TYPE_CHECKING:
    from hookline.transcripts.message import About

#: In the folder of a project's chats.
_GEMINI_ROOT = ".project_root"
_LONGEST_PATH = 4096


def with_what_stands_beside(path: str, known: About) -> About:
    """Gemini CLI notes the directory once for all sessions in it; every agent of Letta Code has a conversation that is
    called ``default``, and only its folder says whose it is."""
    if known.agent == "gemini-cli" and not known.cwd:
        return replace(known, cwd=_project_root(path))
    if known.agent == "letta-code" and known.session == "default":
        return replace(known, session=_owner(path) or known.session)
    return known


def _project_root(path: str) -> str:
    file = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(path))), _GEMINI_ROOT)
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            root = opened.read(_LONGEST_PATH).strip()
    except (OSError, ValueError):
        return ""
    return root if os.path.isabs(root) and root.isprintable() else ""


def _owner(path: str) -> str:
    """The folder of such a conversation is named after its agent: ``default:agent-local-<id>``."""
    import base64  # one agent's files are named so
    import binascii

    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    try:
        name = base64.b64decode(folder + "=" * (-len(folder) % 4), b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    kind, mark, owner = name.partition(":")
    bare = owner.removeprefix("agent-").removeprefix("local-")
    return bare if kind == "default" and mark and bare.isprintable() and "/" not in bare else ""
