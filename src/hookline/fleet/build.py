"""From a folder to a signed policy: everything that a machine needs is in it, and nothing that is wrong gets into it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping

from hookline.config.discover import lookup_for
from hookline.config.managed import read_policy
from hookline.core._dataclass import dataclass, replace
from hookline.core.errors import ConfigError, PackError
from hookline.core.loaded import Loaded
from hookline.core.paths import FILE, Paths
from hookline.core.problem import Problem
from hookline.core.settings import Settings
from hookline.fleet import manifest as manifests
from hookline.fleet.bundle import pack_bundle, read_bundle
from hookline.fleet.manifest import Manifest
from hookline.packs.store import PackStore
from hookline.packs.tree import File, Tree, read_folder, tree_digest

#: The tables of ``hookline.toml`` that mean the same on every machine. Sources and hooks by name lie with a person.
_TABLES = frozenset({"hook", "guard", "pack", "limits", "record", "models", "mcp", "telemetry", "inbox", "$schema"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    data: bytes
    manifest: Manifest
    #: As a machine will load it; ``problems`` are warnings.
    loaded: Loaded


def build_policy(folder: str, private_key: str, paths: Paths, *, version: int = 0) -> Built:
    """``version`` replaces the one in the folder. Raises ConfigError with every problem."""
    if not os.path.isdir(folder):
        raise ConfigError(f"{folder} is not a folder; a policy is a folder with {manifests.FILE} and {FILE}")
    return _seal(read_folder(folder), private_key, paths, folder, version=version)


def _seal(files: Tree, private_key: str, paths: Paths, name: str, *, version: int = 0) -> Built:
    """The same from files; those of an older policy become a newer one by another version."""
    missing = [one for one in (manifests.FILE, FILE) if one not in files]
    if missing:
        raise ConfigError(f"{name} has no {missing[0]}; docs/how-to/policy.md shows one")
    tree = dict(files)
    if version:
        text = tree[manifests.FILE].data.decode("utf-8", "replace")
        tree[manifests.FILE] = File(data=_with_version(text, version).encode())
    manifest = manifests.manifest_from(tree, name)
    tree |= _packs(tree, paths, name)
    loaded = check_tree(tree, paths, name)
    return Built(data=pack_bundle(tree, private_key), manifest=manifest, loaded=loaded)


def reseal(data: bytes, private_key: str, paths: Paths, version: int) -> Built:
    """The content of an older policy under a higher version: the way back."""
    return _seal(read_bundle(data).tree, private_key, paths, "the policy", version=version)


def check_tree(tree: Tree, paths: Paths, name: str) -> Loaded:
    """What a machine would load. Raises ConfigError with every problem."""
    with tempfile.TemporaryDirectory(prefix="hookline-policy-") as folder:
        unpack(tree, folder)
        lookup = lookup_for(cwd="/", home="/nonexistent", environ={}, paths=paths)
        # Its packs keep nothing here.
        loaded = read_policy(folder, lookup, replace(paths, data=os.path.join(folder, ".data")), Settings())
    found = [
        replace(one, file=one.file.replace(folder, name), finding=one.finding.replace(folder, name))
        for one in (*loaded.problems, *_strange_tables(tree, name))
    ]
    manifests.raise_problems(found)
    return replace(loaded, problems=tuple(found))


def unpack(tree: Tree, folder: str) -> None:
    """Readable by everybody; a pack's working copy is what was published, since nobody may write to it."""
    for path, file in tree.items():
        whole = os.path.join(folder, path)
        os.makedirs(os.path.dirname(whole), 0o755, exist_ok=True)
        with open(whole, "xb") as out:
            out.write(file.data)
        os.chmod(whole, 0o755 if file.executable else 0o644)
    packs = os.path.join(folder, "packs")
    for digest in os.listdir(packs) if os.path.isdir(packs) else ():
        os.symlink("published", os.path.join(packs, digest, "work"))


def _strange_tables(tree: Tree, name: str) -> Iterator[Problem]:
    from tomllib import TOMLDecodeError, loads

    try:
        found = loads(tree[FILE].data.decode("utf-8", "replace"))
    except TOMLDecodeError:
        return  # said already
    for key in found.keys() - _TABLES:
        fix = "write the hooks themselves, or a pack"
        yield Problem(file=f"{name}/{FILE}", pointer=f"$.{key}", finding=f"{key} cannot be part of a policy", fix=fix)


def _packs(tree: Tree, paths: Paths, name: str) -> Mapping[str, File]:
    """The files of the packs that the policy names by digest, from the store of whoever builds it."""
    from hookline.config.syntax import parse_text
    from hookline.dialects.base import Layer
    from hookline.dialects.native.sources import parse_packs

    text = tree[FILE].data.decode("utf-8", "replace")
    document = parse_text(f"{name}/{FILE}", text, "toml")
    if not isinstance(document.tree, dict) or "pack" not in document.tree:
        return {}
    layer = Layer(
        path=f"{name}/{FILE}", name="policy", syntax="toml", text=text, tree=document.tree, line=document.line
    )
    tables, problems = parse_packs(layer)
    manifests.raise_problems(problems)
    store, found = PackStore(paths), dict[str, File]()
    for table in tables:
        inner = f"packs/{table.digest.removeprefix('sha256:')}/published/"
        kept = {path.removeprefix(inner): file for path, file in tree.items() if path.startswith(inner)}
        try:
            files = kept if kept and tree_digest(kept) == table.digest else store.read(table.digest)
        except PackError as error:
            raise ConfigError(f"{table.where.problem(str(error), f'hookline add {table.source}')}") from None
        found |= {f"{inner}{path}": file for path, file in files.items()}
    return found


def _with_version(text: str, version: int) -> str:
    lines = text.splitlines()
    at = next((at for at, line in enumerate(lines) if line.split("=")[0].strip() == "version"), None)
    if at is None:
        return f"version = {version}\n{text}"
    return "\n".join([*lines[:at], f"version = {version}", *lines[at + 1 :]]) + "\n"
