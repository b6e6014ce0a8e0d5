"""Doing it: a copy is kept first, a file is replaced whole or not at all, and what was there can be given back."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Sequence
from typing import Any

from hookline import __version__
from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import Agent, find_agent
from hookline.core.errors import ConfigError
from hookline.core.files import backup, lock, replace_atomically, write_json
from hookline.core.paths import MANIFEST, UnusableError, unusable, why_unusable
from hookline.deploy.plan import FileFormat, FilePlan, Registration, plan_file, unplan_file
from hookline.deploy.plugin import MARK


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedFile:
    """What is remembered of a file that was written: how it was before, and what was written then."""

    agent: str
    scope: str
    #: None: there was no file.
    before: str | None
    digest: str
    #: Directories that were made for it, outermost first.
    made: tuple[str, ...] = ()
    #: The agent's version and our own, when it was written; "" where nobody knew.
    version: str = ""
    hookline: str = ""
    #: The projects it was deployed from: a user's registration serves the hooks of all of them.
    roots: tuple[str, ...] = ()
    #: The events that were asked for, where not all were.
    only: tuple[str, ...] = ()
    #: The door that was asked for; "" where nobody chose.
    door: str = ""


def _from_json(tree: dict[str, Any]) -> DeployedFile:
    known: dict[str, Any] = {name: value for name, value in tree.items() if name in DeployedFile.__slots__}
    # A door that was removed counts as no choice, so its entries move to the best one.
    known["door"] = "" if tree.get("door") == "http" else tree.get("door", "")
    known |= {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
    return DeployedFile(**known)


def _to_json(one: DeployedFile) -> dict[str, Any]:
    return {name: getattr(one, name) for name in DeployedFile.__slots__}


class Ledger:
    """Which files were written, in the state directory."""

    __slots__ = ("_file", "_folder")

    def __init__(self, state: str) -> None:
        self._folder = state
        self._file = os.path.join(state, MANIFEST)

    def all(self) -> dict[str, DeployedFile]:
        try:
            with open(self._file, encoding="utf-8") as file:
                trees: dict[str, dict[str, Any]] = json.load(file)
            return {path: _from_json(tree) for path, tree in trees.items()}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UnusableError(unusable(self._file, error)) from error
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ConfigError(f"{self._file} cannot be read ({error}); move it away and deploy again") from error

    def trouble(self) -> str:
        """Why nothing could be remembered here; "" where it can. What is written unremembered is not given back."""
        return str(why_unusable(self._folder) or "")

    def keep(self, path: str, kept: DeployedFile | None) -> None:
        """Remember, or forget with None."""
        with lock(self._file):
            known = self.all()
            known.pop(path, None)
            if kept is not None:
                known[path] = kept
            write_json(self._file, {name: _to_json(one) for name, one in known.items()})

    def backup(self, path: str, text: str) -> str:
        return backup(self._folder, path, text)


# ── what would be done ───────────────────────────────────────────────────────────────────────────────


def plan_deployment(path: str, agent: Agent, wanted: Sequence[Registration] | str) -> FilePlan:
    """From the file as it is now. ``wanted`` is a whole text for a file that is ours alone."""
    text, refused = read(path)
    if refused:
        return FilePlan(path=path, before=None, after=None, refused=refused)
    if isinstance(wanted, str):
        if text is not None and not text.startswith(MARK):
            return FilePlan(path=path, before=text, after=text, refused=f"{path} was not written by hookline")
        return FilePlan(path=path, before=text, after=wanted)
    return plan_file(path, text, wanted, FileFormat.of(agent))


def plan_removal(path: str, agent: Agent, kept: DeployedFile | None) -> FilePlan:
    """The bytes as they were, if nobody wrote since; otherwise the file without what is ours."""
    text, refused = read(path)
    if refused:
        return FilePlan(path=path, before=None, after=None, refused=refused)
    if kept is not None and text is not None and digest(text) == kept.digest:
        return FilePlan(path=path, before=text, after=kept.before)
    if agent.form == "plugin":
        ours = text is not None and text.startswith(MARK)
        return FilePlan(path=path, before=text, after=None if ours else text)
    return unplan_file(path, text, kept.before if kept is not None else None, FileFormat.of(agent))


def read(path: str) -> tuple[str | None, str]:
    """The text, or None; and why it cannot be used."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would keep us waiting
            return None, f"{path} is not a regular file"
        with open(path, "rb") as file:
            return file.read().decode("utf-8"), ""
    except FileNotFoundError:
        return None, ""
    except UnicodeDecodeError:
        return None, f"{path} is not UTF-8"
    except OSError as error:
        return None, f"{path} cannot be read: {error.strerror}"


