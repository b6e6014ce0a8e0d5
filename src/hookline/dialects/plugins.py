"""What a folder of hooks is: the plugin layouts that agents share, told apart by their files.

No format of our own: a Claude Code, Codex or Copilot plugin, a Gemini or Qwen extension, a Lectic or lash plugin, or a folder
with ``.hookline/hookline.toml``. Pure reading of files as values; which hooks are in them, their dialects say.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

from hookline.core._dataclass import dataclass
from hookline.core.errors import PackError
from hookline.dialects.base import Syntax


class _File(Protocol):
    @property
    def data(self) -> bytes: ...


#: Path from the pack's root -> file (``packs.tree``).
_Tree: TypeAlias = Mapping[str, _File]

#: What hooks call their own folder, and a folder for their data.
ROOT, _DATA = "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"
#: Dialects whose hooks follow from the file alone: they look nothing up.
BY_CONTENT = frozenset({"claude"})
#: Those variables in the text of a command, with the slash behind them.
ROOT_TEXT = re.compile(r"""\$\{?(?:CLAUDE_)?PLUGIN_ROOT\}?/?|\$\{extensionPath\}(?:\$\{/\}|/)?|["']""")
#: The same folder under two agents' names, of which each leaves the other's empty.
ROOT_TWICE = re.compile(r"\$\{extensionPath\}(?=\$\{(?:CLAUDE_)?PLUGIN_ROOT\})|(?<=PLUGIN_ROOT\})\$\{extensionPath\}")


def plugin_variables(root: str, data: str) -> dict[str, str]:
    """Under every name that agents give them."""
    return {
        ROOT: root, "PLUGIN_ROOT": root, _DATA: data, "PLUGIN_DATA": data, "extensionPath": root, "GEMINI_EXTENSION_PATH": root,
        "HOOKLINE_PACK": root, "HOOKLINE_PACK_DATA": data,
    }  # fmt: skip


#: Manifest -> the dialect its hooks were written for; the first that is there names the pack.
_MANIFESTS = {
    ".claude-plugin/plugin.json": "claude", ".codex-plugin/plugin.json": "codex", ".github/plugin/plugin.json": "copilot",
    ".plugin/plugin.json": "claude", ".cursor-plugin/plugin.json": "cursor", "plugin.json": "claude",
    "gemini-extension.json": "gemini", "qwen-extension.json": "qwen",
}  # fmt: skip
#: Where hooks are without being named.
_USUAL = ("hooks/hooks.json", "hooks.json")
_OTHERS: tuple[tuple[str, str, Syntax], ...] = (
    (".hookline/hookline.toml", "native", "toml"), ("hookline.toml", "native", "toml"), ("lectic.yaml", "lectic", "yaml"),
    ("plugins.conf", "lash", "lash"), (".lash/plugins.conf", "lash", "lash"), (".lash/config", "lash", "lash"),
)  # fmt: skip
MARKETPLACES = (
    ".claude-plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
    ".github/plugin/marketplace.json",
    "marketplace.json",
)
#: Front matter that may hold hooks: whose it is, and where it is.
_FRONT_MATTER = (
    ("skill", re.compile(r"(?:.*/)?skills/([^/]+)/SKILL\.md")), ("skill", re.compile(r"SKILL\.md")),
    ("agent", re.compile(r"agents/(?:.*/)?([^/]+)\.md")), ("command", re.compile(r"commands/(?:.*/)?([^/]+)\.md")),
)  # fmt: skip
#: Events that only one agent has.
_CURSORS, _GEMINIS = re.compile(r"before[A-Z]|after[A-Z]"), re.compile(r"(?:Before|After)(?:Agent|Tool|Model)")
_HAS_HOOKS = re.compile(rb"\A---\r?\n(?:(?!---).*\n)*?hooks[ \t]*:")
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksFile:
    """A file with hooks. ``part`` says where in it they are: "" for the file itself, ``bare`` for one without its ``hooks`` key, ``inline`` for a manifest, ``agent:NAME``
    for front matter."""

    path: str
    dialect: str
    syntax: Syntax = "json"
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginLayout:
    name: str
    version: str = ""
    description: str = ""
    files: tuple[HooksFile, ...] = ()
    #: Files of hooks that are the same plugin for another agent.
    left_out: tuple[HooksFile, ...] = ()


def read_layout(tree: _Tree, fallback: str) -> PluginLayout:
    """Raises PackError for a folder without hooks; ``fallback`` names a pack that does not name itself."""
    manifests = {path: _json(tree, path) for path in _MANIFESTS if path in tree}
    first: dict[str, Any] = next(iter(manifests.values()), {})
    for_agents = [one for one in (_for_agent(tree, path, one) for path, one in (manifests or {"": {}}).items()) if one]
    files = [*(for_agents[0] if for_agents else ()), *_others(tree)]
    paths = {one.path for one in files}
    name = _text(first.get("name")) or fallback
    if not files:
        raise PackError(
            f"{name} has no hooks: none of {', '.join((*_MANIFESTS, *_USUAL))}, .hookline/hookline.toml, lectic.yaml and plugins.conf leads to any"
        )
    return PluginLayout(
        name=_NAME.sub("-", name).strip("-.")[:60] or "pack", version=_text(first.get("version")),
        description=_text(first.get("description")), files=tuple(files),
        left_out=tuple({one.path: one for some in for_agents[1:] for one in some if one.path not in paths}.values()),
    )  # fmt: skip


