"""What a hook is made of: its definition, and the files it runs."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, assert_never

from hookline.core._dataclass import dataclass
from hookline.core.hook import AgentRun, Command, Function, HookSpec, Http, Plugin, Prompt
from hookline.core.paths import repository_root
from hookline.state.trust.digest import Digests, Signature, definition_digest, file_signature

#: What a path looks like inside anything else: ``--config=./a.toml``, ``$(pwd)/hooks/x.sh``, ``. ./env.sh;``
_FRAGMENT = re.compile(r"[A-Za-z0-9_.~+@%,/-]{2,4096}")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)[^}]*\}|([A-Za-z_]\w*))")
#: Where output goes is not what is run, and would make a hook that keeps a log untrust itself.
_REDIRECT = re.compile(r"""[0-9&]?>{1,2}[|&]?[ \t]*(\"[^\"\n]*\"|'[^'\n]*'|[^\s;|&<>()]+)""")
_SEPARATORS = frozenset({";", ";;", "|", "||", "|&", "&", "&&", "(", ")", "{", "}", "\n", "!"})
_PREFIXES = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "exec", "env", "sudo", "time", "command", "nohup", "nice"}
)
_BUILTINS = frozenset({
    ".", ":", "[", "[[", "alias", "bg", "bind", "break", "builtin", "case", "cd", "continue", "declare", "dirs",
    "disown", "do", "done", "echo", "elif", "else", "enable", "esac", "eval", "exec", "exit", "export", "false", "fc",
    "fg", "fi", "for", "function", "getopts", "hash", "help", "history", "if", "in", "jobs", "kill", "let", "local",
    "logout", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "select", "set",
    "shift", "shopt", "source", "suspend", "test", "then", "time", "times", "trap", "true", "type", "typeset",
    "ulimit", "umask", "unalias", "unset", "until", "wait", "while", "{", "}", "!", "]",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """``paths`` may name files, ``modules`` Python modules, ``programs`` are what is called by name."""

    paths: tuple[str, ...]
    programs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


def of_argv(argv: Sequence[str], environ: Mapping[str, str], root: str) -> Words:
    """A program and its arguments; an argument may itself be shell source (``bash -c``)."""
    return Words(
        paths=_unique(_paths(argv, environ, root)),
        programs=tuple(argv[:1]),
        modules=tuple(after for word, after in pairwise(argv) if word == "-m"),
    )


def of_shell(text: str, environ: Mapping[str, str], root: str) -> Words:
    """Shell source, or a line of words. No parser of shell, so it rather finds a word too many than one too few."""
    written = tuple(found.strip("\"'") for found in _REDIRECT.findall(text))
    text = _REDIRECT.sub(" ", text)
    words = _split(text)
    return Words(
        paths=_unique(_paths([*words, text], environ, root)),
        programs=_unique(_programs(text)),
        modules=tuple(after for word, after in pairwise(words) if word == "-m"),
        written=tuple(word for word in written if not word.startswith("/dev/") and not word.isdigit()),
    )


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # an apostrophe in a comment, a here-document
        return text.split()


def _paths(words: Iterable[str], environ: Mapping[str, str], root: str) -> Iterable[str]:
    for word in words:
        for form in (word, _expanded(word, environ, root), _VARIABLE.sub("", word)):
            if 0 < len(form) < 4096 and "\n" not in form and "\0" not in form:
                yield form
            yield from _FRAGMENT.findall(form)


def _expanded(word: str, environ: Mapping[str, str], root: str) -> str:
    """Variables of the caller; a project directory that only the agent will set is the project's root."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return root if name.endswith("PROJECT_DIR") or name == "HOOKLINE_PROJECT" else environ.get(name, "")

    word = _VARIABLE.sub(value, word)
    home = environ.get("HOME", "")
    return os.path.join(home, word[2:]) if home and word.startswith("~/") else word


def _programs(text: str) -> Iterable[str]:
    """The words in command position, as far as they can be told without a shell."""
    for line in text.replace("\\\n", " ").split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&()")
        lexer.whitespace_split = True
        expecting = True
        try:
            for token in lexer:
                if token in _SEPARATORS or token in _PREFIXES:
                    expecting = True
                elif expecting and not re.match(r"\w+=", token):
                    expecting = False
                    if token not in _BUILTINS:
                        yield token
        except ValueError:
            continue


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What was at an absolute path: its signature and digest, or None and "" where nothing was."""

    path: str
    signature: Signature | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The content of a hook at one moment.

    ``files`` are (path, sha256), the path relative to the project where it is in it. ``unpinned`` is what the
    hook also uses and nobody checks: programs on PATH, files elsewhere, imported modules, addresses.
    """

    definition_digest: str
    files: tuple[tuple[str, str], ...] = ()
    unpinned: tuple[str, ...] = ()
    #: Everywhere we looked, to see at a glance whether anything has moved since, or appeared in front.
    looks: tuple[_Look, ...] = ()


def compute_pins(spec: HookSpec, root: str, environ: Mapping[str, str], digests: Digests | None = None) -> Pins:
    """``root`` is the project ("" for the one the hook's file is in); relative words are looked up in it, in the
    hook's own base and next to its file."""
    return _Search(spec, root, environ, digests or Digests()).pins()


def still_valid(pins: Pins, digests: Digests | None = None) -> bool:
    """Whether nothing has changed, by signatures; a file that was only touched is read again to be sure."""
    return all(
        (now := file_signature(look.path)) == look.signature
        or (now is not None and look.digest != "" and look.digest == (digests or Digests()).of(look.path))
        for look in pins.looks
    )


def file_project(file: str) -> str:
    """The project that a configuration file belongs to: its repository, else the folder its own is hidden in."""
    folder = os.path.dirname(os.path.abspath(file))
    hidden = os.path.basename(folder).startswith(".")
    return repository_root(folder) or (os.path.dirname(folder) if hidden else folder)


class _Search:
    """One look at the disk, for one hook."""

    def __init__(self, spec: HookSpec, root: str, environ: Mapping[str, str], digests: Digests) -> None:
        self._spec = spec
        self._root = os.path.abspath(root) if root else file_project(spec.origin.file)
        self._real_root = os.path.realpath(self._root)
        self._environ = environ
        self._digests = digests
        base = spec.action.base if isinstance(spec.action, Command | Function) else ""
        own = os.path.dirname(os.path.abspath(spec.origin.file))
        places = (self._root, base, own, os.path.dirname(own) if os.path.basename(own).startswith(".") else "")
        self._bases = tuple(dict.fromkeys(os.path.join(self._root, place) for place in places if place))
        self._looks: dict[str, _Look] = {}
        self._unpinned: dict[str, None] = {}

    def pins(self) -> Pins:
        self._action()
        for text in _texts(self._spec.extra):
            self._word(text)  # a prompt's file, a script's name: whatever the dialect kept
        files = tuple(sorted((self._shown(look.path), look.digest) for look in self._looks.values() if look.digest))
        return Pins(
            definition_digest=definition_digest(self._spec),
            files=files,
            unpinned=tuple(self._unpinned),
            looks=tuple(self._looks.values()),
        )

    def _action(self) -> None:
        action = self._spec.action
        match action:
            case Command(form="argv"):
                self._words(of_argv(action.argv, self._environ, self._root))
            case Command():
                self._words(of_shell(action.text, self._environ, self._root))
                self._words(of_argv(action.argv, self._environ, self._root))
            case Plugin():
                self._plugin(action.path)
            case AgentRun():
                self._words(of_argv(action.command, self._environ, self._root))
                self._word(action.prompt)
            case Function():
                if not self._module(action.target.partition(":")[0]):
                    self._unpinned[f"module {action.target.partition(':')[0]}"] = None
            case Prompt():
                pass  # the text is in the definition
            case Http():
                self._unpinned[action.url.partition("?")[0]] = None
            case _:
                assert_never(action)

    def _words(self, words: Words) -> None:
        found = {word for word in words.paths if self._word(word)}
        for name in words.modules:
            if not self._module(name):
                self._unpinned[f"module {name}"] = None
        for program in words.programs:
            self._shadows(program)
            if program not in found and not any(
                program.endswith("/" + word) or word.endswith(program) for word in found
            ):
                self._unpinned[program] = None
        for word in words.paths:
            if os.path.isabs(word) and word not in found and file_signature(word) is not None:
                self._unpinned[word] = None
        for word in words.written:
            self._unpinned[f"{word} (written)"] = None

    def _plugin(self, path: str) -> None:
        """A plugin's executable is pinned wherever it is: it stays in memory and hears everything."""
        whole = os.path.join(self._root, os.path.expanduser(path))
        if not self._pin(whole):
            self._looks[whole] = _Look(path=whole)
            self._unpinned[path] = None

    def _word(self, word: str) -> bool:
        """Pin the files of the project that the word names; whether there was one."""
        pinned = [self._pin(path) for path in self._candidates(word) if self._inside(path)]
        return any(pinned)

    def _candidates(self, word: str) -> Iterator[str]:
        if not word or len(word) > 4096 or "\0" in word:
            return
        if os.path.isabs(word):
            yield os.path.normpath(word)
        for base in self._bases:
            # An absolute-looking word may be the rest of one that began with a variable we do not know.
            yield os.path.normpath(os.path.join(base, word.lstrip("/")))

    def _shadows(self, program: str) -> None:
        """A file that appears where a program is looked up first would be run instead of the approved one."""
        if "/" in program:
            for path in self._candidates(program):
                self._looks.setdefault(path, _Look(path=path, signature=file_signature(path)))

    def _inside(self, path: str) -> bool:
        """By its name or by what it leads to: a link out of the project is pinned by its target's content."""
        return _below(path, self._root) or _below(os.path.realpath(path), self._real_root)

    def _pin(self, path: str) -> bool:
        known = self._looks.get(path)
        if known is not None and known.digest:
            return True
        signature = file_signature(path)
        if signature is None:
            return False
        digest = self._digests.of(path)
        if not digest:
            self._unpinned[f"{self._shown(path)} (unreadable)"] = None
        self._looks[path] = _Look(path=path, signature=signature, digest=digest)
        return bool(digest)

    def _module(self, name: str) -> bool:
        """The module's file, and every package on the way to it."""
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return False
        found = False
        for base in self._bases:
            stem = os.path.join(base, *parts)
            for own in (stem + ".py", os.path.join(stem, "__init__.py"), os.path.join(stem, "__main__.py")):
                found |= self._pin(own)
            for depth in range(1, len(parts)):
                self._pin(os.path.join(base, *parts[:depth], "__init__.py"))
        return found

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self._root) if _below(path, self._root) else path


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