# ── doing it ─────────────────────────────────────────────────────────────────────────────────────────


def deploy(
    ledger: Ledger,
    one: FilePlan,
    *,
    agent: str,
    scope: str,
    version: str = "",
    roots: Sequence[str] = (),
    only: Sequence[str] = (),
    door: str = "",
) -> str:
    """Write what was planned; where the copy of the old file is ("" for none)."""
    if one.refused:
        raise ConfigError(one.refused)
    kept = ledger.all().get(one.path)
    chosen: dict[str, Any] = {"hookline": __version__, "roots": tuple(roots), "only": tuple(only), "door": door}
    if not one.changes or one.after is None:
        if kept is not None and kept != (fresh := replace(kept, version=version or kept.version, **chosen)):
            ledger.keep(one.path, fresh)
        return ""
    made = kept.made if kept is not None else _missing_directories(one.path)
    backup = ledger.backup(one.path, one.before) if one.before is not None else ""
    write(one)
    original, now = _before_us(one, kept), digest(one.after)
    written = DeployedFile(agent=agent, scope=scope, before=original, digest=now, made=made, version=version, **chosen)
    ledger.keep(one.path, written)
    return backup


def _before_us(one: FilePlan, kept: DeployedFile | None) -> str | None:
    if kept is None or one.before is None:
        return one.before
    if digest(one.before) == kept.digest or one.before.startswith(MARK):
        return kept.before
    agent = find_agent(kept.agent)
    form = FileFormat() if agent is None else FileFormat.of(agent)
    return unplan_file(one.path, one.before, kept.before, form).after


def undeploy(ledger: Ledger, one: FilePlan) -> str:
    """Write what was planned, and take away directories that were made for it and are empty."""
    if one.refused:
        raise ConfigError(one.refused)
    kept = ledger.all().get(one.path)
    backup = ""
    if one.changes:
        backup = ledger.backup(one.path, one.before) if one.before is not None else ""
        write(one)
    if one.after is None and kept is not None:
        for folder in reversed(kept.made):
            try:
                os.rmdir(folder)
            except OSError:
                break
    if kept is not None:
        ledger.keep(one.path, None)
    return backup


def write(one: FilePlan) -> None:
    """Only if the file still is what was planned from."""
    target = os.path.realpath(one.path)
    now, refused = read(target)
    if refused or now != one.before:
        raise ConfigError(refused or f"{one.path} was changed in the meantime; try again")
    if one.after is None:
        try:
            os.unlink(target)
        except OSError as error:
            raise ConfigError(f"{one.path} cannot be removed: {error.strerror}") from error
        return
    if one.before is not None and not os.access(target, os.W_OK):
        raise ConfigError(f"{one.path} is read-only; to let hookline write it: chmod u+w {target}")
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        replace_atomically(target, one.after, keep_mode=True)
    except OSError as error:
        raise ConfigError(f"{one.path} cannot be written: {error.strerror}") from error


def _missing_directories(path: str) -> tuple[str, ...]:
    missing: list[str] = []
    folder = os.path.dirname(os.path.realpath(path))
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()