def find_plugin_root(file: str, exists: Callable[[str], bool]) -> str:
    """The folder of the plugin that a file of hooks belongs to; "" if it is in none."""
    folder = posixpath.dirname(file)
    for place in (folder, posixpath.dirname(folder), posixpath.dirname(posixpath.dirname(folder))):
        if any(exists(posixpath.join(place, manifest)) for manifest in _MANIFESTS):
            return place
    return posixpath.dirname(folder) if posixpath.basename(folder) == "hooks" else ""


def plugin_dialect(file: str, exists: Callable[[str], bool]) -> str:
    """What the hooks of a plugin's file are written for; "" for a file that is in no plugin."""
    root = find_plugin_root(file, exists)
    if not root or posixpath.basename(root).startswith("."):
        return ""
    found = next((dialect for path, dialect in _MANIFESTS.items() if exists(posixpath.join(root, path))), "claude")
    return "claude" if found == "copilot" else found


def is_pack(tree: _Tree) -> bool:
    return any(path in tree for path in (*_MANIFESTS, *_USUAL, *(path for path, _, _ in _OTHERS)))


def find_roots(tree: _Tree) -> tuple[str, ...]:
    """The folders of a larger tree, such as a package, that are packs; none below another."""
    marks = (*_MANIFESTS, _USUAL[0], ".hookline/hookline.toml")
    folders = {
        path[: -len(mark)].rstrip("/") for path in tree for mark in marks if path == mark or path.endswith(f"/{mark}")
    }
    return tuple(
        sorted(
            one for one in folders if not any(one.startswith(f"{other}/" if other else "") for other in folders - {one})
        )
    )


def _for_agent(tree: _Tree, path: str, manifest: dict[str, Any]) -> list[HooksFile]:
    """The hooks of a plugin for the agent of this manifest. With several of them it is the same plugin for each, and
    only the first counts: all together every hook would run as often as there are agents."""
    default = _MANIFESTS.get(path, "claude")
    named = {(one.path, one.part): one for one in reversed([*_named(tree, path, manifest.get("hooks"), default)])}
    found = [*reversed(named.values())]
    for usual in _USUAL:
        hooks = _json(tree, usual) if usual in tree else {}
        bare = not isinstance(hooks.get("hooks"), dict)  # then the events stand at the top
        if bare and not any(name[:1].isupper() and isinstance(one, list) for name, one in hooks.items()):
            continue
        one = HooksFile(
            path=usual, dialect=_dialect(tree, hooks if bare else hooks["hooks"], default), part="bare" if bare else ""
        )
        if usual not in {other.path for other in found} and one.dialect in {other.dialect for other in found or [one]}:
            found.append(one)
    return found


def _others(tree: _Tree) -> Iterator[HooksFile]:
    for path, dialect, syntax in _OTHERS:
        if path in tree and not (path == "hookline.toml" and ".hookline/hookline.toml" in tree):
            yield HooksFile(path=path, dialect=dialect, syntax=syntax)
    for path, file in tree.items():
        for kind, pattern in _FRONT_MATTER:
            found = pattern.fullmatch(path) if path.endswith(".md") else None
            if found and _HAS_HOOKS.match(file.data[:65536]):
                name = found[1] if found.groups() else "skill"
                yield HooksFile(path=path, dialect="claude", syntax="lec", part=f"{kind}:{name}")
                break


def _named(tree: _Tree, manifest: str, named: Any, dialect: str) -> Iterator[HooksFile]:
    """What a manifest says of its hooks: a path, several, or the hooks themselves."""
    if isinstance(named, dict) and named:
        yield HooksFile(path=manifest, dialect=_dialect(tree, named, dialect), part="inline")
    for one in named if isinstance(named, list) else [named]:
        if isinstance(one, str) and one:
            path = posixpath.normpath(one.replace("${CLAUDE_PLUGIN_ROOT}/", ""))
            inner = next((found for found in (path, f"{path}/hooks.json") if found in tree), "")
            if not inner:
                raise PackError(f"{manifest} names {one!r}, and there is no such file in the pack")
            yield HooksFile(path=inner, dialect=_dialect(tree, _json(tree, inner).get("hooks"), dialect))
        elif isinstance(one, dict) and isinstance(named, list):
            raise PackError(f"{manifest}: a list of hooks names files; put the objects into one")


def _dialect(tree: _Tree, hooks: Any, default: str) -> str:
    """The shape decides where it can: entries of Cursor and Copilot are flat lists under names that begin small."""
    events = list(hooks) if isinstance(hooks, dict) else []
    if events and all(event[:1].islower() for event in events):
        return "cursor" if default == "cursor" or any(map(_CURSORS.match, events)) else "copilot"
    if "gemini-extension.json" in tree and any(map(_GEMINIS.match, events)):
        return "gemini"
    return "claude" if default in {"copilot", "cursor"} else default


def _json(tree: _Tree, path: str) -> dict[str, Any]:
    try:
        found = json.loads(tree[path].data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise PackError(f"{path} is not JSON: {error}") from None
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
