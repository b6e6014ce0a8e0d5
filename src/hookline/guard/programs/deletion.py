"""Programs that delete: one file, all below a directory, whatever a search finds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from types import MappingProxyType
from typing import Final

from hookline.core._dataclass import replace
from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.paths import JudgedPath
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.reading import Word
from hookline.guard.sensitive import own_path, repository_part, write_kind

_RM = "rR,recursive f,force i I ,interactive? v,verbose d,dir ,one-file-system ,no-preserve-root ,preserve-root? P W x"
_FINDERS = words("find gfind fd fdfind locate mlocate")
_CACHE_NAMES: Final = r"/(\.cache|node_modules|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.gradle|\.npm|\.nuget|target|dist|build|\.next|\.nuxt|\.venv|venv|DerivedData|Caches|\.Trash|coverage|\.turbo|\.parcel-cache|\.m2/repository|\.cargo/(registry|git)|go/pkg|\.rustup/toolchains|\.(pyenv|nvm|rbenv)/versions|virtualenvs|Trash)(/|$)"
#: What is in Downloads can be fetched again.
_CACHES: Final = lazy_pattern(_CACHE_NAMES + r"|/Downloads/[^/*]+")
_MADE: Final = lazy_pattern(
    _CACHE_NAMES + r"|/\*\.(py[co]|o|obj|class|gc(da|no|ov)|tsbuildinfo|orig|rej|sw[po])$|/\.DS_Store$"
)
#: ``rm`` skips these, wherever they are.
_DOTS = lazy_pattern(r"(^|/)\.\.?/*$")
_TRASH = "move it away first, or use a trash program such as gio trash"


def _rm(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_RM)
    if options.informs:
        return
    tree, force = "recursive" in options, "force" in options
    found = _finds(call, options.operands)
    for word in options.operands:
        if not (found and not word.known):
            for one in deletion(call, word, tree=tree, force=force):
                harmless = one.where == "project" and one.harm == "high" and _DOTS.search(word.text)
                yield replace(one, harm="medium", why="rm itself refuses to delete . and ..") if harmless else one
    if found:
        yield _listed(call, options.operands, grave=force and (tree or found == "searched"))
    elif tree and force and not options.operands and _upstream(call):
        why, safer = "what it deletes is not named here", "name the files"
        yield call.effect("delete", "high", where="unknown", why=why, safer=safer)


def _finds(call: ProgramCall, operands: tuple[Word, ...]) -> str:
    """Who names the files: "searched" by find and its like, "listed" by another program, "" if they stand here."""
    listed = call.invocation.more_arguments or any(not word.known and word.sources for word in operands)
    if not listed or not {"xargs", "parallel", "find", "gfind", "fd", "fdfind"} & set(call.invocation.wrappers):
        return ""
    return "searched" if _upstream(call) & _FINDERS else "listed"


def _listed(call: ProgramCall, operands: tuple[Word, ...], *, grave: bool) -> Effect:
    """Another program says which files lose their content."""
    wide = any(word.prefix and call.place(word).outside for word in operands if not word.known)
    harm: Harm = "high" if wide or (grave and not _narrow(call, operands)) else "low"
    why, safer = "another program says which files", "print the list first, then delete"
    return call.effect("delete", harm, where="unknown", why=why, safer=safer)


def search_deletion(call: ProgramCall, operands: tuple[Word, ...]) -> Iterator[Effect]:
    """``find … | xargs shred``: as bad as what a search names for ``rm -f``."""
    if found := _finds(call, operands):
        yield _listed(call, operands, grave=found == "searched")


def _narrow(call: ProgramCall, operands: tuple[Word, ...]) -> bool:
    """Every search that names the files looks in the project alone, and for what can be made again."""
    named = [*call.invocation.upstream, *(one for word in operands for one in word.sources)]
    searches = [one.argv[1:] for one in named if one.name in {"find", "gfind"}]
    return bool(searches) and all(
        _made_again(words)
        and not any(word.text in {"-o", "-or", "!", "-not"} for word in words)
        and not any(call.place(word).outside for word in takewhile(lambda word: not word.text.startswith("-"), words))
        for words in searches
    )


def _made_again(words: Sequence[Word]) -> bool:
    return any(before.text in {"-name", "-iname"} and _MADE.search("/" + word.text) for before, word in pairwise(words))


def _upstream(call: ProgramCall) -> frozenset[str]:
    return frozenset(one.name for one in call.invocation.upstream) | frozenset(call.invocation.wrappers)


def deletion(call: ProgramCall, word: Word, *, tree: bool, force: bool = True) -> Iterator[Effect]:
    """Deleting one file, or all below one directory."""
    if word.text == "{}":
        return
    place = call.place(word)
    harm, why = _loss(place, word, tree=tree, force=force)
    kind = "delete"
    path = place.path or word.text
    special = write_kind(path)
    if own_path(path) or (own_path(path + "/x") and tree):
        kind, harm, why = "guard", "critical", "it belongs to a guard of this machine"
    elif repository_part(path) and (tree or word.globs or "/objects" in path or "/refs" in path):
        kind, harm, why = "git-history", "critical" if path.endswith(".git") else "high", "git keeps its history there"
    elif special is not None and special[0] == "guard":
        kind, harm, why = special
    elif "/.git/" in f"/{path}" and not re.search(r"\.lock$|/hooks/", path) and place.name != "temp":
        kind, harm, why = "git-history", "medium", "the repository depends on it"
    elif harm == "low" and any(f"${name}" in word.source.replace("{", "") for name, _ in call.invocation.environment):
        harm, why = "medium", "what is set in front of a program does not count for its own words"
    yield call.effect(
        kind, harm, word.text, where=place.name, why=why, safer=_TRASH if harm in {"medium", "high"} else ""
    )


def _loss(place: JudgedPath, word: Word, *, tree: bool, force: bool) -> tuple[Harm, str]:
    if place.name == "unknown":
        return ("high" if tree and force else "medium" if tree else "low"), "what it deletes is not known"
    if place.whole and (tree or word.globs):
        return _whole(place)
    if place.name == "temp" or (_CACHES.search(place.path) and place.name in {"project", "home"}):
        return "low", ""
    if (not tree and place.whole and (place.name != "system" or place.path.count("/") == 1)) or (
        re.search(r"[*?\[]", word.text) and not word.globs
    ):
        return "low", ""  # a directory stays; and nothing that matters is called "*"
    if place.name in {"system", "root"}:
        return ("critical" if tree else "high"), "the system depends on it"
    if place.name == "device":
        return ("critical" if tree else "medium"), "it is a device"
    if place.name == "project" or not tree:
        return "low", ""
    if not force and place.name == "outside":
        return "low", ""
    where = "" if place.name == "outside" else f" ({place.name})"
    return ("high" if force else "medium"), f"it is outside the project{where}"


def _whole(place: JudgedPath) -> tuple[Harm, str]:
    if place.name == "temp":
        return "medium", "other programs use files there"
    if place.name == "project":
        return "high", "it is the whole project"
    return "critical", {"home": "it is a whole home directory", "root": "it is the whole machine"}.get(
        place.name, "it holds the project, or the system depends on it"
    )


def _rimraf(call: ProgramCall) -> Iterator[Effect]:
    """Programs of node that always delete all below."""
    for word in call.options("f,force g,glob").operands:
        yield from deletion(call, word, tree=True)


def _unlink(call: ProgramCall) -> Iterator[Effect]:
    options = call.options()
    for word in options.operands:
        yield from deletion(call, word, tree=False)
    if call.name == "unlink":
        yield from search_deletion(call, options.operands)


def _shred(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(
        "f,force n:,iterations: s:,size: u,remove? v,verbose x,exact z,zero ,random-source: r R d l m"
    )
    yield from search_deletion(call, options.operands)
    for word in options.operands if not options.informs else ():
        place = call.place(word)
        if options.any("r", "R"):
            yield from deletion(call, word, tree=True)
        elif place.name == "device":
            yield call.effect("device", "critical", word.text, where="device", why="all data on it are destroyed")
        elif place.outside or call.name == "shred":
            harm: Harm = "high" if place.outside and call.name == "shred" else "medium"
            yield call.effect("delete", harm, word.text, where=place.name, why="shredded data cannot be restored")


_FIND_ONE = words("-H -L -P -O0 -O1 -O2 -O3 -D -E -X -d -s -x")
_FILTERS = lazy_pattern(
    r"-(i?name|i?path|i?wholename|i?regex|[ciam]?l?name|[acm](min|time)|newer\w*|[ac]newer|size|empty|user|group|uid|gid|perm|inum|links|nouser|nogroup)$"
)
_FIND_WRITES = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})


def _find(call: ProgramCall) -> Iterator[Effect]:
    """``-delete`` and the files it writes; what ``-exec`` runs is an invocation of its own."""
    words = list(call.words)
    roots: list[Word] = []
    while words and (words[0].text in _FIND_ONE or not words[0].prefix.startswith(("-", "(", "!"))):
        word = words.pop(0)
        if word.text not in _FIND_ONE:
            roots.append(word)
        elif word.text == "-D" and words:
            words.pop(0)
    actions = list(_without_commands(words))
    texts = [word.text for word in actions]
    filtered = any(_FILTERS.match(text) and not _matches_most(texts, at) for at, text in enumerate(texts))
    if "-delete" in texts and not _argument(texts, "-delete"):
        little = not {"-o", "-or", "!", "-not"} & set(texts) and ("-empty" in texts or _made_again(actions))
        for root in roots or [Word((".",), ".")]:
            yield from _find_deletes(call, root, filtered=filtered, little=little)
    for text, word in zip(texts, actions[1:], strict=False):
        if text in _FIND_WRITES:
            yield from call.write(word)


def _matches_most(texts: list[str], at: int) -> bool:
    """``! -name keep`` and ``-name '*'``."""
    return texts[max(at - 1, 0)] in {"!", "-not"} or set("".join(texts[at + 1 : at + 2])) in ({"*"}, {".", "*"})


_FIND_TAKES = lazy_pattern(
    r"-(i?name|i?path|i?wholename|i?regex|i?lname|[acm](min|time)|newer\w*|[ac]newer|size|user|group|uid|gid|perm|inum|links|type|xtype|fstype|samefile|maxdepth|mindepth|printf|regextype|context|used|files0-from|fprint0?|fls|fprintf)$"
)


def _argument(texts: list[str], name: str) -> bool:
    """Every ``name`` is the value of a test before it: ``-name -delete``."""
    return all(index and _FIND_TAKES.match(texts[index - 1]) for index, text in enumerate(texts) if text == name)


def _without_commands(words: Iterable[Word]) -> Iterator[Word]:
    inside = False
    for word in words:
        text = word.text
        if inside:
            inside = text not in {";", "+"}
        elif text in {"-exec", "-execdir", "-ok", "-okdir"}:
            inside = True
        else:
            yield word


def _find_deletes(call: ProgramCall, root: Word, *, filtered: bool, little: bool) -> Iterator[Effect]:
    place = call.place(root)
    harm: Harm = "high"
    if place.name in {"project", "temp"} and (filtered or place.name == "temp"):
        harm = "low" if little else "medium"
    elif place.whole and place.outside and not filtered:
        harm = "critical"
    why = "it deletes whatever matches" if filtered else "it deletes all that it finds"
    yield call.effect("delete", harm, root.text, where=place.name, why=why, safer="run it with -print first")


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType({
    **dict.fromkeys(("rm", "grm"), _rm),
    **dict.fromkeys(words("rimraf del-cli trash-cli"), _rimraf),
    **dict.fromkeys(("unlink", "rmdir"), _unlink),
    **dict.fromkeys(words("shred srm wipe scrub bcwipe gshred"), _shred),
    **dict.fromkeys(("find", "gfind", "bfs"), _find),
})  # fmt: skip
