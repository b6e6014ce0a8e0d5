"""Words in the text of a hook or of a script that may name files: pure, and only used when something is approved.

No parser of any language, so it rather finds a word too many than one too few.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from hookline.core._dataclass import dataclass
from hookline.core.code_variables import CODE_VARIABLES
from hookline.core.lazy_pattern import lazy_pattern

#: What a path looks like inside anything else: ``--config=./a.toml``, ``$(pwd)/hooks/x.sh``, ``. ./env.sh;``
_FRAGMENT = lazy_pattern(r"[\w.~+@%,/-]{1,4096}")
VARIABLE = lazy_pattern(r"\$(?:\{([A-Za-z_]\w*)[^}]*\}|([A-Za-z_]\w*))")
#: Where output goes is not what is run, and would make a hook that keeps a log untrust itself.
_REDIRECT = lazy_pattern(r"""[0-9&]?>{1,2}[|&]?[ \t]*(\"[^\"\n]*\"|'[^'\n]*'|[^\s;|&<>()]+)""")
_WRITES = lazy_pattern(
    r"""\b(?:tee(?:\s+-a)?|touch|mkdir(?:\s+-p)?|rm(?:\s+-\w+)?)\s+["']?([^\s"';|&<>()]+)"""
    r"""|["']([^"'\n]+)["']\s*,\s*(?:mode\s*=\s*)?["'][wax]|["']([^"'\n]+)["']\)?\.(?:write_|open\(["'][wax])"""
    r"""|(?:write|append)\w*\(\s*["']([^"'\n]+)["']"""
)
_QUOTED = r"""\"[^\"\n]*\"|'[^'\n]*'"""
_WORD = rf"((?:{_QUOTED}|[^\s;|&<>()`\"'])+)"
_OPTIONS = r"(?:-[^\s;|&<>()]*\s+)*"
#: Programs that run or read the file that follows as code.
_INTERPRETERS = r"(?:sh|bash|dash|zsh|ksh|fish|python[\d.]*|node(?:js)?|deno|bun|tsx|ts-node|ruby|perl|php|lua[\d.]*|Rscript|awk|jq)"
_EXECUTED = lazy_pattern(
    rf"(?:^|[\s;&|(){{`\"'!])(\.|source|run-parts|(?:[^\s;|&<>()`\"'$=]*/)?{_INTERPRETERS}(?:\s+run)?)\s+({_OPTIONS}){_WORD}",
    re.MULTILINE,
)
#: Options after which comes source text, or the name of a module.
_SHELL_TEXT, _PYTHON_TEXT = lazy_pattern(r"-\w*c\b"), lazy_pattern(r"-\w*[cm]\b")
_OTHER_TEXT = lazy_pattern(r"-\w*[ceEpm]\b|--(?:eval|print)\b")
_LOOP = lazy_pattern(rf"\bfor\s+\w+\s+in\s+((?:{_QUOTED}|[^\n;&|])+)|\bcat\s+([^\n;&|<>]+)|<\s*([^\s;&|<>]+)")
_READ = lazy_pattern(rf"(?:<|\bcat|\s-f|--file[= ]|\bopen\(|\bPath\(|\b[rR]ead\w*\(|\bload\w*\()\s*{_WORD}")
_FOLDERS = lazy_pattern(rf"(?:\b(?:cd|pushd)|\s-C|--(?:cwd|prefix|directory|dir)[= ])\s*(?:--\s+)?{_WORD}")
_PATH_LINES = lazy_pattern(r"""^.*(?:sys\.path|use\s+lib|\$LOAD_PATH|\$:).*$""", re.MULTILINE)
#: Programs and source files that a script in another language starts or evaluates.
_CALLED = lazy_pattern(
    r"""(?:subprocess\.\w+|os\.(?:system|popen|exec\w+|spawn\w+|posix_spawn\w*)|\bexec\w*|\bspawn\w*|\bsystem|\beval|\bcompile)"""
    r"""\s*\(\s*(?:os\.P_\w+,\s*)?\[?\s*(?:(?:open|Path|readFileSync|fs\.readFileSync)\s*\(\s*)?["']([^"'\n]+)["']"""
)
#: ``LIB="$DIR/lib"`` in a shell script, and what a command prints there.
_ASSIGNED = lazy_pattern(
    rf"(?:^|[;&{{]|\b(?:export|local|readonly))[ \t]*([A-Za-z_]\w*)=({_QUOTED}|[^\s;|&<>()`\"']+)", re.MULTILINE
)
_PRINTED = lazy_pattern(r"\$\([^()]*\)|`[^`]*`")
_IN_QUOTES = lazy_pattern(r"""["'`]([^"'`\n]{1,4096})["'`]""")
#: ``join(__dirname, "lib", "x.js")`` and ``Path(__file__).parent / "lib" / "x.py"``.
_IN_PIECES = lazy_pattern(r"""["']([^"'\n]+)["']((?:\s*[,/]\s*["'][^"'\n]+["'])+)""")

