"""From a source to files: which way it is fetched, and which folder of it is the pack."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from hookline.core._dataclass import dataclass, replace
from hookline.core.errors import PackError
from hookline.core.suggest import nearest
from hookline.dialects.plugins import MARKETPLACES, PluginLayout, find_roots, is_pack, read_layout
from hookline.packs.source import Source, parse_source
from hookline.packs.tree import Tree, read_folder, tree_digest

#: Behind the packs that come with hookline: in an installed package, or in a checkout.
_OWN = (("own_packs",), ("..", "..", "packs"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    source: Source
    #: What pins it; "" for a folder and for packs of ours, which the digest alone pins.
    revision: str
    tree: Tree
    layout: PluginLayout
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return tree_digest(self.tree)


def fetch(source: Source, home: str) -> Fetched:
    """Fetches and reads; runs nothing of it. Raises PackError."""
    if source.kind == "marketplace":
        return fetch(_entry_source(source, home), home)
    whole, revision, notes = _files(source)
    if not is_pack(whole):
        source, whole = _inner(source, whole)
    layout = read_layout(whole, _name(source))
    return Fetched(source=source, revision=revision, tree=whole, layout=layout, notes=notes)


def _files(source: Source) -> tuple[Tree, str, tuple[str, ...]]:
    """What there is at the source, its revision, and what a person should know."""
    match source.kind:
        case "folder" | "own":
            folder = source.place if source.kind == "folder" else _own_folder(source.place)
            if not os.path.isdir(folder):
                raise PackError(f"{folder} {'is not a folder' if os.path.exists(folder) else 'does not exist'}")
            return read_folder(folder), "", ()
        case "git":
            from hookline.packs.git import fetch_commit

            found, path = fetch_commit(source), ""  # only that folder was read
        case _:
            from hookline.packs.download import fetch_archive, fetch_package

            found, path = (fetch_archive if source.kind == "archive" else fetch_package)(source), source.path
    if not (tree := found.builder.tree(path)) and path:
        raise PackError(f"there is no folder {path!r} in it")
    return tree, found.revision, found.notes


def own_packs() -> dict[str, str]:
    """Name -> folder of the packs that come with hookline."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for parts in _OWN:
        folder = os.path.normpath(os.path.join(here, *parts))
        if os.path.isdir(folder):
            return {
                name: os.path.join(folder, name)
                for name in sorted(os.listdir(folder))
                if os.path.isdir(os.path.join(folder, name))
            }
    return {}


def _own_folder(name: str) -> str:
    known = own_packs()
    if name not in known:
        near = nearest(name, known)
        hint = f"did you mean hookline:{near}?" if near else "all of them: hookline packs"
        raise PackError(f"there is no pack hookline:{name}; {hint}")
    return known[name]


def _name(source: Source) -> str:
    last = (source.path or source.place).rstrip("/").rpartition("/")[2].rpartition(":")[2]
    return last.removesuffix(".git") or "pack"


def _inner(source: Source, tree: Tree) -> tuple[Source, Tree]:
    """The only pack of a repository or package that is no pack itself."""
    market = next((path for path in MARKETPLACES if path in tree), "")
    if market:
        names = [str(one.get("name")) for one in _plugins(tree, market)]
        first = names[0] if names else "NAME"
        if len(names) != 1:
            raise PackError(
                f"{source.text} is a marketplace; choose one of {', '.join(names) or 'nothing'}: hookline add {first}@{source.text}"
            )
        entry = next(iter(_plugins(tree, market)))
        if isinstance(entry.get("source"), str):
            return _folder_of(source, tree, entry["source"].strip("./"))
    roots = find_roots(tree)
    if len(roots) == 1:
        return _folder_of(source, tree, roots[0])
    if roots:
        raise PackError(f"{source.text} has several packs; name the folder of one: {', '.join(roots[:12])}")
    return source, tree  # read_layout says what is missing


