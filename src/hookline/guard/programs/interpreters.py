"""Programs that run code: where it comes from (an option, a file, standard input), and what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from hookline.core._dataclass import dataclass
from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect
from hookline.guard.languages import language_effects
from hookline.guard.options import parse_options
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.programs.text import AWK_RUNS
from hookline.guard.reading import Invocation, Word, cut
from hookline.guard.wrappers import parse, wrapper

_SH = "c i l,login r s v x e u n f h p t a b k m B C D E H P T o: O: ,rcfile: ,init-file: ,norc ,noprofile ,posix ,restricted"


class _Interpreter(NamedTuple):
    options: str
    #: GivenOptions whose value is code; the language of it.
    code: tuple[str, ...] = ("c",)
    language: str = "sh"
    dashes: int = 2


_PYTHON = _Interpreter(
    "c: m: W: X: b B d E h i I O P q s S t u v V x ,check-hash-based-pycs: ,help-all", language="python"
)
_NODE = _Interpreter(
    "e:,eval: p:,print: r:,require: i c,check C: ,input-type: ,import: ,loader: ,inspect? ,experimental-loader: ,env-file: v h",
    ("eval", "print"),
    "js",
)
_PERL = _Interpreter("e: E: n p i? l? a F: I: M: m: w W t T u U v V? x? c d? D: 0? C? s S X", ("e", "E"), "perl")
_RUBY = _Interpreter(
    "e: n p i? l a F: I: r: w W? v x? c C: d 0? E: K: s S T? U X: h ,disable: ,enable:", ("e",), "ruby"
)
_PHP = _Interpreter("r: B: R: E: f: F: d: c: n i l m s v w z: S: t: a e q H", ("r", "B", "R", "E"), "php")
_SHELLS = words("bash sh zsh dash ksh ash mksh rbash yash posh osh busybox-sh rc lksh pdksh tcsh csh")
_TABLE: Final[Mapping[str, _Interpreter]] = MappingProxyType({
    **dict.fromkeys(_SHELLS, _Interpreter(_SH, ())),
    **dict.fromkeys(words("python python2 python3 pypy pypy3 ipython jython micropython"), _PYTHON),
    **dict.fromkeys(words("node nodejs bun tsx ts-node"), _NODE),
    "perl": _PERL, "ruby": _RUBY, "jruby": _RUBY, "php": _PHP,
    "deno": _Interpreter("A,allow-all q r c: ,config:", (), "js"),
    "lua": _Interpreter("e: i l: v E W", ("e",), "lua"), "luajit": _Interpreter("e: i l: v j: O: b:", ("e",), "lua"),
    "rscript": _Interpreter("e: ,vanilla", ("e",), "r"), "r": _Interpreter("e: f:,file: ,vanilla ,slave ,no-save s q", ("e",), "r"),
    "fish": _Interpreter("c:,command: C:,init-command: d: o: i l n p: P", ("command", "init-command"), "sh"),
    "osascript": _Interpreter("e: l: i s:", ("e",), "applescript"),
    "pwsh": _Interpreter("", (), "powershell", 1), **dict.fromkeys(("powershell", "cmd"), _Interpreter("", (), "powershell", 1)),
    "tclsh": _Interpreter("", (), "tcl"), "expect": _Interpreter("c: f: d b i", ("c",), "tcl"), "elixir": _Interpreter("e:,eval: r: S:", ("eval",), "elixir"),
    "julia": _Interpreter("e:,eval: E:,print: L: q i", ("eval", "print"), "julia"), "ghc": _Interpreter("e:", ("e",), "haskell"), "groovy": _Interpreter("e:", ("e",), "groovy"), "scala": _Interpreter("e:", ("e",), "scala"),
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSource:
    """Where an interpreter takes its code from."""

    language: str
    code: tuple[Word, ...] = ()
    script: Word | None = None
    stdin: bool = False
    modules: tuple[Word, ...] = ()


def code_source(invocation: Invocation) -> CodeSource | None:
    """None if this program is no interpreter, or only shows its version."""
    name = re.sub(r"[\d.]+$", "", invocation.name.lower().removesuffix(".exe")) or invocation.name
    kind = _TABLE.get(invocation.name.lower()) or _TABLE.get(name)
    if name in {"source", "."} and len(invocation.argv) > 1:
        return CodeSource(
            language="sh", script=invocation.argv[1], stdin=invocation.argv[1].text in {"/dev/stdin", "-"}
        )
    if name in {"eval", "trap"}:
        return CodeSource(language="sh", code=invocation.argv[1 : 2 if name == "trap" else None])
    if kind is None:
        return _carried_out(invocation, name)
    if kind.language == "powershell":
        return _powershell(invocation)
    words = invocation.argv[1:]
    if name in {"deno", "bun"} and words and words[0].text in {"run", "eval"}:
        rest = tuple(word for word in words[1:] if not word.prefix.startswith("-"))[:1]
        return (
            CodeSource(language="js", script=rest[0] if rest else None, stdin=not rest)
            if words[0].text == "run"
            else CodeSource(language="js", code=rest)
        )
    options = parse_options(words, kind.options, until_operand=True, dashes=kind.dashes)
    if options.informs or (kind.language == "sh" and "n" in options and kind.options == _SH):
        return None
    start = options.last("rcfile", "init-file") if kind.options == _SH else None
    if start is not None:
        return CodeSource(language="sh", script=start)
    if kind.options == _SH and "c" in options:
        return CodeSource(language="sh", code=options.operands[:1])
    code = options.values(*kind.code)
    if code or any(key in options for key in kind.code):
        return CodeSource(language=kind.language, code=code)
    if "m" in options and kind is _PYTHON:
        return CodeSource(language="python", modules=options.values("m"))
    script = (
        options.operands[0] if options.operands and "s" not in (options.given if kind.options == _SH else ()) else None
    )
    if script is not None and script.text in {"-", "/dev/stdin"}:
        script = None
    return CodeSource(language=kind.language, script=script, stdin=script is None)


def _carried_out(invocation: Invocation, name: str) -> CodeSource | None:
    """Programs that hand a text to a shell, or carry out their input: ``parallel`` by itself, ``awk`` if it says so."""
    words = invocation.argv[1:]
    operands = tuple(word for word in words if not word.prefix.startswith("-"))
    if name == "parallel" and not operands:
        return CodeSource(language="sh", stdin=True)
    if name in {"awk", "gawk", "mawk", "nawk"}:
        runs = any(AWK_RUNS.search(word.text) for word in words)
        return CodeSource(language="awk", code=operands[:1], stdin=runs)
    options = wrapper(name)
    if options is None or not options.shell:
        return None
    found = parse(list(words), options)  # ssh host "$(…)"
    return CodeSource(language="sh", code=(*found.given.values(*options.code), *found.rest))


def _powershell(invocation: Invocation) -> CodeSource:
    texts = [word.text.lower() for word in invocation.argv[1:]]
    for index, text in enumerate(texts):
        if re.match(r"-(c|command|e|ec|encodedcommand|enc)$|/[ck]$", text):
            return CodeSource(language="powershell", code=invocation.argv[index + 2 :])
        if re.match(r"-(f|file)$", text) and index + 2 < len(invocation.argv):
            return CodeSource(language="powershell", script=invocation.argv[index + 2])
    rest = [word for word in invocation.argv[1:] if not word.prefix.startswith("-")]
    return CodeSource(language="powershell", script=rest[0] if rest else None, stdin=not rest)


_ENCODED = lazy_pattern(r"(?i)-e(nc(odedcommand)?|c)?$")


def _interpret(call: ProgramCall) -> Iterator[Effect]:
    source = code_source(call.invocation)
    if source is None:
        return
    if (
        source.language == "powershell"
        and any(_ENCODED.match(text) for text in call.texts[:-1])
        and not call.texts[-1].startswith("-")
    ):
        yield call.effect("remote-code", "high", why="the code is encoded, so that nobody can read it")
    if source.language in {"perl", "ruby"} and any(re.match(r"-[pnlaw]*i", text) for text in call.texts):
        for word in parse_options(call.words, _TABLE[call.name].options if call.name in _TABLE else "").operands:
            yield from call.write(word)  # edited in place
    code = list(source.code)
    if source.stdin and call.invocation.stdin is not None:
        code.append(call.invocation.stdin)
    for word in code:
        if source.language == "sh" and call.name != "fish":
            continue  # the reader has read it
        if source.language == "sh":
            yield from call.shell(word)
        elif source.language == "tcl":
            yield from _escape(call)
        elif word.known:
            yield from language_effects(call, source.language, word.text)
        else:
            yield call.effect("unknown", "medium", word.text, why="the code is not known")
    for word in source.modules:
        yield from _module(call, word.text)
    if source.script is not None and source.script.text.rpartition("/")[2] in {"artisan", "manage.py"}:
        at = call.words.index(source.script)
        yield from call.argv((_text_word(source.script.text.rpartition("/")[2]), *call.words[at + 1 :]))


def _module(call: ProgramCall, name: str) -> Iterator[Effect]:
    at = next((index for index, text in enumerate(call.texts) if text == name), 0)
    if name in {"pip", "twine", "poetry", "flit", "hatch", "build", "uv", "hookline"}:
        yield from call.argv((Word((name,), name), *call.words[at + 1 :]))
    elif name in {"http.server", "SimpleHTTPServer"} and not {"127.0.0.1", "localhost", "::1"} & set(call.texts):
        yield call.effect("send", "medium", name, why="the directory can be read over the network")


#: GivenOptions whose value is run by a shell.
_SHELL_OPTIONS: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
    "man": words("-P --pager -H --html"), "rg": words("--pre"), "sort": words("--compress-program"), "split": words("--filter"), "zip": words("-TT --unzip-command"), "tcpdump": words("-z"),
    "fzf": words("--preview"), "entr": words("-s"), "nmap": words("--script"), "bat": words("--pager"), "batcat": words("--pager"), "delta": words("--pager"), "journalctl": words("--pager"), "ctags": words("--filter"), "socksify": words("-c"), "capsh": words("-c"), "nodemon": words("--exec -x"), "mapfile": words("-C"), "readarray": words("-C"),
})  # fmt: skip
_ESCAPES = lazy_pattern(
    r"(?:^|[+:\s'\"(])!\s*([^\n]+)|^\s*(?:shell|system|pipe)\s+([^\n]+)|\bspawn\s+([^\n;]+)|execute(?:-silent)?[(:]([^)]+)|\bsystem\(['\"]([^'\"]+)|shell-command(?:-to-string)?\s+\"([^\"]+)|\bexec\s+([a-z][^\n;\]]+)"
)


def _shell_options(call: ProgramCall) -> Iterator[Effect]:
    names = _SHELL_OPTIONS[call.name]
    for index, word in enumerate(call.words):
        name, equals, _ = word.prefix.partition("=")
        if name in names and equals:
            yield from call.shell(cut(word, len(name) + 1))
        elif word.text in names and index + 1 < len(call.words):
            yield from call.shell(call.words[index + 1])


def _escape(call: ProgramCall) -> Iterator[Effect]:
    """Editors, pagers and debuggers: ``vim -c '!…'``, ``gdb -ex 'shell …'``, ``less +'!…'``, ``expect -c 'spawn …'``."""
    for word in (*call.words, *((call.invocation.stdin,) if call.invocation.stdin else ())):
        for found in _ESCAPES.finditer(word.text) if word.known else ():
            yield from call.shell(_text_word(next(group for group in found.groups() if group)))
        if word.prefix.startswith("("):
            yield from language_effects(call, "lisp", word.text)


def _text_word(text: str) -> Word:
    return Word((text,) if text else (), text)


def _from_list(call: ProgramCall) -> Iterator[Effect]:
    """``xargs sh -c``: what it reads becomes code."""
    texts = call.texts
    holder = next((texts[index + 1] for index, text in enumerate(texts[:-1]) if text == "-I"), "{}")
    for index, text in enumerate(texts):
        if re.sub(r"[\d.]+$", "", text.rpartition("/")[2]) in _TABLE and re.fullmatch(
            r"-\w*[ceEr]", (*texts, "", "")[index + 1]
        ):
            code = [one for one in texts[index + 2 :] if one != "--"][:1]
            if not code or code[0] in {holder, "{}", ":::"}:
                yield call.effect("remote-code", "high", text, why="whatever it reads is run as code")
            elif ":::" in texts:
                for value in texts[texts.index(":::") + 1 :]:
                    yield from call.shell(Word((code[0].replace("{}", value),), code[0]))
            elif call.name == "parallel" and "{}" in code[0]:
                yield from call.shell(Word((code[0].replace("{}", "/"),), code[0]))


def _lines(call: ProgramCall) -> Iterator[Effect]:
    """Programs each of whose operands is a line for a shell."""
    for word in call.words:
        if not word.prefix.startswith("-") and " " in word.text:
            yield from call.shell(word)


_RECIPES = lazy_pattern(r"\$\(shell\s+([^)]*)\)|^\t[@-]*(.+)|^[^#\n=]+:[^\n;=]*;(.+)", re.MULTILINE)


def _make(call: ProgramCall) -> Iterator[Effect]:
    """Rules that stand in the command itself: ``--eval``, and a makefile from standard input."""
    options = call.options("E:,eval: f:,file:,makefile: C:,directory: I: j? k n s B i t q e l? o: W: ,silent")
    given = call.invocation.stdin
    code = [
        *options.values("eval"),
        *((given,) if given and any(w.text in {"-", "/dev/stdin"} for w in options.values("file")) else ()),
    ]
    for word in call.words:
        yield from call.shell(cut(word, 6)) if word.prefix.startswith("SHELL=") and " " in word.text else ()
    for found in (one for word in code for one in _RECIPES.finditer(word.text)):
        yield from call.shell(_text_word(next(group for group in found.groups() if group)))


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType(
    {
        **dict.fromkeys(_SHELL_OPTIONS, _shell_options),
        **dict.fromkeys(words("vim vi nvim ex view emacs less more most gdb lldb ftp telnet ed fzf"), _escape),
        **dict.fromkeys(_TABLE, _interpret),
        "xargs": _from_list,
        "make": _make,
        **dict.fromkeys(("concurrently", "hyperfine"), _lines),
        "gmake": _make,
        "parallel": _from_list,
    }
)
