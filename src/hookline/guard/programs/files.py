"""Programs that delete, overwrite, move and change files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, takewhile
from types import MappingProxyType
from typing import Final

from hookline.core._dataclass import replace
from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.options import GivenOptions, cut
from hookline.guard.paths import Place
from hookline.guard.pattern import LazyPattern, words
from hookline.guard.reading import Word
from hookline.guard.sensitive import own_path, repository_part, write_kind

_RM = "rR,recursive f,force i I ,interactive? v,verbose d,dir ,one-file-system ,no-preserve-root ,preserve-root? P W x"
_FINDERS = words("find gfind fd fdfind locate mlocate")
_CACHE_NAMES: Final = r"/(\.cache|node_modules|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.gradle|\.npm|\.nuget|target|dist|build|\.next|\.nuxt|\.venv|venv|DerivedData|Caches|\.Trash|coverage|\.turbo|\.parcel-cache)(/|$)"
_CACHES: Final = LazyPattern(_CACHE_NAMES)
_MADE: Final = LazyPattern(_CACHE_NAMES + r"|/\*\.(py[co]|o|obj|class|gc(da|no|ov)|tsbuildinfo)$")
#: Slashes in a path that lies directly in a home directory.
_TOP_OF_HOME = 3
#: ``rm`` skips these, wherever they are.
_DOTS = LazyPattern(r"(^|/)\.\.?/*$")
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
        wide = any(word.prefix and call.place(word).outside for word in options.operands if not word.known)
        harm: Harm = "high" if (force and (tree or found == "searched")) or wide else "low"
        if harm == "high" and not wide and _narrow(call, options.operands):
            harm = "low"
        yield call.effect(
            "delete",
            harm,
            where="unknown",
            why="another program says which files",
            safer="print the list first, then delete",
        )
    elif tree and force and not options.operands and _upstream(call):
        yield call.effect(
            "delete", "high", where="unknown", why="what it deletes is not named here", safer="name the files"
        )


def _finds(call: ProgramCall, operands: tuple[Word, ...]) -> str:
    """Who names the files: "searched" by find and its like, "listed" by another program, "" if they stand here."""
    listed = call.invocation.more_arguments or any(not word.known and word.sources for word in operands)
    if not listed or not {"xargs", "parallel", "find", "gfind", "fd", "fdfind"} & set(call.invocation.wrappers):
        return ""
    return "searched" if _upstream(call) & _FINDERS else "listed"


def _narrow(call: ProgramCall, operands: tuple[Word, ...]) -> bool:
    """Every search that names the files looks in the project alone, and for what can be made again."""
    named = [*call.invocation.upstream, *(one for word in operands for one in word.sources)]
    searches = [one.argv[1:] for one in named if one.name in {"find", "gfind"}]
    return bool(searches) and all(
        any(before.text in {"-name", "-iname"} and _MADE.search("/" + word.text) for before, word in pairwise(words))
        and not any(word.text in {"-o", "-or", "!", "-not"} for word in words)
        and not any(call.place(word).outside for word in takewhile(lambda word: not word.text.startswith("-"), words))
        for words in searches
    )


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
    yield call.effect(kind, harm, word.text, where=place.name, why=why, safer=_TRASH if harm != "low" else "")


def _loss(place: Place, word: Word, *, tree: bool, force: bool) -> tuple[Harm, str]:
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
    deep = place.name == "home" and place.path.count("/") > _TOP_OF_HOME
    return ("high" if force and not deep else "medium"), f"it is outside the project ({place.name})"


def _whole(place: Place) -> tuple[Harm, str]:
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
    for word in call.options().operands:
        yield from deletion(call, word, tree=False)


def _shred(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(
        "f,force n:,iterations: s:,size: u,remove? v,verbose x,exact z,zero ,random-source: r R d l m"
    )
    for word in options.operands if not options.informs else ():
        place = call.place(word)
        if options.any("r", "R"):
            yield from deletion(call, word, tree=True)
        elif place.name == "device":
            yield call.effect("device", "critical", word.text, where="device", why="all data on it are destroyed")
        elif place.outside or call.name == "shred":
            harm: Harm = "high" if place.outside and call.name == "shred" else "medium"
            yield call.effect("delete", harm, word.text, where=place.name, why="shredded data cannot be restored")


def _truncate(call: ProgramCall) -> Iterator[Effect]:
    options = call.options("c,no-create o,io-blocks r:,reference: s:,size:")
    for word in options.operands if not options.informs else ():
        yield from call.write(word)
        place = call.place(word)
        if place.outside and place.name != "system":
            yield call.effect("overwrite", "medium", word.text, where=place.name, why="its content is cut off")


_COPY = "a,archive b,backup? d f,force i,interactive l,link L n,no-clobber P p,preserve? R,recursive r s,symbolic-link S:,suffix: t:,target-directory: T,no-target-directory u,update? v,verbose x Z ,context? ,parents ,reflink? ,sparse? ,strip-trailing-slashes ,remove-destination g:,group: m:,mode: o:,owner: D c C"


def sources_and_target(options: GivenOptions) -> tuple[tuple[Word, ...], Word | None]:
    """What is copied or moved, and where to: the last operand or ``-t``."""
    target = options.last("target-directory")
    if target is not None:
        return options.operands, target
    return options.operands[:-1], options.operands[-1] if len(options.operands) > 1 else None


def _cp(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_COPY)
    if options.informs:
        return
    sources, target = sources_and_target(options)
    for word in sources:
        yield from call.read(word)
    if target is not None:
        yield from _into(call, sources, target)


def _into(call: ProgramCall, sources: Iterable[Word], target: Word) -> Iterator[Effect]:
    """Writing to a file, or to the files of the same names in a directory."""
    folder = target.text.rstrip("/")
    names = [Word((f"{folder}/{word.text.rstrip('/').rpartition('/')[2]}",), word.source) for word in sources]
    place = call.place(target)
    found = [one for one in call.write(target) if _matters(one) and (not place.whole or write_kind(place.path))]
    inside = [one for name in names for one in call.write(name) if _matters(one) and one.kind != "secret"]
    yield from found or inside


def _matters(effect: Effect) -> bool:
    return effect.kind != "overwrite" or effect.harm != "low"


def _mv(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_COPY)
    if options.informs:
        return
    sources, target = sources_and_target(options)
    if target is not None and target.text == "/dev/null":
        for word in sources:
            yield call.effect(
                "delete", "high", word.text, where=call.place(word).name, why="what is moved there is gone"
            )
        return
    for word in sources:
        yield from moving(call, word, None if target is None else call.place(target))
    if target is not None:
        yield from _into(call, sources, target)


def moving(call: ProgramCall, word: Word, target: Place | None) -> Iterator[Effect]:
    place = call.place(word)
    special = write_kind(place.path or word.text)
    if target is not None and target.path == place.path:
        return
    if (special is not None and special[0] in {"guard", "git-history"}) or own_path((place.path or word.text) + "/x"):
        kind, harm, why = special or ("guard", "critical", "it belongs to a guard of this machine")
        yield call.effect(kind, harm, word.text, where=place.name, why=why)
    elif place.path.endswith("/.local/bin"):
        yield call.effect("move", "high", word.text, where=place.name, why="programs are started from there")
    elif place.whole and place.name != "project":
        harm = "critical" if word.globs and place.name in {"root", "system"} else "medium"
        yield call.effect(
            "move", harm, word.text, where=place.name, why="it is all of a directory that much depends on"
        )
    elif place.name in {"system", "root"}:
        yield call.effect("move", "medium", word.text, where=place.name, why="the system depends on it")
    else:
        yield call.effect("move", "low", word.text, where=place.name)


def _ln(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_COPY)
    sources, target = sources_and_target(options)
    if target is not None and not options.informs:
        yield from _into(call, sources, target)


def _tee(call: ProgramCall) -> Iterator[Effect]:
    options = call.options("a,append i,ignore-interrupts p ,output-error?")
    for word in options.operands if not options.informs else ():
        yield from call.write(word, append="append" in options)


def _dd(call: ProgramCall) -> Iterator[Effect]:
    for word in call.words:
        if word.prefix.startswith("of="):
            yield from call.write(cut(word, 3))
        elif word.prefix.startswith("if="):
            yield from call.read(cut(word, 3))


_MODE = "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P ,reference: ,from: ,preserve-root ,no-preserve-root ,dereference"


def _permissions(call: ProgramCall) -> Iterator[Effect]:
    """chmod, chown, chgrp, chattr, setfacl: wide changes of what is not the project's."""
    options = call.options(
        _MODE if call.name not in {"setfacl", "chattr", "icacls"} else "R,recursive m:,modify: x:,remove: b k V f v:"
    )
    if options.informs:
        return
    operands = options.operands
    flags = call.name == "chattr" and not any(word.prefix.startswith(("+", "=")) for word in operands)  # -i is the mode
    if "reference" not in options and call.name != "setfacl" and not flags:
        operands = operands[1:]
    tree = "recursive" in options or call.invocation.more_arguments
    mode = options.operands[0].text if options.operands else ""
    for word in operands:
        yield from permission_change(call, word, mode, tree=tree)
    if "find" in call.invocation.wrappers and call.invocation.more_arguments:
        yield from _under_find(call, mode)


