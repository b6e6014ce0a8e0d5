"""Archives: fetched with their digest, and unpacked without running or trusting anything in them."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from typing import IO, Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from hookline.core.errors import PackError
from hookline.packs.source import Source
from hookline.packs.tree import LARGEST, MOST_BYTES, MOST_FILES, FetchedFiles, TreeBuilder

_SECONDS = 60.0
_PIP_DOWNLOAD = "-m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest ."
#: What the readers of archives raise for one that is broken.
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError, NotImplementedError)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def fetch_archive(source: Source) -> FetchedFiles:
    """Its revision is the SHA-256. Raises PackError; one without a digest is refused with the digest that it has."""
    data, notes = _download(source.place)
    found = hashlib.sha256(data).hexdigest()
    if not source.sha256:
        raise PackError(
            f"an archive needs the digest that its publisher tells; this one has sha256 {found}. If that is it: "
            f"hookline add '{source.text}{'&' if source.path else '#'}sha256={found}'"
        )
    if found != source.sha256:
        raise PackError(
            f"{source.place} has the SHA-256 {found}, not {source.sha256}: it is not the archive that was meant"
        )
    return FetchedFiles(builder=unpack(data), revision=found, notes=notes)


def fetch_package(source: Source) -> FetchedFiles:
    """By the person's own pip or npm, so that their registry and credentials count. Neither runs anything of the package:
    a wheel is only downloaded, and npm's scripts are off."""
    if source.kind == "npm":
        words = ["npm", "pack", "--ignore-scripts", "--loglevel=error", f"{source.place}@{source.revision or 'latest'}"]
    else:
        version = f"=={source.revision}" if source.revision else ""
        words = [sys.executable, *_PIP_DOWNLOAD.split(), f"{source.place}{version}"]
    if not shutil.which(words[0]):
        raise PackError(f"this pack needs {words[0]}, which is not installed")
    with tempfile.TemporaryDirectory(prefix="hookline-pack-") as folder:
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=_SECONDS * 2, check=False)
        except subprocess.TimeoutExpired:
            raise PackError(f"{words[0]} did not finish in time") from None
        files = sorted(os.listdir(folder))
        if done.returncode or len(files) != 1:
            told = done.stderr.strip().splitlines()
            lines = [line for line in told if "error" in line.lower()] or told
            raise PackError(f"{source.text} cannot be fetched: {lines[-1] if lines else 'no archive came'}")
        with open(os.path.join(folder, files[0]), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    name = files[0].removesuffix(".tgz")
    version = name.removeprefix(source.place.lstrip("@").replace("/", "-") + "-")
    if source.kind == "pypi" and "-" in name:
        version = name.split("-")[1]
    return FetchedFiles(builder=unpack(data, strip=source.kind == "npm"), revision=version)


# ── the network ──────────────────────────────────────────────────────────────────────────────────────


class _Redirects(HTTPRedirectHandler):
    def __init__(self, notes: list[str]) -> None:
        self._notes = notes

    def redirect_request(  # noqa: PLR0917  urllib calls it so
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in {old.scheme, "https"}:
            raise PackError(f"{req.full_url} is redirected to {newurl}, which is less safe")
        if new.netloc != old.netloc:
            self._notes.append(f"it was redirected to another host: {newurl.partition('?')[0]}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _download(address: str) -> tuple[bytes, tuple[str, ...]]:
    parts, notes = urlsplit(address), list[str]()
    if parts.scheme == "file":
        raise PackError("an archive on this disk: unpack it, then add the folder")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise PackError(f"{address} is plain http to another machine; use https")
    try:
        request = Request(address, headers={"User-Agent": "hookline"})  # noqa: S310  the scheme was checked
        with build_opener(_Redirects(notes)).open(request, timeout=_SECONDS) as answer:
            data = answer.read(MOST_BYTES + 1)
    except (URLError, OSError, ValueError) as error:
        raise PackError(f"{address} cannot be fetched: {getattr(error, 'reason', error)}") from None
    if len(data) > MOST_BYTES:
        raise PackError(f"{address} is larger than {MOST_BYTES >> 20} MiB")
    return data, tuple(notes)


# ── unpacking ────────────────────────────────────────────────────────────────────────────────────────


def unpack(data: bytes, *, strip: bool = False) -> TreeBuilder:
    """The files of a zip or tar archive; a single folder around everything is left out. Raises PackError."""
    try:
        entries = _zip(data) if zipfile.is_zipfile(io.BytesIO(data)) else _tar(data)
    except _BROKEN as error:
        raise PackError(f"the archive cannot be read: {error}") from None
    tops = {name.removeprefix("./").partition("/")[0] for name, *_ in entries}
    alone = len(tops) == 1 and all("/" in name.removeprefix("./") for name, *_ in entries)
    cut = len(next(iter(tops))) + 1 if alone or strip else 0
    builder = TreeBuilder()
    for name, content, executable, target in entries:
        inner = name.removeprefix("./")[cut:] if not name.startswith("/") else name
        if target is not None:
            builder.link(inner, target)
        else:
            builder.add(inner, content, executable=executable)
    return builder


_Entry = tuple[str, bytes, bool, str | None]


def _tar(data: bytes) -> Sequence[_Entry]:
    entries: list[_Entry] = []
    probe = TreeBuilder()
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for number, one in enumerate(archive):
            if one.isdir() or one.name == "pax_global_header":
                if number > MOST_FILES * 2:
                    raise PackError("the archive has too many folders")
                continue
            probe.add(f"f{number}", b"")
            probe.charge(one.name, one.size if one.isfile() else 0)
            if one.issym():
                entries.append((one.name, b"", False, one.linkname))
            elif one.isfile():
                file = archive.extractfile(one)
                entries.append((one.name, file.read(LARGEST + 1) if file else b"", bool(one.mode & 0o100), None))
            else:
                raise PackError(f"{one.name!r} in the archive is not a file")
    return entries


def _zip(data: bytes) -> Sequence[_Entry]:
    entries: list[_Entry] = []
    probe = TreeBuilder()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for number, one in enumerate(archive.infolist()):
            if one.is_dir():
                continue
            probe.add(f"f{number}", b"")
            probe.charge(one.filename, one.file_size)
            kind = (one.external_attr >> 16) & 0o170000
            with archive.open(one) as file:
                content = file.read(one.file_size + 1)
            if len(content) != one.file_size:
                raise PackError(f"{one.filename!r} in the archive is not as large as it says")
            if kind == 0o120000:
                entries.append((one.filename, b"", False, content.decode("utf-8", "replace")))
            elif kind in {0, 0o100000}:
                # An archive that was made elsewhere knows no modes: a script with a first line is meant to be run.
                mode = (one.external_attr >> 16) & 0o100 or (kind == 0 and content.startswith(b"#!"))
                entries.append((one.filename, content, bool(mode), None))
            else:
                raise PackError(f"{one.filename!r} in the archive is not a file")
    return entries