def _folder_of(source: Source, tree: Tree, folder: str) -> tuple[Source, Tree]:
    folder = folder.strip("/")
    prefix = f"{folder}/" if folder else ""
    below = {path[len(prefix) :]: file for path, file in tree.items() if path.startswith(prefix)}
    if not below:
        raise PackError(f"{source.text} names the folder {folder!r}, which it does not have")
    return _with_path(source, folder), below


def _with_path(source: Source, folder: str) -> Source:
    path = "/".join(part for part in (source.path, folder) if part)
    if not folder:
        return source
    if source.kind == "folder":
        place = os.path.join(source.place, folder)
        return replace(source, text=place, place=place)
    if source.text.startswith(("github:", "pypi:", "npm:")):
        return replace(source, text=f"{source.text}/{folder}", path=path)
    bare, mark, digest = source.text.partition("sha256=")
    bare = bare.rstrip("#&").partition("#path=")[0]
    return replace(source, text=f"{bare}#path={path}{f'&{mark}{digest}' if mark else ''}", path=path)


# ── marketplaces ─────────────────────────────────────────────────────────────────────────────────────


def _entry_source(source: Source, home: str) -> Source:
    """The plugin of a marketplace: in its own repository, or wherever its entry says. Raises PackError."""
    where = parse_source(_marketplace(source.marketplace, home), os.getcwd(), home)
    tree, revision, _ = _files(where)
    market = next((path for path in MARKETPLACES if path in tree), "")
    if not market:
        raise PackError(f"{where.text} has no marketplace.json")
    entries = {str(one.get("name")): one for one in _plugins(tree, market)}
    entry = entries.get(source.place)
    if entry is None:
        raise PackError(f"{where.text} has no plugin {source.place!r}; it has {', '.join(entries) or 'none'}")
    named = entry.get("source", "./")
    if isinstance(named, str):
        about = _read(tree, market).get("metadata") or {}
        base = "" if named.startswith("./") else str(about.get("pluginRoot") or "")
        folder = os.path.normpath(os.path.join(base, named)).removeprefix("./")
        if folder.startswith("..") or os.path.isabs(folder):
            raise PackError(f"{market}: the source {named!r} leads out of the marketplace")
        return replace(_with_path(where, "" if folder == "." else folder), revision=revision)
    return _foreign_entry(named, source.place, home)


def _foreign_entry(named: Mapping[str, Any], name: str, home: str) -> Source:
    kind = str(named.get("source", ""))
    revision = str(named.get("sha") or named.get("ref") or named.get("version") or "")
    path = str(named.get("path") or "").strip("/")
    address = f"{named.get('url')}{f'#path={path}' if path else ''}"
    texts = {
        "github": f"github:{named.get('repo')}{f'/{path}' if path else ''}",
        **dict.fromkeys(("url", "git", "git-subdir"), address),
        "npm": f"npm:{named.get('package')}",
        "pip": f"pypi:{named.get('package')}",
    }
    text = texts.get(kind, "")
    if kind == "git-subdir" and "://" not in text and "@" not in text:
        text = f"github:{named.get('url')}{f'/{path}' if path else ''}"
    if not text:
        raise PackError(f"the marketplace entry {name!r} has a source of the kind {kind!r}, which is not known")
    return replace(parse_source(text, "/", home), revision=revision)


def _marketplace(named: str, home: str) -> str:
    """What a person may call a marketplace: a source, ``owner/repo``, or a name that an agent on this machine knows."""
    if "/" in named or ":" in named:
        return named if ":" in named or named.startswith((".", "/", "~")) else f"github:{named}"
    from hookline.packs.installed import find_marketplaces

    known = find_marketplaces(home)
    if named not in known:
        raise PackError(
            f"no agent here knows a marketplace {named!r}; write NAME@github:OWNER/REPO or one of {', '.join(known) or 'those you add to an agent'}"
        )
    return known[named]


def _plugins(tree: Tree, path: str) -> list[dict[str, Any]]:
    found = _read(tree, path).get("plugins")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _read(tree: Tree, path: str) -> dict[str, Any]:
    try:
        found = json.loads(tree[path].data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise PackError(f"{path} is not JSON: {error}") from None
    return found if isinstance(found, dict) else {}