def _under_find(call: ProgramCall, mode: str) -> Iterator[Effect]:
    for one in call.invocation.upstream or ():
        for word in one.argv[1:2]:
            yield from permission_change(call, word, mode, tree=True)


def permission_change(call: ProgramCall, word: Word, mode: str, *, tree: bool) -> Iterator[Effect]:
    place = call.place(word)
    special = write_kind(place.path or word.text)
    open_to_all = bool(re.fullmatch(r"0?[0-7]?777|a\+\S*w\S*|\S*o\+\S*w\S*|ugo\+\S*w\S*|\+w|a=\S*w\S*", mode))
    set_id = call.name == "chmod" and bool(re.fullmatch(r"[ug]*\+\S*s\S*|0?[2467][0-7]{3}", mode))
    harm: Harm = "low"
    why = ""
    if word.text == "{}":
        return
    if place.whole and place.outside and tree:
        harm, why = "critical", "the system or a whole home directory depends on it"
    elif special and special[0] == "guard":
        harm, why = "high", special[2]
    elif set_id:
        harm, why = "high", "it lets everybody run the program with the rights of its owner"
    elif place.name in {"system", "root", "device"} or place.path.endswith("/.local/bin"):
        harm, why = "high", "the system or its programs depend on it"
    elif special and call.name != "chmod":
        harm, why = "medium", special[2]
    elif open_to_all:
        harm, why = (
            ("high", "everybody may then change it")
            if tree and place.whole
            else ("medium", "everybody may then change it")
        )
    elif (place.whole and tree) or (place.name == "home" and tree and place.outside):
        harm, why = (
            "medium",
            "it changes many files outside the project" if place.outside else "it is the whole project",
        )
    kind = "privilege" if set_id else "guard" if special and special[0] == "guard" else "permissions"
    yield call.effect(kind, harm, word.text, where=place.name, why=why, safer="name the files" if harm != "low" else "")


