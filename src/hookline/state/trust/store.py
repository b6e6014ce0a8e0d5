"""Where approvals are kept: one private JSON file, replaced as a whole, under a lock."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from hookline.core._dataclass import EMPTY, replace
from hookline.core.errors import StateError
from hookline.core.files import lock, note, open_without_waiting, read_text, write_json
from hookline.core.hook import FILE_EVENT, HookSpec, OnFailure, means_if_tampered
from hookline.core.paths import MANIFEST, unusable, upwards
from hookline.core.typed import TYPE_CHECKING, Any, cast
from hookline.state.trust.covered import Cover, CoveredFiles, Pins
from hookline.state.trust.digest import Digests, Signature, definition_digest, definition_text, file_signature
from hookline.state.trust.judge import Approval, Judgement, TrustVerdict, judge
from hookline.state.trust.names import file_project, is_below, shared_name
from hookline.state.trust.watch import Watch, is_being_written

if TYPE_CHECKING:
    from hookline.state.trust.copies import Copies, TrustChange

_VERSION = 1
#: Beside the approvals: which guards are expected. Approvals that are deleted or emptied do not take a guard away.
_EXPECTED = ".expected"
_GUARDING = frozenset({"deny", "abort"})


class TrustStore:
    """Approvals of one user. Reading never raises: what cannot be read is not trusted, and ``note`` says why.

    ``root`` is the project that relative words of a hook are looked up in; "" for the one its file is in. ``look``
    names the hooks that are judged together: one that was approved in another look is not missed in this one. What
    ``others`` have approved counts too, unless there is an approval of the same hook here.
    """

    def __init__(
        self,
        path: str,
        *,
        root: str = "",
        look: str = "",
        environ: Mapping[str, str] = EMPTY,
        clock: Callable[[], float] = time.time,
        others: Sequence[TrustStore] = (),
    ) -> None:
        self.path = path
        self.note = ""
        self._given_root = os.path.abspath(root) if root else ""
        self._root = os.path.realpath(root) if root else ""
        self._look = look
        self._environ = environ
        self._clock = clock
        self._others = tuple(others)
        self._digests = Digests()
        self._watch = Watch()
        self._covered: list[CoveredFiles] = []
        #: By the hooks' ids.
        self._shown: dict[str, Pins] = {}
        self._lock = threading.RLock()
        self._read_at: Signature | None = None
        self._approvals: tuple[Approval, ...] = ()

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────

    @property
    def version(self) -> Signature | None:
        """Changes whenever somebody approves or revokes, here or in another process."""
        return file_signature(self.path)

    def pins(self, spec: HookSpec) -> Pins:
        """What an approval of the hook as it is now would cover. Who was shown this and then approves, approves this:
        what has changed in between has changed since."""
        from hookline.state.trust.pins import compute_pins  # only who approves or shows a hook searches

        root = self._root or file_project(spec.origin.file)
        pins = self._shown[spec.id] = compute_pins(spec, root, self._environ, self._digests)
        return pins

    def judge(self, specs: Sequence[HookSpec]) -> Judgement:
        """All hooks of a project together, so that one that moved is not taken for one that was replaced."""
        names = {file: shared_name(file) for file in dict.fromkeys(spec.origin.file for spec in specs)}
        files = {*names, *names.values()}
        roots = {self._root, shared_name(self._root)} if self._root else {file_project(file) for file in files}
        looks = {self._look, f"{self._look.partition(' ')[0]} {shared_name(self._root)}"} if self._look else set[str]()
        # A source may be outside the project, and is missed by the project that named it.
        approvals = [
            a
            for a in self.list()
            if a.file in files or a.look in looks or any(is_below(a.file, root) for root in roots)
        ]
        known = {file: (name, self._root_names(file)) for file, name in names.items()}
        hooks = [
            (spec, name, _definitions(spec, roots)) for spec in specs for name, roots in (known[spec.origin.file],)
        ]
        judged = judge(hooks, approvals, self._covered_files)
        # A file whose hooks are all gone leaves nothing to miss.
        missing = (a for a in judged.missing if a.look in {"", *looks} and a.event != FILE_EVENT)
        return replace(judged, missing=tuple(missing))

    def knows(self, file: str) -> bool:
        """Whether anything of this file was ever approved; as long as nobody can tell, it may have been."""
        approvals, names = self.list(), {file, shared_name(file)}
        return bool(self.note) or any(a.file in names for a in approvals) or self._predates_files(approvals)

    def approved_above(self, *places: str) -> str:
        """The nearest project above one of the places with approved hooks, where this one has none; else "".

        A new repository or an empty ``.hookline`` further down must not take the guards away.
        """
        looks = {a.look for a in self.list() if a.look}
        if not looks or self._look in looks:
            return ""
        kind = self._look.partition(" ")[0]
        above = (place for one in places if one for place in upwards(os.path.realpath(one)))
        return next((place for place in above if f"{kind} {place}" in looks), "")

    def moved_here(self, *places: str) -> tuple[Approval, ...]:
        """Guards that were approved in a project that was elsewhere then, and is at or above one of the places now."""
        kind, name = self._look.partition(" ")[0] + " ", shared_name(self._root)
        alike = [a for a in self.list() if a.look.startswith(kind)]
        there = [a for a in alike if (a.folders_born or a.fingerprint) and a.on_failure in _GUARDING]
        if not there or any(a.look == self._look or is_below(a.file, name) for a in alike):
            return ()
        from hookline.state.trust.folders import find_moved  # only where guards were approved, and none of this project

        above = [place for one in places if one for place in upwards(os.path.realpath(one))]
        for place in above:  # a project that is moved here later brings one of these
            note(os.path.join(place, ".hookline", "hookline.toml"))
            note(os.path.join(place, ".git", "HEAD"))
        return find_moved(there, above)

    def covers(self, contents: HookSpec) -> bool:
        """Whether what a file holds besides its hooks is as it was approved."""
        state = self.verdict(contents).state
        return state == "trusted" or (state == "unknown" and self._predates_files(self.list()))

    def _predates_files(self, approvals: Sequence[Approval]) -> bool:
        """Whether the project was approved by a version that approved hooks only: then its files came with them."""
        here = [a for a in approvals if a.look in {"", self._look} and is_below(a.file, self._root or "/")]
        return bool(here) and all(a.event != FILE_EVENT for a in here)

    def _root_names(self, file: str) -> tuple[dict[str, str], ...]:
        """The names of this project, and of the file's own: who judges may be elsewhere."""
        own = file_project(file)
        return tuple(map(dict, dict.fromkeys(map(_names, dict.fromkeys((self._given_root or own, own))))))

    def _covered_files(self, approval: Approval) -> CoveredFiles:
        made_in = approval.look.partition(" ")[2] or self._root or file_project(approval.file)
        here = self._root and (made_in == self._root or shared_name(made_in) == shared_name(self._root))
        root = self._root if here else os.path.realpath(made_in)
        return self.watch_files(approval.cover, root, self._given_root if here else "")

    def watch_files(self, cover: Cover, root: str, way: str = "") -> CoveredFiles:
        """Files below ``root``, watched together with those of all approvals."""
        files = CoveredFiles(cover, root, self._digests, self._environ, self._watch, way=way)
        self._covered.append(files)
        return files

    def stay(self) -> None:
        """This process stays: from now on every file is watched, and no call has to look at them."""
        self._watch.resident = True
        for files in self._covered:
            files.forget()

    def verdicts(self, specs: Sequence[HookSpec]) -> dict[str, TrustVerdict]:
        """By the hooks' ids."""
        judged = self.judge(specs).verdicts
        return {spec.id: verdict for spec, verdict in zip(specs, judged, strict=True)}

    def verdict(self, spec: HookSpec) -> TrustVerdict:
        """One hook alone. Where its neighbours are known, ``verdicts`` tells moved from replaced."""
        return self.judge([spec]).verdicts[0]

    def missing(self, specs: Sequence[HookSpec]) -> tuple[Approval, ...]:
        """Approved hooks of these files (and of this project) that are no longer written anywhere."""
        return self.judge(specs).missing

    def list(self) -> tuple[Approval, ...]:
        with self._lock:
            signature = file_signature(self.path)
            if signature is None or signature != self._read_at:
                self._approvals = self._read()
                self._read_at = signature
            own = self._approvals
        if not self._others:
            return own
        known = {(a.file, a.event, a.name) for a in own}
        more = (a for other in self._others for a in other.list() if (a.file, a.event, a.name) not in known)
        return (*own, *more)

    # ── deciding ─────────────────────────────────────────────────────────────────────────────────────

    def approve(self, specs: Sequence[HookSpec]) -> tuple[Approval, ...]:
        """Trust these hooks as they are now; older approvals of the same slots are gone. Raises StateError."""
        made = tuple(self._approval(spec) for spec in specs)
        slots = {slot for a, spec in zip(made, specs, strict=True) for slot in _slots(a, a.file, spec.origin.file)}
        with self._changing():
            self._write((*(a for a in self._read() if slots.isdisjoint(_slots(a, a.file))), *made))
            self._keep_copies(specs, made)
        return made

    def changes(self, spec: HookSpec, verdict: TrustVerdict | None) -> Iterator[TrustChange]:
        """What is not as it was approved, beside what was, for the person who is to approve it again."""
        approval = verdict.approval if verdict is not None and verdict.state == "changed" else None
        if approval is None or not approval.definition:
            return
        from hookline.state.trust.copies import definition_lines, read_bytes

        copies, root = self._copies(), self._root or file_project(spec.origin.file)
        if approval.definition not in _definitions(spec, self._root_names(spec.origin.file)):
            text = definition_text(spec, self._root_names(spec.origin.file)[0])

            def show(data: bytes) -> bytes:
                """What a failure means is kept as in the first approvals, which a person must not read."""
                policy = spec.on_failure if data == text else approval.on_failure
                lines = definition_lines(data)
                default = f"on_failure = {policy} (not set: the default)\n".encode()
                return lines.replace(b"on_failure = ignore\n", default) if policy and policy != "ignore" else lines

            yield copies.compare("definition", approval.definition, text, show)
        before, after = dict(approval.cover.files), dict((self._shown.get(spec.id) or self.pins(spec)).files)
        for path in dict.fromkeys((*before, *after)):
            if before.get(path) != after.get(path):
                yield copies.compare(path, before.get(path, ""), read_bytes(os.path.join(root, path)))

    def _copies(self) -> Copies:
        from hookline.state.trust.copies import Copies

        return Copies(os.path.join(os.path.dirname(self.path), "approved"))

    def _keep_copies(self, specs: Sequence[HookSpec], made: Sequence[Approval]) -> None:
        from hookline.state.trust.copies import read_bytes

        contents = [definition_text(spec, self._root_names(spec.origin.file)[0]) for spec in specs]
        for spec, approval in zip(specs, made, strict=True):
            root = self._root or file_project(spec.origin.file)
            found = (read_bytes(os.path.join(root, path)) for path, _ in approval.cover.files)
            contents += [data for data in found if data is not None]
        wanted = {digest for a in self._read() for digest in (a.definition, *dict(a.cover.files).values())}
        self._copies().keep(contents, wanted)

    def revoke(self, name: str) -> int:
        """Take back the approval of every hook of this name; how many there were. Raises StateError.

        A file without an approved hook is a stranger again.
        """
        number = self._drop(lambda approval: approval.name == name)
        held = {a.file for a in self.list() if a.event != FILE_EVENT}
        self._drop(lambda approval: approval.event == FILE_EVENT and approval.file not in held)
        return number

    def forget(self, approvals: Sequence[Approval]) -> int:
        """Take back just these: a person has agreed that a missing hook is gone. Raises StateError."""
        gone = {(a.file, a.event, a.name, a.definition) for a in approvals}
        return self._drop(lambda a: (a.file, a.event, a.name, a.definition) in gone)

    def _drop(self, which: Callable[[Approval], bool]) -> int:
        with self._changing():
            before = self._read()
            kept = [approval for approval in before if not which(approval)]
            if len(kept) < len(before):
                self._write(kept)
        return len(before) - len(kept)

    def _approval(self, spec: HookSpec) -> Approval:
        from hookline.state.trust.folders import fingerprint  # only who approves something

        pins = self._shown.get(spec.id) or self.pins(spec)
        del self._shown[spec.id]
        root = self._root or file_project(spec.origin.file)
        if held := [path for path, _ in pins.files if is_being_written(os.path.join(root, path))]:
            raise StateError(f"{held[0]} is open for writing in another program; close it there, and approve it again")
        return Approval(
            name=spec.name,
            event=spec.event,
            file=shared_name(spec.origin.file),
            pointer=spec.origin.pointer,
            definition=_definitions(spec, self._root_names(spec.origin.file))[0],
            cover=pins.cover,
            when=self._clock(),
            on_failure=means_if_tampered(spec) if spec.enabled else "ignore",  # what was off guarded nothing
            look=self._look,
            fingerprint=fingerprint(spec.origin.file, self._given_root, self._digests) if self._given_root else "",
        )

    # ── the file ─────────────────────────────────────────────────────────────────────────────────────

    def _read(self) -> tuple[Approval, ...]:
        note(self.path)
        if file_signature(self.path) is None:
            expected = self._read_expected(())
            self.note = _unreadable(self.path) or ("" if expected else _lost(self.path))
            return expected
        try:
            with open(self.path, encoding="utf-8", errors="surrogateescape", opener=open_without_waiting) as file:
                tree = json.load(file)
            found = tuple(_approval(item) for item in tree["approvals"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            self.note = f"{self.path} cannot be read ({error}); nothing of a project is trusted until it is mended"
            return self._read_expected(())
        self.note = ""
        return (*found, *self._read_expected(found))

    def _read_expected(self, found: Sequence[Approval]) -> tuple[Approval, ...]:
        """Guards that were approved here and are in no approval: somebody took them out, so they count as changed."""
        path = self.path + _EXPECTED
        note(path)
        try:
            with open(path, encoding="utf-8", errors="surrogateescape", opener=open_without_waiting) as file:
                guards = [_expected(item) for item in json.load(file)["guards"]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return ()
        known = {(a.file, a.event, a.name) for a in found}
        return tuple(guard for guard in guards if (guard.file, guard.event, guard.name) not in known)

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Reads inside see the latest state, and nobody else writes until we have."""
        with self._lock, lock(self.path):
            yield

    def _write(self, approvals: Sequence[Approval]) -> None:
        from dataclasses import asdict  # only who approves something writes

        from hookline.state.trust.folders import folders_born

        born = folders_born(self._root) if self._root else ()
        approvals = [replace(a, folders_born=born) if a.look == self._look else a for a in approvals]
        trees = [asdict(approval) for approval in approvals]
        # Older versions read the files of an approval beside its name.
        trees = [{**tree, **tree.pop("cover")} for tree in trees]
        names = ("name", "event", "file", "on_failure", "look", "folders_born", "fingerprint")
        guards = [{name: tree[name] for name in names} for tree in trees if tree["on_failure"] in _GUARDING]
        write_json(self.path + _EXPECTED, {"guards": guards})
        write_json(self.path, {"version": _VERSION, "approvals": trees})
        self._read_at = None


def _slots(approval: Approval, *files: str) -> Iterator[tuple[str, str, str]]:
    """What an approval is of: a hook of this name, and of this definition, in a file that may have two names."""
    for file in files:
        yield from ((file, approval.event, key) for key in (approval.name, approval.definition))


def _unreadable(path: str) -> str:
    """Why it is not known what was approved; "" where nothing ever was."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{unusable(path, error)}; until then nothing of a project is trusted"
    return f"{path} is not a readable file; nothing of a project is trusted"


def _lost(path: str) -> str:
    """Approvals that were deleted: the registration was made for projects in which something was approved."""
    manifest = read_text(os.path.join(os.path.dirname(path), MANIFEST))
    with suppress(ValueError, AttributeError, RecursionError):
        if manifest and any(one.get("roots") for one in json.loads(manifest).values()):
            return f"{path} is gone, though hooks were approved; until they are approved again, hooks of projects fail"
    return ""


def _approval(item: Any) -> Approval:
    return Approval(
        name=str(item["name"]),
        event=str(item["event"]),
        file=str(item["file"]),
        pointer=str(item["pointer"]),
        definition=str(item["definition"]),
        cover=_cover(item),
        when=float(item["when"]),
        on_failure=kept if (kept := item.get("on_failure")) in {"ignore", "deny", "abort"} else "",
        look=str(item.get("look", "")),
        folders_born=_born(item),
        fingerprint=str(item.get("fingerprint", "")),
        covers_folders=bool(item.get("covers_folders")),
    )


def _expected(item: Any) -> Approval:
    """An approval that no hook is like."""
    on_failure: OnFailure = "abort" if item["on_failure"] == "abort" else "deny"
    return Approval(
        name=str(item["name"]), event=str(item["event"]), file=str(item["file"]), look=str(item["look"]), pointer="",
        definition="", cover=Cover(), on_failure=on_failure, folders_born=_born(item),
        fingerprint=str(item.get("fingerprint", "")), covers_folders=True,
    )  # fmt: skip


def _cover(item: Any) -> Cover:
    """Of what an older version wrote, only the files count."""
    files = _pairs(item["files"])
    if not item.get("covers_folders"):
        return Cover(files=files, links=None, named=tuple(path for path, _ in files))
    signatures = tuple(tuple(map(int, one)) for one in item["signatures"])
    if len(signatures) != len(dict(files)):
        raise ValueError("the files of an approval and their signatures are not equally many")
    return Cover(
        files=files,
        signatures=cast("tuple[Signature, ...]", signatures),
        folders=_pairs(item["folders"]),
        absent=tuple(map(str, item["absent"])),
        links=_pairs(item["links"]),
        variables=_pairs(item["variables"]),
        named=tuple(map(str, item["named"])),
    )


def _born(item: Any) -> tuple[tuple[int, int], ...]:
    return tuple((int(number), int(born)) for number, born in item.get("folders_born", ()))


def _pairs(items: Any) -> tuple[tuple[str, str], ...]:
    return tuple((str(first), str(second)) for first, second in items)


def _definitions(spec: HookSpec, roots: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """By each of the names of its project, and as it is written."""
    every = roots if {} in roots else (*roots, {})
    return tuple(dict.fromkeys(definition_digest(spec, names) for names in every))


def _names(root: str) -> tuple[tuple[str, str], ...]:
    name = shared_name(root)
    return tuple((one, name) for one in dict.fromkeys((root, os.path.realpath(root))) if one != name)