_PYTHON = lazy_pattern(r"^\s*(?:from\s+([.\w]+)\s+import\s+\(?([\w, \t]*)|import\s+([\w., \t]+))", re.MULTILINE)
_BY_NAME = lazy_pattern(r"""(?:import_module|__import__|run_module)\(\s*["']([.\w]+)["']""")
_SCRIPT = lazy_pattern(
    r"""(?:\brequire(?:_relative|\.resolve)?\s*\(?|\bfrom|\bimport\s*\(?|\bload|\bdofile\s*\(?)\s*["']([^"'\n]+)["']"""
)
_PERL = lazy_pattern(r"^\s*(?:use|require)\s+([A-Z]\w*(?:::\w+)*)", re.MULTILINE)

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

#: Programs whose instructions are in a file that the line does not name.
IMPLIED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "make": ("GNUmakefile", "makefile", "Makefile"), "just": ("justfile", "Justfile", ".justfile"),
        "npm": ("package.json",), "pnpm": ("package.json",), "yarn": ("package.json",), "bun": ("package.json",),
        "task": ("Taskfile.yml", "Taskfile.yaml"), "rake": ("Rakefile",), "tox": ("tox.ini",), "nox": ("noxfile.py",),
        "pre-commit": (".pre-commit-config.yaml",), "cargo": ("Cargo.toml",), "git": (".git/config",),
    }
)  # fmt: skip


#: Node's own, which no package takes the place of.
NODE_MODULES = frozenset({
    "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
    "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net", "os",
    "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream", "string_decoder", "sys",
    "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib",
})  # fmt: skip
#: Interpreters that load code which a file of the project's root names, besides what they are given.
PRELOADS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bun": ("bunfig.toml",), "deno": ("deno.json", "deno.jsonc"), "Rscript": (".Rprofile", ".Renviron"),
        "tsx": ("tsconfig.json",), "ts-node": ("tsconfig.json",),
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """``paths`` may name files; of these, ``executed`` are read as code, ``read`` as data. ``programs`` are what is
    called by name, ``folders`` where words are looked up too, ``written`` what is only written."""

    paths: tuple[str, ...] = ()
    executed: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    #: Python modules, as they are imported there; other modules, as paths without a suffix.
    modules: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


def of_shell(text: str, environ: Mapping[str, str], root: str) -> Words:
    """Shell source, or a line of words."""
    written = _written(text)
    text = _REDIRECT.sub(" ", text)
    words = _split(text)

    def expanded(found: Iterable[str]) -> tuple[str, ...]:
        return _unique(form for word in found for form in _forms(word, environ, root))

    return Words(
        paths=expanded([*words, text]),
        executed=expanded((*_executed(text), *_executed(_with_assigned(text)), *_paths_run(text))),
        read=expanded(_READ.findall(text)),
        programs=_unique(_programs(text)),
        modules=_unique((*_modules(words), *(name for code in words for name in _python_imports(code)))),
        folders=expanded((*_FOLDERS.findall(text), *_loaded_from(text))),
        written=tuple(word for word in written if not word.startswith("/dev/") and not word.isdigit()),
    )


def of_argv(argv: Sequence[str], environ: Mapping[str, str], root: str) -> Words:
    """A program and its arguments; an argument may itself be shell source (``bash -c``)."""
    found = of_shell(shlex.join(argv), environ, root)
    inner = [of_shell(word, environ, root) for word in argv[1:] if re.search(r"[\s;]", word)]
    every = (found, *inner)
    return Words(
        paths=_unique(path for one in every for path in one.paths),
        executed=_unique((*argv[:1], *(word for one in every for word in one.executed))),
        read=_unique(word for one in inner for word in one.read),
        programs=tuple(argv[:1]),
        modules=_unique(name for one in every for name in one.modules),
        folders=_unique(name for one in every for name in one.folders),
        written=_unique(name for one in inner for name in one.written),
    )


def of_script(text: str, *, shell: bool = False) -> Words:
    """The source of a program in any language; a ``shell``'s words are understood a little better."""
    pieces = [
        "/".join((first, *_IN_QUOTES.findall(rest))) for first, rest in _IN_PIECES.findall(text)
    ]  # fmt: skip
    quoted = _IN_QUOTES.findall(text)
    plain = VARIABLE.sub("", _REDIRECT.sub(" ", text))
    named = plain
    run = [*_executed(plain), *(word.split()[0] for word in _CALLED.findall(text) if word.strip())]
    if shell:
        assigned = _with_assigned(_REDIRECT.sub(" ", text))
        named += assigned
        run += [*_executed(assigned), *_paths_run(plain), *_paths_run(assigned)]
    return Words(
        paths=_unique((*pieces, *quoted, *(word for word in _FRAGMENT.findall(named) if "." in word or "/" in word))),
        executed=_unique(form for word in run for form in _plain_forms(word)),
        read=_unique(form for word in _READ.findall(plain) for form in _plain_forms(word)),
        modules=_unique((*_python_imports(text), *_modules(plain.split()))),
        required=_unique((*_SCRIPT.findall(text), *(name.replace("::", "/") for name in _PERL.findall(text)))),
        folders=_unique(
            form
            for word in (*_FOLDERS.findall(plain), *(w for line in _PATH_LINES.findall(text) for w in _IN_QUOTES.findall(line)))
            for form in _plain_forms(word)
        ),
        written=_written(text),
    )  # fmt: skip


