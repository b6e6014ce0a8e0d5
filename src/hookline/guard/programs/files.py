"""Programs that overwrite, move, copy, pack and change files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.options import GivenOptions, parse_options
from hookline.guard.patches import patch_targets
from hookline.guard.paths import JudgedPath
from hookline.guard.pattern import words
from hookline.guard.programs.deletion import deletion, search_deletion
from hookline.guard.reading import Word, cut
from hookline.guard.sensitive import holds_secrets, own_path, write_kind


def _truncate(call: ProgramCall) -> Iterator[Effect]:
    options = call.options("c,no-create o,io-blocks r:,reference: s:,size:")
    yield from search_deletion(call, options.operands)
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
    kept = [f"{name.text.rpartition('/')[2]}." for name in names]  # ``cp .zshrc .zshrc.bak`` is no directory
    yield from found or (() if target.text.rpartition("/")[2].startswith(tuple(kept)) else inside)


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


def moving(call: ProgramCall, word: Word, target: JudgedPath | None) -> Iterator[Effect]:
    place = call.place(word)
    special = write_kind(place.path or word.text)
    if target is not None and target.path == place.path:
        return
    grave = special is not None and (special[0] in {"guard", "git-history"} or special[1] == "critical")
    if grave or own_path((place.path or word.text) + "/x"):
        kind, harm, why = special or ("guard", "critical", "it belongs to a guard of this machine")
        yield call.effect(kind, harm, word.text, where=place.name, why=why)
    elif place.path.endswith("/.local/bin"):
        yield call.effect("move", "high", word.text, where=place.name, why="programs are started from there")
    elif place.whole and place.name != "project":
        why = "it is all of a directory that much depends on"
        yield call.effect("move", _loss_of_whole(place, word), word.text, where=place.name, why=why)
    elif place.name in {"system", "root"}:
        yield call.effect("move", "medium", word.text, where=place.name, why="the system depends on it")
    elif place.name == "home" and target is not None and target.name == "temp" and holds_secrets(place.path):
        yield call.effect("move", "medium", word.text, where=place.name, why="keys are soon gone there")
    else:
        yield call.effect("move", "low", word.text, where=place.name)


def _loss_of_whole(place: JudgedPath, word: Word) -> Harm:
    """Without /etc or /usr no machine works, and nobody can move it back; a home is only missed."""
    if place.name in {"root", "system"} and (word.globs or place.path.count("/") == 1):
        return "critical"
    return "high" if (place.name == "home" and not word.globs) or place.path.startswith(("/usr/", "/lib")) else "medium"


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


def _patch(call: ProgramCall) -> Iterator[Effect]:
    """The file that is named, and what a patch that stands in the command itself changes."""
    options = call.options("p:,strip: i:,input: d:,directory: o:,output: r: z: Y: B: D: F: V:")
    for word in (*options.operands[:1], *options.values("output")) if call.name == "patch" else ():
        yield from call.write(word)
    given = call.invocation.stdin
    names = {name for text in (*call.texts, given.text if given else "") for name in patch_targets(text)}
    call.scene.budget.spend(len(names) * 20)
    for name in sorted(names):
        yield from call.write(Word((name,), name))


_MODE = "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P ,reference: ,from: ,preserve-root ,no-preserve-root ,dereference"


def _permissions(call: ProgramCall) -> Iterator[Effect]:
    """chmod, chown, chgrp, chattr, setfacl: wide changes of what is not the project's."""
    options = call.options(
        _MODE if call.name not in {"setfacl", "chattr", "icacls"} else "R,recursive m:,modify: x:,remove: b k V f v:"
    )
    if options.informs:
        return
    operands = options.operands
    taken = call.name == "chmod" and any(re.fullmatch(r"-[rwxXst]+", text) for text in call.texts)
    flags = taken or (
        call.name == "chattr" and not any(word.prefix.startswith(("+", "=")) for word in operands)
    )  # -i is the mode
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
        where, why = place.name if local else "remote", "what the source lacks is deleted there"
        yield call.effect("delete", harm, target.text, where=where, why=why, safer="run it with --dry-run first")
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
    return parse_options((*more, *words), _TAR)


def _tar(call: ProgramCall) -> Iterator[Effect]:
    options = tar_options(call)
    if options.informs:
        return
    if any(word.text.rpartition("/")[2] in {"sh", "bash", "python3"} for word in options.values("to-command")):
        yield call.effect("remote-code", "medium", "--to-command", why="what is in the archive is run unread")
    for word in options.values("info-script", "use-compress-program", "to-command", "rsh-command", "rmt-command"):
        yield from call.shell(word)
    for word in options.values("checkpoint-action"):
        if word.prefix.startswith("exec="):
            yield from call.shell(cut(word, 5))
    if "extract" in options and "to-stdout" not in options:
        for word in options.values("directory", "one-top-level") or (
            (Word(("/",), "/"),) if "absolute-names" in options else ()
        ):
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
        why, safer = "files there may be replaced by the archive's", "unpack into a new directory and look at it"
        yield call.effect("overwrite", "high", word.text, where=place.name, why=why, safer=safer)


#: The options of programs that unpack, and the one that says where to.
_UNPACKING: Final = {
    **dict.fromkeys(("unzip", "bsdcpio"), ("d: l t v p c f u o n j q x: a b C K L M U V W X Z z h D P:", "d")),
    **dict.fromkeys(("7z", "7za", "7zz"), ("o: p: y a: m: t: r x: i: s: w: ,bd", "o")),
    "cpio": ("i,extract o,create p,pass-through d m u v D:,directory: F:,file: H: I: O: E: M: R: 0 a t", "directory"),
}


def _unzip(call: ProgramCall) -> Iterator[Effect]:
    specification, target = _UNPACKING[call.name]
    for word in call.options(specification).values(target):
        yield from _unpack(call, word)


def _zip(call: ProgramCall) -> Iterator[Effect]:
    options = call.options("m,move r,recurse-paths q,quiet 0 1 9 e j u,update f d x: i: b: t: n: P: T TT: y X o D g v")
    for word in options.operands[1:] if "move" in options else ():
        yield from deletion(call, word, tree=True)


def _touch(call: ProgramCall) -> Iterator[Effect]:
    for word in call.options("a c d: m r: t: ,date: ,reference: f h").operands:
        place = call.place(word)
        if write_kind(place.path or word.text) and place.name != "project":
            yield from call.write(word, append=True)


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType({
    **dict.fromkeys(words("cp install gcp ginstall ditto"), _cp),
    **dict.fromkeys(("mv", "gmv", "rename"), _mv),
    **dict.fromkeys(words("chmod chown chgrp setfacl chattr gchmod gchown chflags"), _permissions),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    **dict.fromkeys(("tee", "sponge"), _tee), **dict.fromkeys(words("patch apply_patch applypatch"), _patch),
    **dict.fromkeys(_UNPACKING, _unzip),
    "truncate": _truncate, "ln": _ln, "dd": _dd, "rsync": _rsync, "touch": _touch, "zip": _zip,
})  # fmt: skip
