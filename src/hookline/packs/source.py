"""Where a pack comes from, as people write it: ``github:owner/repo/path@v1``, a git or archive URL, a folder, a package."""

from __future__ import annotations

import os
import re
from typing import Literal

from hookline.core._dataclass import dataclass
from hookline.core.errors import UsageError

_Kind = Literal["git", "archive", "folder", "own", "pypi", "npm", "marketplace"]

_EXAMPLES = (
    "github:owner/repo[/path][@tag], a git URL, an archive URL with #sha256=…, ./folder, name@marketplace, pypi:name,"
    " npm:name or hookline:name"
)
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REVISION = re.compile(r"(?!-)[A-Za-z0-9][A-Za-z0-9._/+-]*")
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_GITHUB = re.compile(rf"github:({_PART}/{_PART})(?:/([^@#]+))?")
_PACKAGE = re.compile(rf"(pypi|npm|hookline):((?:@{_PART}/)?{_PART})(?:/([^@#]+))?")
_URL = re.compile(r"(?:git\+)?(?:https?|ssh|git|file)://(?:[^\s@/]+@)?[^\s@/]*/[^\s@]+", re.IGNORECASE)
_SCP = re.compile(rf"(?:{_PART}@)?(?!(?:github|pypi|npm|hookline):){_PART}:[\w~][^\s:@]*")
_ARCHIVE = re.compile(r"\.(?:zip|tgz|tar|tar\.gz|tar\.xz|tar\.bz2)$", re.IGNORECASE)
_SHA256 = re.compile(r"(?:#|&)sha256=([0-9a-fA-F]{64})$")
_INNER = re.compile(r"#path=([^#&]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """``text`` is what stands in the configuration; it says everything but the revision."""

    kind: _Kind
    text: str
    #: The address, the folder, the name of the package or of the entry.
    place: str
    #: The folder in it.
    path: str = ""
    revision: str = ""
    #: Of an archive, as its publisher tells it; the marketplace of an entry.
    sha256: str = ""
    marketplace: str = ""


def parse_source(text: str, cwd: str, home: str) -> Source:
    """Raises UsageError."""
    text = text.strip()
    if not text or text.startswith("-") or any(ord(char) < 32 for char in text):
        raise UsageError(f"{text!r} names no pack; write {_EXAMPLES}")
    if text.startswith(("./", "../", "/", "~/")) or text in {".", ".."}:
        folder = os.path.normpath(
            os.path.join(cwd, os.path.expanduser(text) if not home else text.replace("~", home, text.startswith("~")))
        )
        return Source(kind="folder", text=folder, place=folder)
    found = _package(text) or _github(text) or _address(text) or _entry(text)
    if found is None:
        hint = f"; for the folder: ./{text}" if os.path.isdir(os.path.join(cwd, text)) else ""
        raise UsageError(f"{text!r} names no pack{hint}; write {_EXAMPLES}")
    if found.path and (found.path.startswith("/") or ".." in found.path.split("/")):
        raise UsageError(f"{found.path!r} leads out of its repository")
    if found.revision and (not _REVISION.fullmatch(found.revision) or ".." in found.revision):
        raise UsageError(
            f"{found.revision!r} is not a revision; write a tag, a branch, a version or 40 hexadecimal digits"
        )
    return found


def _package(text: str) -> Source | None:
    at = text.rfind("@")
    name, revision = (text[:at], text[at + 1 :]) if at > text.find(":") + 1 else (text, "")
    found = _PACKAGE.fullmatch(name)
    if not found:
        return None
    kind: _Kind = "own" if found[1] == "hookline" else "pypi" if found[1] == "pypi" else "npm"
    return Source(kind=kind, text=name, place=found[2], path=(found[3] or "").strip("/"), revision=revision)


def _github(text: str) -> Source | None:
    name, _, revision = text.partition("@")
    found = _GITHUB.fullmatch(name)
    if not found:
        return None
    place = f"https://github.com/{found[1].removesuffix('.git')}.git"
    return Source(kind="git", text=name, place=place, path=(found[2] or "").strip("/"), revision=revision)


def _address(text: str) -> Source | None:
    """A URL: an archive by its ending, git otherwise. ``#path=`` names a folder in it."""
    digest = _SHA256.search(text)
    bare = text[: digest.start()] if digest else text
    inner = _INNER.search(bare)
    plain = bare[: inner.start()] if inner else bare
    behind = bare[inner.end() :] if inner else ""
    cut = plain.rfind("@")
    # An @ before the path belongs to a user name.
    start = plain.find("/", plain.find("://") + 3) if "://" in plain else plain.find(":")
    place, revision = (plain[:cut], plain[cut + 1 :]) if cut > start > 0 else (plain, behind.removeprefix("@"))
    path = inner[1].partition("@")[0].strip("/") if inner else ""
    if inner and "@" in inner[1]:
        revision = inner[1].partition("@")[2]
    if not (_URL.fullmatch(place) or _SCP.fullmatch(place)):
        return None
    address, kept = place.removeprefix("git+"), place + (f"#path={path}" if path else "")
    if _ARCHIVE.search(address.partition("?")[0]) and not place.startswith("git+"):
        sha = digest[1].lower() if digest else ""
        mark = ("&" if path else "#") + f"sha256={sha}" if sha else ""
        return Source(kind="archive", text=kept + mark, place=address, path=path, sha256=sha)
    return Source(kind="git", text=kept, place=address, path=path, revision=revision)


def _entry(text: str) -> Source | None:
    name, _, where = text.partition("@")
    if not re.fullmatch(_PART, name) or not where:
        return None
    return Source(kind="marketplace", text=text, place=name, marketplace=where)
