"""What a Python program does, by its syntax tree: calls that delete, write, start programs or send."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import ProgramCall
from hookline.guard.effects import Effect
from hookline.guard.paths import expand_home
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.programs.deletion import deletion
from hookline.guard.programs.files import moving, permission_change
from hookline.guard.reading import UNKNOWN, Glob, Word
from hookline.guard.values import globs

_UNKNOWN: Final = Word((UNKNOWN,), "…")
_TURNS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {"lower": str.lower, "upper": str.upper, "strip": str.strip, "decode": str, "encode": str}
)


def _turned(word: Word, turn: Callable[[str], str]) -> Word:
    return Word((turn(word.text),), word.source) if word.known and word.text else word


def python_effects(call: ProgramCall, code: str) -> Iterator[Effect] | None:
    """None if it is no Python of this version."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _Python(call).effects(tree)


#: module function -> what happens to its first argument.
_CALLS: Final = {
    **dict.fromkeys(words("os.remove os.unlink os.rmdir os.removedirs pathlib.unlink pathlib.rmdir"), "delete"),
    **dict.fromkeys(("shutil.rmtree",), "tree"),
    **dict.fromkeys(words("os.rename os.replace shutil.move os.renames pathlib.rename pathlib.replace"), "move"),
    **dict.fromkeys(words("os.chmod os.chown os.lchown pathlib.chmod shutil.chown"), "mode"),
    **dict.fromkeys(words("os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput asyncio.create_subprocess_shell"), "shell"),
    **dict.fromkeys(words("subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen pty.spawn"), "process"),
    **dict.fromkeys(words("os.execv os.execvp os.execve os.execvpe os.execl os.execlp os.spawnv os.spawnlp os.posix_spawn asyncio.create_subprocess_exec"), "exec"),
    **dict.fromkeys(("pathlib.write_text", "pathlib.write_bytes", "os.truncate"), "write"),
    **dict.fromkeys(("pathlib.read_text", "pathlib.read_bytes"), "read"),
    **dict.fromkeys(words("requests.post requests.put requests.patch httpx.post httpx.put urllib.request.urlopen socket.create_connection"), "send"),
    **dict.fromkeys(words("exec eval compile __import__"), "code"),
    **dict.fromkeys(words("open io.open pathlib.open os.open"), "open"),
    **dict.fromkeys(words("os.dup2 pty.fork"), "dup2"),
    **dict.fromkeys(words("os.fork os.forkpty"), "fork"),
    **dict.fromkeys(words("urllib.request.urlretrieve urlretrieve wget.download"), "fetch"),
    **dict.fromkeys(("os.kill", "os.killpg"), "kill"),
    **dict.fromkeys(words("shutil.copy shutil.copyfile shutil.copy2 shutil.copytree"), "copy"),
}  # fmt: skip


_STARTERS: Final = frozenset(name for name, action in _CALLS.items() if action in {"shell", "process", "exec", "dup2"})
_FETCHERS: Final = words("urllib.request.urlopen urllib.request.urlretrieve requests.get httpx.get wget.download")


_ANYTHING: Final = ast.parse("glob.glob('*')", mode="eval").body