def _executed(text: str) -> Iterator[str]:
    """What an interpreter is given, what is sourced, and the patterns of files that are gone through."""
    for program, options, word in _EXECUTED.findall(text):
        shell = program in {".", "source", "run-parts"} or os.path.basename(program).endswith("sh")
        python = os.path.basename(program).startswith("python")
        if not (_SHELL_TEXT if shell else _PYTHON_TEXT if python else _OTHER_TEXT).search(options):
            yield word
    for groups in _LOOP.findall(text):
        yield from (word for word in " ".join(groups).split() if "/" in word or has_wildcard(word))


def _paths_run(text: str) -> Iterator[str]:
    return (word for word in _programs(text) if "/" in word)


def _with_assigned(text: str) -> str:
    """With the variables that the text itself sets; nothing in the place of others, and of what commands print."""
    for _ in range(3):  # one in another
        text = _PRINTED.sub("", text)
    values = {name: _unquoted(value) for name, value in _ASSIGNED.findall(text)}
    for _ in range(3):
        text = VARIABLE.sub(lambda found: values.get(found[1] or found[2], ""), text)
    return text


def has_wildcard(word: str) -> bool:
    return any(character in word for character in "*?[")


def _written(text: str) -> tuple[str, ...]:
    found = [name for word in _REDIRECT.findall(text) if (name := word.strip("\"'"))]  # a quoted ">" writes nothing
    return _unique((*found, *(word for groups in _WRITES.findall(text) for word in groups if word)))


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # an apostrophe in a comment, a here-document
        return text.split()


def _forms(word: str, environ: Mapping[str, str], root: str) -> Iterator[str]:
    """The word as it is, with its variables, without them, and every path that is part of it."""
    word = _unquoted(word)
    for form in (word, expand(word, environ, root), VARIABLE.sub("", word)):
        yield from _plain_forms(form)


def _plain_forms(word: str) -> Iterator[str]:
    word = _unquoted(word)
    if 0 < len(word) < 4096 and "\n" not in word and "\0" not in word:
        yield word
    for part in _FRAGMENT.findall(word):
        yield part
        if re.match(r"-[A-Za-z]..", part):  # -Ilib, -r./x
            yield part[2:]
        yield from (one for one in part.split(",") if one and one != part)


def _unquoted(word: str) -> str:
    return re.sub(r"""["']""", "", word) if word[:1] in "\"'" or "'" in word or '"' in word else word


def expand(word: str, environ: Mapping[str, str], root: str) -> str:
    """Variables of the caller; a project directory that only the agent will set is the project's root."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return root if is_project_variable(name) else environ.get(name, "")

    word = VARIABLE.sub(value, word)
    home = environ.get("HOME", "") if word.startswith("~/") else ""
    return f"{home}/{word[2:]}" if home else word


def is_project_variable(name: str) -> bool:
    return name.endswith("PROJECT_DIR") or name == "HOOKLINE_PROJECT"


def _modules(words: Sequence[str]) -> Iterator[str]:
    """``-m foo`` and ``-mfoo``."""
    for number, word in enumerate(words):
        if word == "-m" and number + 1 < len(words):
            yield words[number + 1]
        elif re.fullmatch(r"-m[A-Za-z_][\w.]*", word):
            yield word[2:]


def _python_imports(text: str) -> Iterator[str]:
    """Dotted names; ``from a import b`` may mean the module a.b as well."""
    for module, names, plain in _PYTHON.findall(text):
        if module:
            yield module
            dot = "" if module.endswith(".") else "."
            yield from (f"{module}{dot}{name.split()[0]}" for name in names.split(",") if name.strip())
        yield from (name.split()[0] for name in plain.split(",") if name.strip())
    yield from _BY_NAME.findall(text)
    for line in text.split(";")[1:]:  # python3 -c "x; import y"
        yield from (
            name for found in _PYTHON.findall(line) for name in (found[0], *found[2].split(",")) if name.strip()
        )


def _loaded_from(text: str) -> Iterator[str]:
    """``PYTHONPATH=lib:more`` in front of a command."""
    for name, value in re.findall(r"\b([A-Z][A-Z0-9_]+)=([^\s;|&]+)", text):
        if name in CODE_VARIABLES or name == "PATH":
            yield from _unquoted(value).split(":")


def _programs(text: str) -> Iterator[str]:
    """The words in command position, as far as they can be recognized without a shell."""
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
