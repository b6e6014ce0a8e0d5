"""What an approval of a hook covers: its definition, the folder of its script or the files it names, and theirs in turn.

Only who approves or shows a hook searches; afterwards the files that were found are compared (``covered``).
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, assert_never

from hookline.core._dataclass import dataclass
from hookline.core.agents import AGENTS
from hookline.core.code_variables import CODE_VARIABLES, is_isolated_python, starts_isolated_python
from hookline.core.hook import AgentRun, Command, Function, HookSpec, Http, Plugin, Prompt
from hookline.core.paths import FILE, FOLDER, LOCAL
from hookline.state.trust.code_files import CODE, MODULES, files_below, is_code, is_folder
from hookline.state.trust.covered import Cover, Pins
from hookline.state.trust.digest import Digests, Signature, file_signature
from hookline.state.trust.words import (
    IMPLIED,
    NODE_MODULES,
    PRELOADS,
    VARIABLE,
    Words,
    expand,
    has_wildcard,
    is_project_variable,
    of_argv,
    of_script,
    of_shell,
)

#: A folder with more is not covered as a whole: most of it is not the hook's, and every call would pay for it.
MOST_FILES, _MOST_BYTES = 200, 5 << 20
#: Bytes of a script that are searched for names.
_READ_AT_MOST = 1 << 20
#: In the order in which they are tried: one that appears in front of another is loaded instead of it.
_SCRIPT_SUFFIXES = (
    "",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".json",
    ".node",
    ".rb",
    ".pl",
    ".pmc",
    ".pm",
    ".lua",
    ".php",
    ".py",
    ".sh",
)
_SHELL_SUFFIXES = (".sh", ".bash", ".zsh", ".ksh")
#: Files that a hook keeps for itself, unless it runs them.
_KEPT_BY_HOOKS = (".log", ".pid", ".lock", ".tmp", ".swp")


def compute_pins(spec: HookSpec, root: str, environ: Mapping[str, str], digests: Digests | None = None) -> Pins:
    """``root`` is the project; relative words are looked up in it, in the hook's own base and next to its file."""
    return _Search(spec, root, environ, digests or Digests()).pins()


@cache
def _hook_folders() -> frozenset[str]:
    """Names of folders whose content belongs to hooks."""
    homes = {row.home.rpartition("/")[2] for row in AGENTS.values()}
    return frozenset({"hooks", FOLDER, *(home for home in homes if home.startswith("."))})


@cache
def _own_files() -> frozenset[str]:
    """Where hooks are written: their definitions are approved one by one."""
    agents = (path for row in AGENTS.values() for scope, path in row.files.items() if scope != "user")
    return frozenset({f"{FOLDER}/{FILE}", f"{FOLDER}/{LOCAL}", FILE, *agents})


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    signature: Signature
    digest: str
    named: bool


