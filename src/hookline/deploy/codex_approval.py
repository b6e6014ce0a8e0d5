"""Codex runs only hooks whose content was approved: the approval of our own entries, where the person asks for it.

Keys and digests are asked of Codex itself (its app server lists the hooks it sees); they are written as one marked
block at the end of its ``config.toml``.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from threading import Timer
from typing import TYPE_CHECKING, Any

from hookline.core.own_registration import is_ours
from hookline.deploy.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from subprocess import Popen

BEGIN = "# Approved by hookline deploy: begin"
END = "# Approved by hookline deploy: end"
#: Seconds that Codex may take to list its hooks.
PATIENCE = 30.0


def config_file(home: str, environ: Mapping[str, str]) -> str:
    return os.path.join(environ.get("CODEX_HOME") or os.path.join(home, ".codex"), "config.toml")


# ── pure ─────────────────────────────────────────────────────────────────────────────────────────────


def approved(path: str, text: str | None, states: Sequence[tuple[str, str]]) -> Plan:
    """The file with these (key, digest) pairs approved, and nothing else touched."""
    clean = _without(text or "")
    entries = "".join(f"[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(hash_)}\n" for key, hash_ in states)
    gap = "" if not clean or clean.endswith("\n") else "\n"
    after = f"{clean}{gap}{BEGIN}\n{entries}{END}\n" if entries else clean
    try:
        tomllib.loads(clean)
        tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        reason = f"{path} cannot take the approval ({error}); approve the hooks in Codex itself, with /hooks"
        return Plan(path=path, before=text, after=text, refused=reason)
    return Plan(path=path, before=text, after=after)


def unapproved(path: str, text: str | None) -> Plan:
    return Plan(path=path, before=text, after=None if text is None else _without(text))


def _without(text: str) -> str:
    before, begin, rest = text.partition(BEGIN + "\n")
    _inside, end, after = rest.partition(END + "\n")
    return before + after if begin and end else text


# ── asking Codex ─────────────────────────────────────────────────────────────────────────────────────


def own_states(program: str, cwd: str, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Key and digest of every entry of ours that Codex sees from ``cwd``; none where it cannot be asked."""
    try:
        child = subprocess.Popen(
            [program, "app-server"], cwd=cwd, env=dict(environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
    except OSError:
        return []
    timer = Timer(PATIENCE, child.kill)
    timer.start()
    try:
        listed = _listed(child, cwd)
    except (OSError, ValueError):
        listed = []
    finally:
        timer.cancel()
        child.kill()
        child.communicate()
    return [(hook["key"], hook["currentHash"]) for hook in listed if _ours(hook)]


def _ours(hook: Any) -> bool:
    told = isinstance(hook, dict) and all(isinstance(hook.get(name), str) for name in ("key", "currentHash", "command"))
    return told and is_ours(hook["command"])


def _listed(child: Popen[str], cwd: str) -> list[Any]:
    assert child.stdin is not None
    assert child.stdout is not None

    def send(**message: Any) -> None:
        assert child.stdin is not None
        child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        child.stdin.flush()

    send(id=1, method="initialize", params={"clientInfo": {"name": "hookline", "version": "1"}})
    for line in child.stdout:
        answer = json.loads(line)
        if answer.get("id") == 1:
            send(method="initialized")
            send(id=2, method="hooks/list", params={"cwds": [cwd]})
        elif answer.get("id") == 2:
            data = answer.get("result", {}).get("data", [])
            return [hook for place in data for hook in place.get("hooks", [])]
    return []
