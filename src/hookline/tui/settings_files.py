"""Settings files of agents whose hooks can be changed here, and one change of a file, which can be undone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from hookline.config.syntax import parse_text
from hookline.core._dataclass import dataclass
from hookline.core.errors import ConfigError, UsageError
from hookline.core.json_edit import JsonError
from hookline.core.paths import project_root
from hookline.dialects import dialect_named
from hookline.dialects.base import FOREIGN, Layer, Lookup
from hookline.dialects.claude_family.settings_edit import RULES, WrittenHook, add_hook


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file before and after; ``before`` None: there was none. ``backup`` is a copy of it."""

    file: str
    before: str | None
    after: str
    backup: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """A file that hooks of a dialect can be written to; it need not exist."""

    dialect: str
    layer: str
    path: str

    @property
    def label(self) -> str:
        return f"{self.dialect} {self.layer}"


def settings_files(cwd: str, home: str, environ: Mapping[str, str]) -> Iterator[SettingsFile]:
    for dialect in RULES:
        for place in dialect_named(dialect).places(cwd, home, environ):
            if place.layer in {"user", "project", "local"}:
                yield SettingsFile(dialect=dialect, layer=place.layer, path=place.path)


def real_file(file: SettingsFile, cwd: str, home: str) -> str:
    """Its target. A link in a project must not lead out of it."""
    real = os.path.realpath(file.path)
    root = os.path.realpath(project_root(cwd, home))
    if file.layer in FOREIGN and not real.startswith(root.rstrip("/") + "/"):
        raise ConfigError(f"{file.path} is a link out of its project to {real}; edit that file yourself")
    return real


def with_new_hook(file: SettingsFile, text: str, hook: WrittenHook, lookup: Lookup) -> str:
    """Raises UsageError if the loader would not take it."""
    if not hook.event or not hook.text.strip():
        raise UsageError("the hook needs an event and an action")
    try:
        after = add_hook(text, hook, RULES[file.dialect])
    except JsonError as error:
        raise ConfigError(f"{file.path} is not JSON that can be edited: {error}; correct it and try again") from error
    require_loadable(file, text, after, lookup)
    return after


def require_loadable(file: SettingsFile, before: str, after: str, lookup: Lookup) -> None:
    """Raise UsageError for what is wrong in the new text and was not wrong before."""
    known = set(_findings(file, before, lookup)) if before.strip() else set[str]()
    if new := [one for one in _findings(file, after, lookup) if one not in known]:
        raise UsageError("; ".join(new))


def _findings(file: SettingsFile, text: str, lookup: Lookup) -> list[str]:
    document = parse_text(file.path, text, "json")
    if document.tree is None:
        return [str(one) for one in document.problems]
    layer = Layer(path=file.path, name=file.layer, syntax="json", text=text, tree=document.tree, line=document.line)
    problems = dialect_named(file.dialect).parse([layer], lookup).problems
    return [f"{one.finding}; {one.fix}" for one in problems if one.severity != "note"]