class _Search:
    """One look at the disk, for one hook."""

    def __init__(self, spec: HookSpec, root: str, environ: Mapping[str, str], digests: Digests) -> None:
        self._spec = spec
        self._root = os.path.realpath(root)
        self._environ = environ
        self._digests = digests
        base = spec.action.base if isinstance(spec.action, Command | Function) else ""
        own = os.path.dirname(os.path.abspath(spec.origin.file))
        places = (self._root, base, own, os.path.dirname(own) if os.path.basename(own).startswith(".") else "")
        self._bases = _unique(os.path.realpath(os.path.join(self._root, place)) for place in places if place)
        self._covers: tuple[str, ...] = tuple(spec.extra.get("covers", ()))
        self._files: dict[str, _File] = {}
        self._folders: dict[tuple[str, str], None] = {}
        self._absent: dict[str, None] = {}
        self._links: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._unpinned: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        #: Files still to be searched for names, those that are run, and names of files that the hook writes.
        self._unread: list[str] = []
        self._seen: set[str] = set()
        self._executed: set[str] = set()
        self._import_roots: dict[str, None] = {}
        self._written: set[str] = set()
        #: Python modules that are imported, and whether a Python may read what was compiled of them beside them.
        self._imported: set[str] = set()
        self._reads_compiled = False

    def pins(self) -> Pins:
        self._action()
        for text in _texts({name: value for name, value in self._spec.extra.items() if name != "covers"}):
            self._name(text, self._bases)  # a prompt's file, a script's name: whatever the dialect kept
        self._load_path()
        for path in self._covers:
            self._cover_named(path)
        while self._unread:
            self._read(self._unread.pop())
        if self._reads_compiled:
            self._cover_compiled()
        self._leave_out_written()
        files = sorted(self._files.items())
        cover = Cover(
            files=tuple((path, one.digest) for path, one in files),
            signatures=tuple(one.signature for _, one in files),
            folders=tuple(sorted(self._folders)),
            absent=tuple(path for path in self._absent if path not in self._files),
            links=tuple(sorted(self._links.items())),
            variables=tuple(sorted(self._variables.items())),
            named=tuple(path for path, one in files if one.named),
        )
        return Pins(cover=cover, unpinned=tuple(self._unpinned), notes=tuple(self._notes))

    # ── the definition ───────────────────────────────────────────────────────────────────────────────

    def _action(self) -> None:
        action = self._spec.action
        match action:
            case Command(form="argv"):
                rest = (
                    action.argv[1:] if is_isolated_python(action.argv) else action.argv
                )  # it is told where to compile
                self._reads_compiled |= starts_isolated_python(" ".join(rest))
                self._line(of_argv(action.argv, self._environ, self._root), " ".join(action.argv))
            case Command():
                self._reads_compiled |= starts_isolated_python(f"{action.text} {' '.join(action.argv)}")
                self._line(of_shell(action.text, self._environ, self._root), action.text)
                self._line(of_argv(action.argv, self._environ, self._root), " ".join(action.argv))
            case Plugin():
                self._plugin(action.path)
            case AgentRun():
                self._line(of_argv(action.command, self._environ, self._root), " ".join(action.command))
                self._name(action.prompt, self._bases)
            case Function(given=given) if given:
                pass  # ours, with settings that are in the definition
            case Function():
                self._import(action.target.partition(":")[0], self._bases)
            case Prompt():
                pass  # the text is in the definition
            case Http():
                self._unpinned[action.url.partition("?")[0]] = None
            case _:
                assert_never(action)

    def _line(self, words: Words, text: str) -> None:
        """What the hook's own command line names."""
        bases = (*self._bases, *self._inner_folders(words, self._bases))
        found = {word for word in words.paths if self._name(word, bases)}
        self._written |= {os.path.basename(word) for word in words.written}
        for word in words.executed:
            self._execute(word, bases)
        for name in words.modules:
            self._import(name, bases)
        for program in words.programs:
            name = expand(program, self._environ, self._root)
            if name not in found and not any(name.endswith("/" + word) or word.endswith(name) for word in found):
                self._unpinned[program] = None
            self._preload(program)
            for path in IMPLIED.get(os.path.basename(program), ()):
                if os.path.isfile(os.path.join(self._root, path)):
                    self._unpinned[f"{path} (read by {os.path.basename(program)})"] = None
        for word in words.paths:
            if os.path.isabs(word) and word not in found and not self._inside(word) and file_signature(word):
                self._unpinned[word] = None
        for word in words.written:
            self._unpinned[f"{word} (written)"] = None
        self._note_variables(text)

    def _preload(self, program: str) -> None:
        for name in PRELOADS.get(os.path.basename(program), ()):
            self._take_or_miss(os.path.join(self._root, name))

    def _note_variables(self, text: str) -> None:
        """A variable that leads into the project leads to other files as soon as it changes."""
        for found in VARIABLE.finditer(text):
            name = found[1] or found[2]
            value = "" if is_project_variable(name) else self._environ.get(name, "")
            if value and self._inside(os.path.join(self._root, value)):
                self._variables[name] = value

    def _load_path(self) -> None:
        """Code that the hook's own variables make a program load."""
        for name, value in self._spec.environ.items():
            if name not in CODE_VARIABLES:
                continue
            for part in value.replace("=", " ").replace(":", " ").split():
                self._execute(part, self._bases)
                self._import_roots |= dict.fromkeys(
                    path for path in self._candidates(part, self._bases) if os.path.isdir(path)
                )

    def _plugin(self, path: str) -> None:
        """A plugin's executable is pinned wherever it is: it stays in memory and sees everything."""
        whole = os.path.join(self._root, os.path.expanduser(path))
        if not self._take(whole, named=True):
            self._absent[self._shown(whole)] = None
            self._unpinned[path] = None

    def _cover_named(self, word: str) -> None:
        whole = os.path.normpath(os.path.join(self._root, word))
        if not self._inside(whole) or not os.path.exists(whole):
            self._notes[f"covers names {word!r}, which is not in the project"] = None
        elif os.path.isdir(whole):
            self._cover_folder(whole, limited=False)
        else:
            self._take(whole, named=False)

    # ── names ────────────────────────────────────────────────────────────────────────────────────────

    def _name(self, word: str, bases: Iterable[str]) -> bool:
        """Take the files of the project that the word names; whether there was one."""
        taken = [self._take(path, named=True) for path in self._candidates(word, bases) if self._inside(path)]
        return any(taken)

    def _execute(self, word: str, bases: Iterable[str]) -> None:
        """A word that is read as code: a file, a folder that is a program, or a pattern of files. One of these may
        also appear later, or in front of what is found now."""
        if has_wildcard(word):
            self._match_names(word, bases)
            return
        paths = [path for path in self._candidates(word, bases) if self._inside(path)]
        for path in paths:
            if os.path.isdir(path):
                self._cover_folder(path, limited=True)
            elif file_signature(path) is not None:
                self._executed.add(self._shown(path))
                self._take(path, named=False)
                self._unread.append(path)
        if "/" in word or "." in word or any(map(os.path.exists, paths)):
            self._absent |= {self._shown(path): None for path in paths if not os.path.lexists(path)}

    def _match_names(self, word: str, bases: Iterable[str]) -> None:
        for path in self._candidates(word, bases):
            folder, pattern = os.path.split(path)
            if not self._inside(path) or len(glob.escape(folder)) != len(folder):
                continue
            matches = [one for one in glob.glob(path, include_hidden=True) if os.path.isfile(one)]
            for one in matches:
                self._executed.add(self._shown(one))
                self._take(one, named=False)
                self._unread.append(one)
            if os.path.isdir(folder) and (matches or folder != self._root):
                self._folders[self._shown(folder), pattern] = None

    def _inner_folders(self, words: Words, bases: Iterable[str]) -> tuple[str, ...]:
        found = (path for word in words.folders for path in self._candidates(word, bases))
        return _unique(path for path in found if self._inside(path) and os.path.isdir(path))

    def _candidates(self, word: str, bases: Iterable[str]) -> Iterator[str]:
        if not word or len(word) > 4096 or "\0" in word or word in {".", "/"}:
            return
        if os.path.isabs(word):
            yield os.path.normpath(word)
        for base in bases:
            # An absolute-looking word may be the rest of one that began with a variable we do not know.
            yield os.path.normpath(os.path.join(base, word.lstrip("/")))

    def _inside(self, path: str) -> bool:
        """By its name or by what it leads to: a link out of the project is pinned by its target's content."""
        return _below(path, self._root) or _below(os.path.realpath(path), self._root)

    # ── files and folders ────────────────────────────────────────────────────────────────────────────

    def _take(self, path: str, *, named: bool) -> bool:
        """Pin one file, and search it for names."""
        shown = self._shown(path)
        known = self._files.get(shown)
        if known is not None:
            if named and not known.named:
                self._files[shown] = _File(signature=known.signature, digest=known.digest, named=True)
            return True
        if file_signature(path) is None or shown in _own_files():
            return False
        signature, digest = self._digests.signed(path)
        if signature is None:
            self._unpinned[f"{shown} (unreadable)"] = None
            return False
        self._files[shown] = _File(signature=signature, digest=digest, named=named)
        self._note_links(path)
        if os.path.basename(path).startswith("python"):
            self._cover_environment(os.path.dirname(os.path.dirname(path)))
        if not named or _is_program(path):
            self._unread.append(path)
        if not self._covers and is_code(path) and self._is_in_hook_folder(shown):
            self._cover_folder(os.path.dirname(path), limited=True)
        return True

    def _is_in_hook_folder(self, shown: str) -> bool:
        return not os.path.isabs(shown) and not _hook_folders().isdisjoint(os.path.dirname(shown).split("/"))

    def _cover_folder(self, folder: str, *, limited: bool) -> None:
        """All files below it, unless there are too many."""
        shown = self._shown(folder)
        if (shown, CODE) in self._folders or not shown:
            return
        entries = list(files_below(folder))
        files = [entry for _, entry in entries if not is_folder(entry) and file_signature(entry.path)]
        size = sum(entry.stat().st_size for entry in files)
        if limited and (len(files) > MOST_FILES or size > _MOST_BYTES):
            much = f"{len(files)} files" if len(files) > MOST_FILES else f"{size >> 20} MB"
            self._notes[f"{shown} has {much}: only the script and what it names are covered"] = None
            return
        self._folders[shown, CODE] = None
        for _, entry in entries:
            if is_folder(entry):
                self._note_links(entry.path)
            else:
                self._take(entry.path, named=False)

    def _take_or_miss(self, path: str) -> bool:
        """A file that counts from the moment it is there."""
        if self._take(path, named=False):
            return True
        if self._inside(path) and not os.path.lexists(path):
            self._absent[self._shown(path)] = None
        return False

    def _cover_environment(self, folder: str) -> None:
        """Python runs more than modules of a virtual environment, before everything else."""
        if not self._take(os.path.join(folder, "pyvenv.cfg"), named=False):
            return
        for place in glob.glob(f"{glob.escape(folder)}/lib/python*/site-packages"):
            self._match_names(os.path.join(place, "*.pth"), (place,))
            for name in ("sitecustomize", "usercustomize"):
                self._take_or_miss(os.path.join(place, f"{name}.py"))
                self._take_or_miss(os.path.join(place, name, "__init__.py"))

    def _cover_compiled(self) -> None:
        """A Python without our variables reads what was compiled of a module, if it says that it fits."""
        for path in sorted(self._imported):
            folder, name = os.path.split(path)
            self._notes[
                f"compiled modules beside {self._shown(path)} are read, and count as code; python -B writes none"
            ] = None
            cache = os.path.join(folder, "__pycache__")
            if os.path.isdir(cache):
                self._match_names(os.path.join(cache, f"{name.removesuffix('.py')}.*"), (cache,))
            else:
                self._absent[self._shown(cache)] = None

    def _note_links(self, path: str) -> None:
        """On the way from the project; the whole way to a file that is named from outside."""
        inside = _below(path, self._root)
        while _below(path, self._root) if inside else path != "/":
            if os.path.islink(path):
                self._links[self._shown(path) if inside else path] = os.readlink(path)
            path = os.path.dirname(path)

    def _leave_out_written(self) -> None:
        """A file that the hook itself writes cannot be covered, or its first run would end the approval."""
        for path in list(self._files):
            kept = path.endswith(_KEPT_BY_HOOKS) or os.path.basename(path) in self._written
            if kept and path not in self._executed and not is_code(os.path.join(self._root, path)):
                del self._files[path]
                self._unpinned[f"{path} (written)"] = None

    # ── what files name ──────────────────────────────────────────────────────────────────────────────

    def _read(self, path: str) -> None:
        """Search one file for the files it names."""
        if path in self._seen or not (is_code(path) or self._shown(path) in self._executed):
            return
        self._seen.add(path)
        with open(path, "rb") as file:
            data = file.read(_READ_AT_MOST)
        if b"\0" in data:
            return
        text = data.decode("utf-8", "surrogateescape")
        first = text.partition("\n")[0] if text.startswith("#!") else ""
        words = of_script(
            text,
            shell=path.endswith(_SHELL_SUFFIXES) or (not first and "." not in os.path.basename(path)) or "sh" in first,
        )
        if self._shown(path) in self._executed or self._files[self._shown(path)].named:  # not what only lies beside it
            self._reads_compiled |= starts_isolated_python(text)
        for word in first.replace("#!", " ").split():
            self._preload(word)
        own = _unique((os.path.dirname(path), os.path.dirname(os.path.realpath(path))))
        bases = _unique((*own, self._root))
        bases = _unique((*bases, *self._inner_folders(words, bases)))
        self._written |= {os.path.basename(word) for word in words.written}
        for word in words.paths:
            self._mention(word, bases)
        for word in words.executed:
            self._execute(word, bases)
        if not self._is_covered(path):
            for word in words.read:
                self._name(word, bases)
        if path.endswith(".py") or b"python" in data.partition(b"\n")[0]:
            self._imports(path, words, bases)
        for name in words.required:
            self._require(name, own)

    def _mention(self, word: str, bases: Iterable[str]) -> None:
        for path in self._candidates(word, bases):
            if self._inside(path) and self._shown(path) not in self._files and file_signature(path):
                if is_code(path):
                    self._take(path, named=False)
                elif self._shown(path) not in _own_files():
                    self._unpinned[f"{self._shown(path)} (named by a script)"] = None

    def _is_covered(self, path: str) -> bool:
        shown = self._shown(path)
        return any(rule == CODE and shown.startswith(f"{folder}/") for folder, rule in self._folders)

    def _imports(self, path: str, words: Words, bases: Iterable[str]) -> None:
        """Python looks beside the script that was started, and where its variables and its own code say."""
        own = os.path.dirname(path)
        if not os.path.isfile(os.path.join(own, "__init__.py")):
            self._import_roots[own] = None
        roots = _unique((*self._import_roots, *self._inner_folders(words, bases)))
        for name in words.modules:
            self._module(name, (own,) if name.startswith(".") else roots)
            self._module(name, (own,), searched=False)

    def _import(self, name: str, bases: Iterable[str]) -> None:
        if not self._module(name, _unique((*bases, *self._import_roots))):
            self._unpinned[f"module {name}"] = None

    def _module(self, name: str, bases: Iterable[str], *, searched: bool = True) -> bool:
        """A module's file, and every package on the way to it. Folders that Python searches must not get another one."""
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name[dots:].split(".") if part]
        if not all(part.isidentifier() for part in parts) or not (parts or dots):
            return False
        found = False
        for folder in bases:
            base = os.path.normpath(os.path.join(folder, *[".."] * (dots - 1)))
            if not (_below(base, self._root) or base == self._root):
                continue
            files = [path for path in _module_files(base, parts) if self._inside(path)]
            here = [path for path in files if self._take(path, named=False)]
            self._imported.update(path for path in here if path.endswith(".py"))
            found |= bool(here)
            if searched and not dots and not self._is_covered(os.path.join(base, "x")):
                self._folders[self._shown(base), MODULES] = None
                if not here and parts[0] not in sys.stdlib_module_names:
                    places = (os.path.join(base, f"{parts[0]}.py"), os.path.join(base, parts[0], "__init__.py"))
                    self._absent |= {self._shown(place): None for place in places if not os.path.lexists(place)}
        return found

    def _require(self, name: str, bases: Iterable[str]) -> None:
        """A module of another language: beside the script, or a package of the project."""
        for base in bases:
            stem = os.path.normpath(os.path.join(base, name))
            files = [stem + suffix for suffix in _SCRIPT_SUFFIXES if self._inside(stem + suffix)]
            taken = [path for path in files if self._take(path, named=False)]
            if name[:1] in "./" or taken:
                before = files[: files.index(taken[0])] if taken else files
                self._absent |= {self._shown(path): None for path in before if not os.path.lexists(path)}
            if os.path.isdir(stem) and self._inside(stem):
                self._cover_folder(stem, limited=True)
                self._take_or_miss(os.path.join(stem, "package.json"))
            if name[:1] not in "./":
                self._package(base, "/".join(name.split("/")[: 2 if name.startswith("@") else 1]))

    def _package(self, base: str, name: str) -> None:
        """The nearest package of that name; one that appears nearer would be loaded instead."""
        while (_below(base, self._root) or base == self._root) and name not in NODE_MODULES and ":" not in name:
            folder = os.path.join(base, "node_modules", name)
            if name.startswith("#"):  # package.json says what it means
                if self._take_or_miss(os.path.join(base, "package.json")):
                    return
            elif os.path.isdir(folder):
                self._cover_folder(folder, limited=True)
                return
            else:
                self._absent[self._shown(folder)] = None
            base = os.path.dirname(base)

    def _shown(self, path: str) -> str:
        if not _below(path, self._root) and path != self._root:
            real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
            path = real if _below(real, self._root) else path
        if path == self._root:
            return ""
        return os.path.relpath(path, self._root) if _below(path, self._root) else path


def _is_program(path: str) -> bool:
    """It says itself that it can be run; a suffix alone may be that of a file to be checked."""
    try:
        with open(path, "rb") as file:
            return os.access(path, os.X_OK) or file.read(2) == b"#!"
    except OSError:
        return False


def _module_files(base: str, parts: list[str]) -> Iterator[str]:
    for depth in range(1, len(parts)):
        yield os.path.join(base, *parts[:depth], "__init__.py")
    stem = os.path.join(base, *parts)
    if parts:
        yield stem + ".py"
        yield from (one for one in glob.glob(glob.escape(stem) + ".*") if one.endswith((".so", ".pyc")))
    yield os.path.join(stem, "__init__.py")
    yield os.path.join(stem, "__main__.py")


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
