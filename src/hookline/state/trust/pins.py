"""What an approval of a hook covers: its definition, the folder of its script or the files it names, and theirs in turn.

Only who approves or shows a hook searches; afterwards the files that were found are compared (``covered``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from hookline.core.code_variables import CODE_VARIABLES, is_isolated_python, starts_isolated_python
from hookline.core.hook import AgentRun, Command, Function, HookSpec, Http, Plugin, Prompt
from hookline.state.trust.code_files import is_code
from hookline.state.trust.covered import Cover, Pins
from hookline.state.trust.digest import Digests, file_signature
from hookline.state.trust.found_files import own_files
from hookline.state.trust.found_modules import FoundModules, unique
from hookline.state.trust.words import (
    IMPLIED,
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

#: Bytes of a script that are searched for names.
_READ_AT_MOST = 1 << 20
_SHELL_SUFFIXES = (".sh", ".bash", ".zsh", ".ksh")


def compute_pins(spec: HookSpec, root: str, environ: Mapping[str, str], digests: Digests | None = None) -> Pins:
    """``root`` is the project; relative words are looked up in it, in the hook's own base and next to its file."""
    return _Search(spec, root, environ, digests or Digests()).pins()


class _Search(FoundModules):
    """One look at the disk, for one hook."""

    def __init__(self, spec: HookSpec, root: str, environ: Mapping[str, str], digests: Digests) -> None:
        super().__init__(root, digests, tuple(spec.extra.get("covers", ())))
        self._spec = spec
        self._environ = environ
        base = spec.action.base if isinstance(spec.action, Command | Function) else ""
        own = os.path.dirname(os.path.abspath(spec.origin.file))
        places = (self._root, base, own, os.path.dirname(own) if os.path.basename(own).startswith(".") else "")
        self._bases = unique(os.path.realpath(os.path.join(self._root, place)) for place in places if place)
        self._variables: dict[str, str] = {}
        self._seen: set[str] = set()
        #: Whether a Python may read what was compiled of a module beside it.
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
                # One that is started by itself is told where to compile.
                rest = action.argv[1:] if is_isolated_python(action.argv) else action.argv
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

    # ── files and folders ────────────────────────────────────────────────────────────────────────────

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
        own = unique((os.path.dirname(path), os.path.dirname(os.path.realpath(path))))
        bases = unique((*own, self._root))
        bases = unique((*bases, *self._inner_folders(words, bases)))
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
                elif self._shown(path) not in own_files():
                    self._unpinned[f"{self._shown(path)} (named by a script)"] = None


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