class _Python:
    """One walk over a program: names of modules, values of variables that are plainly set, and calls."""

    def __init__(self, call: ProgramCall) -> None:
        self._call = call
        self._names: dict[str, str] = {name: name for name in ("os", "shutil", "subprocess", "pathlib")}
        self._values: dict[str, ast.expr] = {}
        self._endless = False

    def effects(self, tree: ast.Module) -> Iterator[Effect]:
        sends, secrets = False, False
        for node in ast.walk(tree):
            self._learn(node)
            self._endless = self._endless or (isinstance(node, ast.While) and isinstance(node.test, ast.Constant))
        names = {self._dotted(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        if names & {"socket.socket", "socket.create_connection"} and names & _STARTERS:
            yield self._call.effect("remote-code", "critical", why="another machine gets a shell here")
        if names & _FETCHERS and names & _STARTERS:
            yield self._call.effect("remote-code", "medium", why="it fetches something, and starts programs")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                for effect in self._called(node):
                    secrets = secrets or effect.kind == "secret"
                    sends = sends or effect.kind == "send"
                    secrets = secrets or (effect.kind == "send" and "os.environ" in ast.unparse(node))
                    yield effect
        if sends and secrets:
            yield self._call.effect("send", "critical", why="a secret is read and data are sent in one program")

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            self._names.update(
                {
                    (one.asname or one.name.partition(".")[0]): (one.name if one.asname else one.name.partition(".")[0])
                    for one in node.names
                }
            )
        elif isinstance(node, ast.ImportFrom) and node.module:
            self._names.update({(one.asname or one.name): f"{node.module}.{one.name}" for one in node.names})
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            elements = node.iter.elts if isinstance(node.iter, (ast.List, ast.Tuple)) else [node.iter]
            self._values[node.target.id] = elements[0] if elements else node.iter
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Tuple):
            self._walks(node.target, node.iter)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._names.pop(node.targets[0].id, None)
            self._values[node.targets[0].id] = node.value

    def _walks(self, target: ast.Tuple, iterated: ast.expr) -> None:
        """``for folder, _, names in os.walk(root)``: the folder, and anything in it."""
        if isinstance(iterated, ast.Call) and iterated.args and self._dotted(iterated.func) in {"os.walk", "os.fwalk"}:
            names = [one.id for one in target.elts if isinstance(one, ast.Name)]
            self._values.update(dict.fromkeys(names, _ANYTHING), **{names[0]: iterated.args[0]} if names else {})

    def _dotted(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return self._names.get(name, "" if name in {"os", "shutil", "subprocess", "pathlib"} else name)
            case ast.Attribute(value=inner, attr=attr):
                if self._path(inner) is not None:
                    return "pathlib." + attr
                before = self._dotted(inner)
                return f"{before}.{attr}" if before else ""
            case ast.Call(func=ast.Name(id="__import__") | ast.Attribute(attr="import_module"), args=[name, *_]):
                return self._spelled(name)
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, attr, *_]):
                return f"{self._dotted(owner)}.{self._spelled(attr)}"
            case ast.Subscript(value=ast.Attribute(value=owner, attr="__dict__"), slice=attr):
                return f"{self._dotted(owner)}.{self._spelled(attr)}"
            case ast.Subscript(value=ast.Call(func=ast.Name(id="vars"), args=[owner]), slice=attr):
                return f"{self._dotted(owner)}.{self._spelled(attr)}"
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=name):
                return self._spelled(name)
            case _:
                return ""

    def _spelled(self, node: ast.expr) -> str:
        """A name that is put together from parts; ``?`` if that cannot be done here."""
        word = self._text(node)
        return word.text if word.known else "?"

    def _path(self, node: ast.expr, depth: int = 0) -> Word | None:
        """The path in ``Path("…")``, in a variable that holds one, and in ``.parent``, ``/`` and ``with_name`` of one."""
        if depth > 8:
            return None
        match node:
            case ast.Name(id=name) if name in self._values:
                return self._path(self._values[name], depth + 1)
            case ast.Call(func=function, args=args) if isinstance(function, (ast.Name, ast.Attribute)):
                last = function.id if isinstance(function, ast.Name) else function.attr
                if last in {"Path", "PurePath", "PosixPath"}:
                    return self._text(args[0], depth + 1) if args else Word((".",), ".")
                if last in {"expanduser", "resolve", "absolute"} and isinstance(function, ast.Attribute):
                    inner = self._path(function.value, depth + 1)
                    return inner if inner is None or last != "expanduser" else self._expanded(inner)
                if last in {"iterdir", "glob", "rglob"} and isinstance(function, ast.Attribute):
                    folder = self._path(function.value, depth + 1)
                    return None if folder is None else Word((*folder.pieces, "/", Glob("*")), folder.source)
                if last == "home":
                    return Word((self._call.scene.places.home,), "~")
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                before, after = self._path(left, depth + 1), self._text(right, depth + 1)
                return None if before is None else Word((*before.pieces, "/", *after.pieces), before.source)
            case _:
                pass
        return None

    def _text(self, node: ast.expr, depth: int = 0) -> Word:
        if depth > 8:
            return _UNKNOWN
        match node:
            case ast.Constant(value=str() as text):
                return Word((text,) if text else (), text)
            case ast.Subscript(value=inner, slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp())):
                return _turned(self._text(inner, depth + 1), lambda text: text[::-1])
            case ast.Call(func=ast.Attribute(value=inner, attr=attr), args=[]) if attr in _TURNS:
                return _turned(self._text(inner, depth + 1), _TURNS[attr])
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as glue), attr="join"), args=[values]):
                return self._glued(glue, values, depth)
            case ast.Call(func=ast.Name(id="chr"), args=[ast.Constant(value=int() as code)]) if 0 < code < 0x110000:
                return Word((chr(code),), "…")
            case ast.Name(id=name) if name in self._values:
                return self._text(self._values[name], depth + 1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return Word((*self._text(left, depth + 1).pieces, *self._text(right, depth + 1).pieces), "…")
            case ast.JoinedStr(values=values):
                return Word(tuple(piece for value in values for piece in self._text(value, depth + 1).pieces), "…")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="glob"), attr="glob" | "iglob"), args=[inner, *_]):
                found = self._text(inner, depth + 1)
                return Word(tuple(globs(found.text)), "…") if found.known else found
            case ast.Call(func=ast.Attribute(attr="expanduser"), args=[inner, *_]):
                return self._expanded(self._text(inner, depth + 1))
            case ast.Call(func=ast.Attribute(attr="join"), args=args) if len(args) > 1:
                pieces = [piece for one in args for piece in ("/", *self._text(one, depth + 1).pieces)][1:]
                return Word(tuple(pieces), "…")
            case _:
                return self._path(node, depth + 1) or _UNKNOWN

    def _glued(self, glue: str, values: ast.expr, depth: int) -> Word:
        if not isinstance(values, (ast.List, ast.Tuple)):
            return _UNKNOWN
        parts = [piece for one in values.elts for piece in (glue, *self._text(one, depth + 1).pieces)][1:]
        return Word(tuple(part for part in parts if part != ""), "…")

    def _expanded(self, word: Word) -> Word:
        text = expand_home(word.prefix, self._call.scene.places.home)
        return Word((text,), word.source) if word.known else word

    def _called(self, node: ast.Call) -> Iterator[Effect]:
        name = self._dotted(node.func)
        action = _CALLS.get(name)
        if action is None:
            if name.endswith(".?") and name.partition(".")[0] in {"os", "subprocess", "shutil", "builtins", "pty"}:
                yield self._call.effect("unknown", "medium", why="which function it calls is hidden")
            return
        own = isinstance(node.func, ast.Attribute) and name.startswith("pathlib.")
        target = self._path(node.func.value) if own and isinstance(node.func, ast.Attribute) else None
        first = target if target is not None else self._text(node.args[0]) if node.args else _UNKNOWN
        yield from self._acted(action, first, node, own=own)

    def _acted(self, action: str, first: Word, node: ast.Call, *, own: bool) -> Iterator[Effect]:
        call = self._call
        match action:
            case "delete" | "tree" if first.known:
                yield from deletion(call, first, tree=action == "tree")
            case "delete" | "tree":
                yield call.effect("delete", "medium", where="unknown", why="what it deletes is not known")
            case "move" if first.known:
                yield from moving(call, first, None)
            case "mode" if first.known:
                yield from permission_change(call, first, "", tree=False)
            case "shell":
                yield from self._shell(first, node)
            case "process":
                yield from self._process(first, node)
            case "exec":
                yield from self._argv(node.args[1:] if node.args else [])
            case "write" if first.known:
                yield from call.write(first)
            case "read" if first.known:
                yield from call.read(first)
            case "copy" if first.known:
                yield from call.read(first)
            case "open":
                yield from self._opened(first, node, own=own)
            case "send":
                yield call.effect("send", "low", first.text)
            case "code":
                yield from self._code(node)
            case "dup2":
                yield call.effect("remote-code", "high", why="a shell may be connected to another machine")
            case "fork" if self._endless:
                yield call.effect("exhaust", "critical", why="it starts processes without end")
            case "fetch" if len(node.args) > 1:
                yield from call.write(self._text(node.args[1]))
            case "kill":
                yield call.effect("process", "medium", why="it kills processes")
            case _:
                pass

    def _shell(self, first: Word, node: ast.Call) -> Iterator[Effect]:
        if first.known:
            yield from self._call.shell(first)
        elif _decodes(node):
            yield self._call.effect("remote-code", "high", why="it runs hidden or fetched text as a command")
        else:
            yield self._call.effect("unknown", "medium", why="the command that it runs is not known")

    def _process(self, first: Word, node: ast.Call) -> Iterator[Effect]:
        shell = any(one.arg == "shell" and getattr(one.value, "value", True) for one in node.keywords)
        if shell:
            yield from self._shell(first, node)
        elif node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
            yield from self._argv(node.args[0].elts)
        elif first.known:
            yield from self._call.shell(first)

    def _argv(self, nodes: list[ast.expr]) -> Iterator[Effect]:
        if len(nodes) == 1 and isinstance(nodes[0], (ast.List, ast.Tuple)):
            nodes = nodes[0].elts
        words = [self._text(one) for one in nodes]
        if words and all(word.known for word in words):
            from shlex import quote

            yield from self._call.shell(Word((" ".join(quote(word.text) for word in words),), words[0].source))
        elif words:
            yield from self._call.argv(words)

    def _opened(self, first: Word, node: ast.Call, *, own: bool) -> Iterator[Effect]:
        modes = [one.value for one in node.keywords if one.arg == "mode"] or node.args[0 if own else 1 :][:1]
        mode = modes[0].value if modes and isinstance(modes[0], ast.Constant) else "r"
        if not first.known:
            return
        if isinstance(mode, str) and set(mode) & set("wax+"):
            yield from self._call.write(first, append="a" in mode)
        else:
            yield from self._call.read(first)

    def _code(self, node: ast.Call) -> Iterator[Effect]:
        if _decodes(node):
            yield self._call.effect("remote-code", "high", why="it runs hidden or fetched code")
            return
        if not (node.args and isinstance(node.func, ast.Name) and node.func.id in {"exec", "eval"}):
            return
        first = node.args[0]
        if isinstance(first, ast.Call) and first.args and self._dotted(first.func) == "compile":
            first = first.args[0]
        code = self._text(first)
        if code.known:
            yield from python_effects(self._call, code.text) or ()
        else:
            yield self._call.effect("unknown", "medium", why="the code that it runs is not known")


_DECODERS = lazy_pattern(
    r"b(64|32|16|85)decode|a85decode|fromhex|unhexlify|decompress|urlopen|requests|urlretrieve|httpx|marshal|codecs|rot_?13|\.recv\("
)


def _decodes(node: ast.Call) -> bool:
    return bool(_DECODERS.search(ast.unparse(node)))
