"""Codex runs only hooks whose content was approved: the approval of our own entries, where the person asks for it.

Keys and digests are asked of Codex itself (its app server lists the hooks it sees); they are written as one marked
block at the end of its ``config.toml``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from threading import Timer
from typing import TYPE_CHECKING, Any

from hookline.core.agents import AGENTS
from hookline.core.errors import ConfigError
from hookline.core.own_registration import is_ours
from hookline.deploy import apply
from hookline.deploy.installed import find_registrations
from hookline.deploy.plan import FilePlan
from hookline.deploy.requirements import SCOPES, all_files

if TYPE_CHECKING:
    from subprocess import Popen

_BEGIN = "# Approved by hookline deploy: begin"
_END = "# Approved by hookline deploy: end"
#: Seconds that Codex may take to list its hooks.
_TIMEOUT = 30.0
_NO_PROGRAM = (
    "Codex could not be asked about its hooks, because codex is not in your PATH; they are registered, and run once they "
    "are approved: install codex, then type the same command again, or approve them in codex with /hooks"
)


def config_file(home: str, environ: Mapping[str, str]) -> str:
    return os.path.join(environ.get("CODEX_HOME") or os.path.join(home, ".codex"), "config.toml")


def is_given(home: str) -> bool:
    """Whether hookline has approved entries before, so that new ones in their place are approved again."""
    return _BEGIN in (apply.read(config_file(home, os.environ))[0] or "")


def approve(ledger: apply.Ledger, here: str, home: str) -> list[str]:
    """The keys of what is approved now. Raises ConfigError where it cannot be done: hooks that Codex skips without a
    message are the worst of all."""
    program = shutil.which("codex")
    if not program:
        raise ConfigError(_NO_PROGRAM)
    files = _untouched(ledger)
    states = [one for one in own_states(program, here, os.environ) if one[0].startswith(files)]
    if not states:
        raise ConfigError("Codex could not be asked about its hooks; open codex, type /hooks and approve them there")
    path = config_file(home, os.environ)
    text, refused = apply.read(path)
    if refused:
        raise ConfigError(refused)
    apply.deploy(ledger, _plan_approval(path, text, states), agent="codex", scope="user")
    return [key for key, _digest in states]


def _untouched(ledger: apply.Ledger) -> tuple[str, ...]:
    """The beginnings of the keys in files that are as hookline left them. What else looks like an entry of ours may be a
    repository's, with more in its line."""
    kept = ledger.all().items()
    paths = [path for path, one in kept if apply.digest(apply.read(path)[0] or "") == one.digest]
    return tuple(f"{name}:" for path in paths for name in (path, os.path.realpath(path)))


def withdraw(ledger: apply.Ledger, here: str, home: str) -> None:
    """Approvals go with the last of the entries that needed them."""
    codex = AGENTS["codex"]
    if any(find_registrations(one.path) for one in all_files([codex], SCOPES, here, home)):
        return
    path = config_file(home, os.environ)
    text, refused = apply.read(path)
    kept = ledger.all().get(path)
    if refused or (kept is None and _BEGIN not in (text or "")):
        return
    if kept is not None and text is not None and apply.digest(text) == kept.digest:
        apply.undeploy(ledger, FilePlan(path=path, before=text, after=kept.before))
    else:
        apply.undeploy(ledger, _plan_unapproval(path, text))


# ── pure ─────────────────────────────────────────────────────────────────────────────────────────────


def _plan_approval(path: str, text: str | None, states: Sequence[tuple[str, str]]) -> FilePlan:
    """The file with these (key, digest) pairs approved, and nothing else touched."""
    clean = _without(text or "")
    entries = "".join(f"[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(hash_)}\n" for key, hash_ in states)
    gap = "" if not clean or clean.endswith("\n") else "\n"
    after = f"{clean}{gap}{_BEGIN}\n{entries}{_END}\n" if entries else clean
    try:
        tomllib.loads(clean)
        tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        reason = f"{path} cannot take the approval ({error}); approve the hooks in Codex itself, with /hooks"
        return FilePlan(path=path, before=text, after=text, refused=reason)
    return FilePlan(path=path, before=text, after=after)


def _plan_unapproval(path: str, text: str | None) -> FilePlan:
    return FilePlan(path=path, before=text, after=None if text is None else _without(text))


def _without(text: str) -> str:
    before, begin, rest = text.partition(_BEGIN + "\n")
    _inside, end, after = rest.partition(_END + "\n")
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
    timer = Timer(_TIMEOUT, child.kill)
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
    complete = isinstance(hook, dict) and all(
        isinstance(hook.get(name), str) for name in ("key", "currentHash", "command")
    )
    return complete and is_ours(hook["command"])


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