_FIND_ONE = words("-H -L -P -O0 -O1 -O2 -O3 -D -E -X -d -s -x")
_FILTERS = LazyPattern(
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
    filtered = any(_FILTERS.match(text) for text in texts)
    if "-delete" in texts and not _argument(texts, "-delete"):
        for root in roots or [Word((".",), ".")]:
            yield from _find_deletes(call, root, filtered=filtered)
    for text, word in zip(texts, actions[1:], strict=False):
        if text in _FIND_WRITES:
            yield from call.write(word)


_FIND_TAKES = LazyPattern(
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


def _find_deletes(call: ProgramCall, root: Word, *, filtered: bool) -> Iterator[Effect]:
    place = call.place(root)
    if filtered and place.name in {"project", "temp"}:
        yield call.effect(
            "delete",
            "medium",
            root.text,
            where=place.name,
            why="it deletes whatever matches",
            safer="run it with -print first",
        )
        return
    harm: Harm = (
        "critical" if place.whole and place.outside and not filtered else "medium" if place.name == "temp" else "high"
    )
    yield call.effect(
        "delete",
        harm,
        root.text,
        where=place.name,
        why="it deletes all that it finds",
        safer="run it with -print first",
    )


_SED = "n,quiet,silent e:,expression: f:,file: i?,in-place? I? E,regexp-extended r l:,line-length: s,separate u z,null-data ,posix ,debug ,sandbox b a"


def _sed(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_SED)
    script = options.values("expression")
    files = options.operands if script or "file" in options else options.operands[1:]
    if options.any("in-place", "I"):
        for word in files:
            yield from call.write(word)
    for word in script or options.operands[:1]:
        yield from _sed_script(call, word)


def _yq(call: ProgramCall) -> Iterator[Effect]:
    options = call.options("i,inplace,in-place o:,output-format: p:,input-format: I: P r j C M e n s:")
    for word in options.operands[1:] if "inplace" in options else ():
        yield from call.write(word)


def _sed_script(call: ProgramCall, word: Word) -> Iterator[Effect]:
    """The commands ``e`` (run) and ``w`` (write), which hide in an innocent program."""
    text = word.text
    for found in re.finditer(r"(?:^|[;{}\n]|[\d$/]\s*)\s*e\s+([^\n;}]+)", text):
        yield from call.shell(Word((found[1],), found[0]))
    if re.search(
        r"(?:^|[;{}\n])\s*(?:\d+|\$|/[^/]*/)?\s*e\s*(?:$|[;}\n])|s(.)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiIm\d]*e",
        text,
    ):
        yield call.effect("unknown", "medium", text, why="sed runs what it reads as commands")
    for found in re.finditer(r"(?:^|[;{}\n/gpIi\d])\s*[wW]\s+(/?[\w./~-]+)", text):
        yield from call.write(Word((found[1],), found[0]))


def _awk(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(
        "F:,field-separator: v:,assign: f:,file: i:,include: l: W: e:,source: b c C d? D? E:,exec: g h L? n N M o? O p? P r s S t V",
        until_operand=True,
    )
    program = [*options.values("source"), *(options.operands[:1] if not options.any("file", "source") else ())]
    for word in program:
        for found in re.finditer(
            r'system\s*\(\s*"((?:\\.|[^"\\])*)"\s*\)|\|&?\s*"((?:\\.|[^"\\])*)"|"((?:\\.|[^"\\])*)"\s*\|&?\s*getline',
            word.text,
        ):
            yield from call.shell(Word(((found[1] or found[2] or found[3] or "").replace('\\"', '"'),), found[0]))
        if re.search(r"\bsystem\b|\|", word.text):  # a text that looks like a command, kept for later
            for found in re.finditer(r'"([\w./]+\s+[-/~$][^"]*)"', word.text):
                yield from call.shell(Word((found[1],), found[0]))
        for found in re.finditer(r'>>?\s*"([^"]+)"', word.text):
            yield from call.write(Word((found[1],), found[0]))


_RSYNC = "v,verbose q,quiet c,checksum a,archive r,recursive R,relative b,backup u,update d,dirs l,links L,copy-links k K H,hard-links p,perms E X A o,owner g,group D t,times O J S,sparse n,dry-run W x B: e:,rsh: I m C F z,compress h P y f:,filter: T: M: ,exclude: ,include: ,exclude-from: ,include-from: ,files-from: ,delete ,del ,delete-before ,delete-during ,delete-delay ,delete-after ,delete-excluded ,remove-source-files ,rsync-path: ,partial ,progress ,stats ,inplace ,no-recursive ,suffix: ,backup-dir: ,log-file: ,password-file: ,port: ,bwlimit: ,chmod: ,chown: 0 ,from0"


def rsync_options(call: ProgramCall) -> GivenOptions:
    return call.options(_RSYNC)


def _rsync(call: ProgramCall) -> Iterator[Effect]:
    options = rsync_options(call)
    if options.informs or "dry-run" in options:
        return
    for word in options.values("rsh", "rsync-path"):
        yield from call.shell(word)
    if not options.operands:
        return
    if "remove-source-files" in options:
        for word in options.operands[:-1]:
            yield from moving(call, word, None)
    target = options.operands[-1]
    local = ":" not in target.prefix.partition("/")[0]
    if any(key.startswith("del") for key in options.given):
        place = call.place(target)
        harm: Harm = "low"
        if local and place.outside:
            harm = "critical" if place.whole or place.name in {"system", "root"} else "high"
        elif local and place.whole:
            harm = "high"
        yield call.effect(
            "delete",
            harm,
            target.text,
            where=place.name if local else "remote",
            why="what the source lacks is deleted there",
            safer="run it with --dry-run first",
        )
    elif local:
        yield from call.write(target)


_TAR = "A c,create d t,list r,append u,update x,extract,get ,delete C:,directory: f:,file: F:,info-script:,new-volume-script: I:,use-compress-program: T:,files-from: X:,exclude-from: v,verbose z,gzip j,bzip2 J,xz Z ,zstd ,lzma a,auto-compress k,keep-old-files O,to-stdout p h,dereference P,absolute-names w W m o S n G g: b: H: K: L: M N: V: ,strip-components: ,exclude: ,transform: ,to-command: ,checkpoint-action: ,rsh-command: ,rmt-command: ,remove-files ,overwrite ,unlink-first ,recursive-unlink ,one-top-level? ,no-recursion ,owner: ,group: ,mode:"


def tar_options(call: ProgramCall) -> GivenOptions:
    """Old-style letters without a dash, and TAR_OPTIONS, count too."""
    words = list(call.words)
    if words and words[0].prefix and not words[0].prefix.startswith("-"):
        words[0] = Word(("-" + words[0].text,), words[0].source)
        if "f" in words[0].text[1:-1]:  # czf NAME: the value of f is the next word, wherever f stands
            words[0] = Word((words[0].text.replace("f", "") + "f",), words[0].source)
    extra = [value for name, value in call.invocation.environment if name == "TAR_OPTIONS"]
    more = [Word((part,), part) for value in extra for part in value.text.split()]
    from hookline.guard.options import parse_options

    return parse_options((*more, *words), _TAR)


def _tar(call: ProgramCall) -> Iterator[Effect]:
    options = tar_options(call)
    if options.informs:
        return
    for word in options.values("info-script", "use-compress-program", "to-command", "rsh-command", "rmt-command"):
        yield from call.shell(word)
    for word in options.values("checkpoint-action"):
        if word.prefix.startswith("exec="):
            yield from call.shell(cut(word, 5))
    if "extract" in options and "to-stdout" not in options:
        for word in options.values("directory") or ((Word(("/",), "/"),) if "absolute-names" in options else ()):
            yield from _unpack(call, word)
    if options.any("create", "append", "update"):
        for word in options.values("file"):
            yield from call.write(word)
        for word in options.operands:
            yield from call.read(word)
        if "remove-files" in options:
            for word in options.operands:
                yield from deletion(call, word, tree=True)


def _unpack(call: ProgramCall, word: Word) -> Iterator[Effect]:
    place = call.place(word)
    if (place.whole and place.outside) or place.name in {"root", "system"}:
        yield call.effect(
            "overwrite",
            "high",
            word.text,
            where=place.name,
            why="files there may be replaced by the archive's",
            safer="unpack into a new directory and look at it",
        )


def _unzip(call: ProgramCall) -> Iterator[Effect]:
    options = call.options("d: l t v p c f u o n j q x: a b C K L M U V W X Z z h D P:")
    for word in options.values("d"):
        yield from _unpack(call, word)


def _touch(call: ProgramCall) -> Iterator[Effect]:
    for word in call.options("a c d: m r: t: ,date: ,reference: f h").operands:
        place = call.place(word)
        if write_kind(place.path or word.text) and place.name != "project":
            yield from call.write(word, append=True)


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType({
    **dict.fromkeys(("rm", "grm", "trash-empty"), _rm),
    **dict.fromkeys(words("rimraf del-cli trash-cli"), _rimraf),
    **dict.fromkeys(("unlink", "rmdir"), _unlink),
    **dict.fromkeys(words("shred srm wipe scrub bcwipe gshred"), _shred),
    **dict.fromkeys(words("cp install gcp ginstall ditto"), _cp),
    **dict.fromkeys(("mv", "gmv", "rename"), _mv),
    **dict.fromkeys(words("chmod chown chgrp setfacl chattr gchmod gchown chflags"), _permissions),
    **dict.fromkeys(("find", "gfind", "bfs"), _find),
    **dict.fromkeys(words("awk gawk mawk nawk"), _awk),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    **dict.fromkeys(("patch", "sponge"), _tee),
    **dict.fromkeys(words("unzip 7z 7za 7zz bsdcpio"), _unzip),
    "truncate": _truncate, "ln": _ln, "tee": _tee, "dd": _dd, "sed": _sed, "yq": _yq, "gsed": _sed, "rsync": _rsync, "touch": _touch,
})  # fmt: skip
