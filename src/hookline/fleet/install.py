"""A policy on a machine: checked, unpacked beside the one before it, and put in force by one rename.

``policy/`` in the machine's directory has ``key.pub`` (whom the machine trusts), ``installed.json`` (the highest version
ever taken), ``versions/`` and ``current``, which leads to the one in force.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

from hookline.config.managed import find_stranger
from hookline.core.errors import ConfigError, StateError, UsageError
from hookline.core.files import open_locked, replace_atomically
from hookline.core.paths import Paths
from hookline.fleet.build import unpack
from hookline.fleet.bundle import Bundle, read_bundle, require_trusted
from hookline.fleet.keys import PublicKey, read_public_key
from hookline.packs.tree import read_folder

_KEY, _STATE, _VERSIONS, _BUNDLE = "key.pub", "installed.json", "versions", "policy.hkp"
#: Versions that stay on the disk: hooks of the one before may still run.
_KEPT = 2


@contextmanager
def readable_by_all() -> Generator[None]:
    """What is written meanwhile, whatever mask the owner of the machine has: a policy that a person's agent cannot read
    does not guard them."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


class PolicyFolder:
    """The owner's directory on one machine."""

    def __init__(self, paths: Paths) -> None:
        self.folder = os.path.dirname(paths.policy)
        self.current = paths.policy

    # ── queries ──────────────────────────────────────────────────────────────────────────────────────

    def trusted(self) -> PublicKey | None:
        path = os.path.join(self.folder, _KEY)
        return read_public_key(path) if os.path.lexists(path) else None

    def highest(self) -> tuple[int, str]:
        """Version and digest of the newest policy that this machine ever took; (0, "") if none."""
        path = os.path.join(self.folder, _STATE)
        try:
            with open(path, encoding="utf-8") as file:
                tree = json.load(file)
            return int(tree["version"]), str(tree["digest"])
        except FileNotFoundError:
            return 0, ""
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StateError(
                f"{path} cannot be read ({error}); without it nobody knows which versions are old"
            ) from None

    def bundle(self) -> Bundle | None:
        """The policy in force, as it was signed; None if there is none. Raises ConfigError if it is not."""
        path = os.path.join(self.current, _BUNDLE)
        if not os.path.lexists(self.current):
            return None
        try:
            with open(path, "rb") as file:
                return read_bundle(file.read(), path)
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}; install the policy again") from None

    def findings(self) -> Iterator[str]:
        """What is not as it was signed, and who else could have changed it."""
        bundle, trusted = self.bundle(), self.trusted()
        if bundle is None or trusted is None:
            yield f"there is no policy in {self.folder}; hookline policy install FILE --key KEY.pub"
            return
        try:
            require_trusted(bundle, trusted, os.path.join(self.current, _BUNDLE))
        except ConfigError as error:
            yield str(error)
        if self.highest() != (bundle.manifest.version, bundle.digest):
            yield f"version {bundle.manifest.version} is in force, but this machine has taken version {self.highest()[0]}"
        there = {path: one for path, one in read_folder(os.path.realpath(self.current)).items() if path != _BUNDLE}
        there = {path: one for path, one in there.items() if "/work/" not in path}
        for path in sorted({*there, *bundle.tree}):
            if there.get(path) != bundle.tree.get(path):
                what = "changed" if path in there and path in bundle.tree else "added" if path in there else "missing"
                yield f"{os.path.join(self.current, path)} was {what}" if what != "missing" else f"{path} is missing"
        for name in (os.path.join(_VERSIONS), _KEY, _STATE, "current/hookline.toml"):
            if why := find_stranger(os.path.join(self.folder, name)):
                yield why

    # ── changes ──────────────────────────────────────────────────────────────────────────────────────

    def install(
        self, data: bytes, key: PublicKey | None = None, *, check: Callable[[Bundle], None] | None = None
    ) -> bool:
        """Take a policy; False if it is in force already. ``key`` is whom to trust, at the first time.

        Raises ConfigError, UsageError and StateError, and has then changed nothing that is in force.
        """
        bundle = read_bundle(data)
        self.require_writable()
        with self._locked():
            trusted = self._first_key(key)
            require_trusted(bundle, trusted)
            if not self._require_newer(bundle):
                return False
            if check is not None:
                check(bundle)
            self._put(bundle)
        return True

    def trust(self, key: PublicKey) -> None:
        """Whose policies this machine takes, before the first one comes. Raises UsageError and StateError."""
        self.require_writable()
        with self._locked():
            self._first_key(key)
            if self.trusted() is None:
                _write(os.path.join(self.folder, _KEY), key.text().encode())

    def remove(self, *, forget: bool = False) -> None:
        """Nothing is in force any more. The key and the highest version stay, unless all is to be forgotten."""
        self.require_writable()
        with self._locked():
            if os.path.lexists(self.current):
                os.unlink(self.current)
            shutil.rmtree(os.path.join(self.folder, _VERSIONS), ignore_errors=True)
        if forget:
            shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Nobody else changes it meanwhile."""
        handle = open_locked(os.path.join(self.folder, f"{_STATE}.lock"), wait=True)
        assert handle is not None, "it was waited for"
        try:
            with readable_by_all():
                yield
        finally:
            os.close(handle)

    def _first_key(self, key: PublicKey | None) -> PublicKey:
        trusted = self.trusted()
        if trusted is None:
            if key is None:
                raise UsageError("this machine trusts no key yet; name the owner's public key once: --key KEY.pub")
            return key
        if key is not None and key.key != trusted.key:
            raise UsageError(
                f"this machine trusts {trusted.short}… already; a new key must be signed by it (hookline policy keygen NEW"
                " --previous OLD) and comes with the policy"
            )
        return trusted

    def _require_newer(self, bundle: Bundle) -> bool:
        version, digest = self.highest()
        new = bundle.manifest.version
        if new < version:
            raise ConfigError(
                f"version {new} is older than version {version}, which this machine has taken; nothing changed"
            )
        if new == version and bundle.digest != digest:
            raise ConfigError(f"this is another policy with the same version {new}; give it a higher one")
        return new > version or not os.path.lexists(self.current)

    def _put(self, bundle: Bundle) -> None:
        name = f"{bundle.manifest.version}-{bundle.digest[:12]}"
        versions = os.path.join(self.folder, _VERSIONS)
        os.makedirs(versions, 0o755, exist_ok=True)
        target, fresh = os.path.join(versions, name), os.path.join(versions, f".{name}")
        shutil.rmtree(fresh, ignore_errors=True)
        os.mkdir(fresh, 0o755)
        unpack(bundle.tree, fresh)
        _write(os.path.join(fresh, _BUNDLE), bundle.data)
        shutil.rmtree(target, ignore_errors=True)
        os.rename(fresh, target)
        _write(os.path.join(self.folder, _KEY), bundle.key.text().encode())
        state = {"version": bundle.manifest.version, "digest": bundle.digest}
        _write(os.path.join(self.folder, _STATE), json.dumps(state).encode())
        link = f"{self.current}.new"
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(os.path.join(_VERSIONS, name), link)
        os.replace(link, self.current)
        self._sweep(versions, name)

    def _sweep(self, versions: str, current: str) -> None:
        old = sorted((one for one in os.listdir(versions) if one != current), key=_version_number)
        for one in old[: max(0, len(old) - (_KEPT - 1))]:
            shutil.rmtree(os.path.join(versions, one), ignore_errors=True)

    def require_writable(self) -> None:
        """The directory, made by its owner and for reading by all. Raises StateError."""
        try:
            for folder in (os.path.dirname(self.folder), self.folder):
                os.makedirs(folder, 0o755, exist_ok=True)
            if not os.access(self.folder, os.W_OK):
                raise PermissionError(13, "Permission denied")
            for folder in (os.path.dirname(self.folder), self.folder):
                os.chmod(folder, 0o755)  # noqa: S103  a policy that a person cannot read does not guard them
        except OSError as error:
            raise StateError(
                f"{self.folder} cannot be written ({error.strerror}); the owner of the machine does this: sudo"
            ) from None


def _version_number(name: str) -> int:
    number = name.lstrip(".").partition("-")[0]
    return int(number) if number.isdigit() else -1


def _write(path: str, data: bytes) -> None:
    replace_atomically(path, data, mode=0o644)
