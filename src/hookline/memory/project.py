"""The project and the profile that a directory belongs to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hookline.core._dataclass import dataclass
from hookline.core.files import open_without_waiting
from hookline.core.paths import repository_root
from hookline.memory.settings import KnowledgeLoop, Profile, Rule, TrustedEnvironment

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first, which costs as much as a hook
except ImportError:
    from hashlib import blake2b


#: Bytes of a ``config`` or ``.git`` file that are read.
_MAX_FILE = 1 << 18
_REMOTE = re.compile(r'^\s*\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]\s*(?:[#;].*)?$')
_SECTION = re.compile(r"^\s*\[")
_URL = re.compile(r"^\s*url\s*=\s*(.*?)\s*$", re.IGNORECASE)
_WITH_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^/@]*@)?([^/:]+)(?::\d*)?/(.+)$", re.IGNORECASE)
_SCP_LIKE = re.compile(r"^(?:[^/@]+@)?([^/:@]{2,}):(?!//)(.+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """``folder`` is its name on disk: readable, and unique among repositories of the same name."""

    name: str
    #: The main checkout, or the directory itself where there is no repository.
    root: str
    #: ``host/path`` of the remote, or the path of the repository.
    key: str
    folder: str
    #: Folders under earlier keys: before there was a remote, the path was the key.
    earlier: tuple[str, ...] = ()
    #: The root of the checkout or worktree; "" without a repository.
    checkout: str = ""


def find_project(cwd: str) -> Project:
    """Never raises: a repository that cannot be read counts as a plain directory."""
    place = os.path.realpath(cwd or ".")
    checkout = repository_root(place)
    common = _common_dir(checkout) if checkout else ""
    if not common:
        return _project(root=place, path=place, remote="", checkout="")
    root = os.path.dirname(common) if os.path.basename(common) == ".git" else checkout
    linked = _gitdir(checkout) != common
    if os.path.basename(common) != ".git" and linked:
        root = common  # a worktree of a bare repository
    return _project(root=root, path=common, remote=_remote(common), checkout=checkout)


def _project(*, root: str, path: str, remote: str, checkout: str) -> Project:
    name = os.path.basename(root).removesuffix(".git") or "root"
    by_path = _folder(name, path)
    folder = _folder(name, remote) if remote else by_path
    earlier = (by_path,) if remote else ()
    return Project(name=name, root=root, key=remote or path, folder=folder, earlier=earlier, checkout=checkout)


def _folder(name: str, key: str) -> str:
    """The remote's name is better than that of the directory it was cloned into."""
    shown = name if os.path.isabs(key) else key.rpartition("/")[2]
    return f"{safe_name(shown)}-{blake2b(key.encode(errors='surrogateescape'), digest_size=4).hexdigest()}"


def safe_name(name: str) -> str:
    """Only the characters that any file system accepts."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:60] or "project"


def _gitdir(checkout: str) -> str:
    path = os.path.join(checkout, ".git")
    if os.path.isdir(path):
        return os.path.realpath(path)
    text = _small(path)
    if not text.startswith("gitdir:"):
        return ""
    return os.path.realpath(os.path.join(checkout, text.removeprefix("gitdir:").strip()))


def _common_dir(checkout: str) -> str:
    """The directory that all worktrees share; "" if ``.git`` is not a repository."""
    gitdir = _gitdir(checkout)
    if not gitdir:
        return ""
    shared = _small(os.path.join(gitdir, "commondir")).strip()
    return os.path.realpath(os.path.join(gitdir, shared)) if shared else gitdir


def _small(path: str) -> str:
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            return (file.read(_MAX_FILE) or b"").decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return ""


def _remote(common: str) -> str:
    """``origin``, or the only remote; "" if it is on this machine."""
    urls = dict(_remotes(_small(os.path.join(common, "config"))))
    url = urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else "")
    return normalize_remote(url)


def _remotes(config: str) -> Iterator[tuple[str, str]]:
    name = ""
    for line in config.splitlines():
        if found := _REMOTE.match(line):
            name = found[1]
        elif _SECTION.match(line):
            name = ""
        elif name and (found := _URL.match(line)):
            yield name, found[1].strip('"')
            name = ""


def normalize_remote(url: str) -> str:
    """``host/path`` without scheme, credentials, port and ``.git``; "" for a path on this machine."""
    found = _WITH_SCHEME.match(url) or _SCP_LIKE.match(url)
    if not found or url.lower().startswith("file:"):
        return ""
    path = found[2].strip("/").removesuffix(".git").strip("/")
    return f"{found[1].lower()}/{path}" if path else ""


_OTHER = "other"
#: Directories of notes are recognised everywhere; what is work and what is private only the person can say.
_DEFAULT_RULES = (Rule(pattern="obsidian", profile="personal", session_type="vault"),)


def classify(settings: KnowledgeLoop, here: TrustedEnvironment) -> tuple[str, str]:
    """``(profile, session_type)`` of the first rule whose pattern is in the path. Without the person's own rules, the
    roots of the profiles decide."""
    path = f"{here.cwd.rstrip('/')}/".lower()
    rules = settings.knowledge.classify_rules
    for rule in _DEFAULT_RULES if rules is None else rules:
        if rule.pattern and rule.pattern.lower() in path:
            return rule.profile, rule.session_type
    profile = find_profile(settings, here) if rules is None else None
    return (profile.name, profile.name) if profile else (_OTHER, _OTHER)


def find_profile(settings: KnowledgeLoop, here: TrustedEnvironment) -> Profile | None:
    """The profile whose agent directory is in use, else the one with the nearest root, else the default."""
    agent = here.environ.get("CLAUDE_CONFIG_DIR", "")
    for profile in settings.profiles:
        if agent and profile.config_dir and real_path(profile.config_dir, here.home) == real_path(agent, here.home):
            return profile
    cwd = os.path.realpath(here.cwd)
    rooted = [
        (len(root), profile)
        for profile in settings.profiles
        for root in (real_path(one, here.home) for one in profile.roots)
        if cwd == root or cwd.startswith(root.rstrip("/") + "/")
    ]
    if rooted:
        return max(rooted, key=lambda one: one[0])[1]
    return next((profile for profile in settings.profiles if profile.name == settings.default_profile), None)


def real_path(path: str, home: str) -> str:
    """Relative paths and ``~`` count from home."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.realpath(os.path.join(home, path))
