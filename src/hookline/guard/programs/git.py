"""git: what its sub-commands lose, rewrite, skip or run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.git_commands import GIT_COMMANDS
from hookline.guard.options import GivenOptions, cut, parse_options
from hookline.guard.pattern import LazyPattern, words
from hookline.guard.programs.files import deletion
from hookline.guard.reading import Word
from hookline.guard.sensitive import secret_harm

_GLOBAL = "C: c: ,git-dir: ,work-tree: ,namespace: ,super-prefix: ,config-env: ,exec-path? p,paginate P,no-pager ,bare ,no-replace-objects ,literal-pathspecs ,no-optional-locks ,attr-source: v,version h,help ,html-path ,man-path ,info-path ,list-cmds:"
#: Settings whose value git runs.
_RUNS = LazyPattern(
    r"(?i)(core\.(sshcommand|pager|editor|fsmonitor|askpass|gitproxy)|pager\.\w+|sequence\.editor|diff\.(.*\.)?(external|command|textconv)|credential\.(.*\.)?helper|(merge|diff)tool\..*\.cmd|filter\..*\.(clean|smudge|process)|gpg\.(.*\.)?program|uploadpack\..*hook|browser\..*\.cmd|interactive\.difffilter)="
)
_STASH = "git stash, then do it"


def _git(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_GLOBAL, until_operand=True)
    settings = _settings(call, options)
    for setting in options.values("c"):
        if _RUNS.match(setting.prefix) and "=" in setting.prefix:
            yield from _ran(call, cut(setting, setting.prefix.index("=") + 1))
    if options.informs or not options.operands:
        return
    name = options.operands[0].text.lower()
    yield from _sub(call, name, options.operands[1:], settings)


def _settings(call: ProgramCall, options: GivenOptions) -> dict[str, Word]:
    found: dict[str, Word] = {}
    for word in options.values("c"):
        key, equals, _ = word.prefix.partition("=")
        found[key.lower()] = cut(word, len(key) + 1) if equals else Word(("true",), "true")
    return found


def _ran(call: ProgramCall, value: Word) -> Iterator[Effect]:
    if value.text not in {"", "cat", "less", "more", "vim", "vi", "nano", "true", ":", "delta", "emacs", "false"}:
        yield from call.shell(cut(value, 1) if value.prefix.startswith("!") else value)


def _sub(call: ProgramCall, name: str, words: tuple[Word, ...], settings: Mapping[str, Word]) -> Iterator[Effect]:
    handler = _SUB.get(name)
    alias = settings.get(f"alias.{name}")
    if handler is not None:
        spec, function = handler
        options = parse_options(words, spec)
        if not options.informs:
            yield from function(call, options, settings)
    elif alias is not None and name not in GIT_COMMANDS:
        yield from _alias(call, alias, words)
    if name in {"show", "cat-file", "log", "diff", "blame", "grep", "archive"}:
        yield from _shown(call, words)
    if not call.invocation.more_arguments:
        return
    if name == "clean":
        yield call.effect("git-work", "high", why="more options may come from standard input")


def _alias(call: ProgramCall, alias: Word, words: tuple[Word, ...]) -> Iterator[Effect]:
    if not alias.known:
        yield call.effect("unknown", "medium", alias.text, why="the alias is not known")
    elif alias.prefix.startswith("!"):
        yield from call.shell(Word((" ".join((alias.text[1:], *(word.text for word in words))),), alias.source))
    else:
        parts = tuple(Word((part,), part) for part in alias.text.split())
        yield from call.argv((call.invocation.argv[0], *parts, *words))


def _shown(call: ProgramCall, words: tuple[Word, ...]) -> Iterator[Effect]:
    for word in words:
        revision, colon, path = word.text.partition(":")
        harm = secret_harm(path) if colon and revision else None
        if harm:
            yield call.effect("secret", harm, path, why="it holds credentials, in any commit")
        if word.prefix.startswith("--output="):
            yield from call.write(cut(word, 9))
        elif word.prefix.startswith(("--open-files-in-pager=", "--ext-diff")):
            yield call.effect("unknown", "medium", word.text, why="git runs another program on the files")


def _reset(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if options.any("hard", "merge"):
        yield call.effect(
            "git-work", "high", why="changes that are not committed are lost", safer=f"{_STASH}; or git reset --keep"
        )


def _clean(call: ProgramCall, options: GivenOptions, settings: Mapping[str, Word]) -> Iterator[Effect]:
    free = settings.get("clean.requireforce")
    forced = ("force" in options and "no-force" not in options) or (
        free is not None and free.text.lower() in {"false", "no", "off", "0"}
    )
    if not forced or "dry-run" in options or "interactive" in options:
        return
    if [word.text.strip("/") for word in options.operands] == [".git"]:
        return
    yield call.effect(
        "git-work",
        "high",
        why="files that git does not know are deleted for good",
        safer="git clean -n shows them first; git stash -u keeps them",
    )


_PATHLIKE = LazyPattern(
    r"^\.{1,2}(/|$)|^:[/!^(]|[*?]|/$|^[\w./-]+\.(py|js|ts|tsx|jsx|rs|go|c|h|cpp|java|rb|php|md|txt|json|ya?ml|toml|sh|css|html|lock|cfg|ini|xml|sql|swift|kt|cs)$"
)


def _checkout(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    creates = options.any("b", "B", "orphan", "t", "track")
    if "force" in options:
        yield call.effect("git-work", "high", why="changes that are not committed are lost", safer=_STASH)
        return
    if creates or "patch" in options:
        return
    before = options.operands[: len(options.operands) - len(options.after)]
    paths = options.after or before[1:] or tuple(word for word in before if _PATHLIKE.search(word.text))
    if paths or "pathspec-from-file" in options:
        yield call.effect(
            "git-work",
            "high",
            " ".join(word.text for word in paths),
            why="changes of these files are overwritten",
            safer=_STASH,
        )


def _switch(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if options.any("force", "discard-changes") and (len(options.operands) < 2 or "force-create" in options):
        yield call.effect("git-work", "high", why="changes that are not committed are lost", safer=_STASH)


def _restore(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if ("staged" in options and "worktree" not in options) or "patch" in options:
        return
    if options.operands or "pathspec-from-file" in options:
        yield call.effect(
            "git-work",
            "high",
            " ".join(word.text for word in options.operands),
            why="changes of these files are overwritten",
            safer=_STASH,
        )


def _stash(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    action = options.operands[0].text if options.operands else "push"
    if action in {"drop", "clear"}:
        yield call.effect(
            "git-history", "high", action, why="stashed work is lost", safer="git stash branch NAME keeps it"
        )


def _branch(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    names = " ".join(word.text for word in options.operands)
    if "D" in options or ("delete" in options and "force" in options):
        yield call.effect(
            "git-history",
            "medium",
            names,
            why="commits that no other branch has can only be found in the reflog",
            safer="git branch -d refuses if they are not merged",
        )
    elif options.any("force", "M", "C"):
        yield call.effect("git-history", "medium", names, why="the branch no longer points to its commits")


def _tag(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if options.any("delete", "force"):
        yield call.effect(
            "git-history", "medium", " ".join(word.text for word in options.operands), why="the tag is lost"
        )


def _push(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if "dry-run" in options:
        return
    if "no-verify" in options:
        yield call.effect("git-bypass", "medium", why="the pre-push hook is skipped")
    refs = [word.text for word in options.operands[1:]]
    plus = [ref for ref in refs if ref.startswith("+") and not _leased(ref, options)]
    lease = "force-with-lease" in options
    safer = "git push --force-with-lease"
    if ("force" in options and "no-force" not in options) or plus:
        harm: Harm = "medium" if lease and "force" in options and not plus else "high"
        why = (
            "--force overrides --force-with-lease: commits of others are overwritten"
            if lease
            else "commits of others may be overwritten"
        )
        yield call.effect("git-remote", harm, " ".join(plus), why=why, safer=safer)
    if "mirror" in options:
        yield call.effect("git-remote", "high", why="branches that are not here are deleted there")
    if options.any("delete", "prune") or any(ref.startswith(":") and len(ref) > 1 for ref in refs):
        yield call.effect("git-remote", "low", " ".join(refs), why="branches or tags are deleted there")
    for word in options.values("receive-pack"):
        yield from call.shell(word)
    yield from _address(call, options.operands[:1])


def _leased(ref: str, options: GivenOptions) -> bool:
    """A lease that covers this reference."""
    names = {word.text.partition(":")[0] for word in options.values("force-with-lease")}
    return "force-with-lease" in options and (not names or ref.lstrip("+").rpartition(":")[2] in names)


def _address(call: ProgramCall, words: tuple[Word, ...]) -> Iterator[Effect]:
    for word in words:
        if word.prefix.startswith("ext::"):
            yield from call.shell(cut(word, 5))


def _fetching(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    for word in options.values("upload-pack"):
        yield from call.shell(word)
    for word in options.values("config"):
        if _RUNS.match(word.prefix):
            yield from _ran(call, cut(word, word.prefix.index("=") + 1))
    yield from _address(call, options.operands[:1])
    if "mirror" not in options and options.any("force") and any(":" in word.text for word in options.operands[1:]):
        yield call.effect("git-history", "medium", why="local branches may be overwritten")


def _commit(call: ProgramCall, options: GivenOptions, settings: Mapping[str, Word]) -> Iterator[Effect]:
    hooks = settings.get("core.hookspath")
    if "no-verify" in options or hooks is not None:
        yield call.effect(
            "git-bypass",
            "medium",
            why="the project's checks before a commit are skipped",
            safer="mend what the check reports",
        )


def _gc(call: ProgramCall, options: GivenOptions, settings: Mapping[str, Word]) -> Iterator[Effect]:
    when = options.last("prune") or settings.get("gc.pruneexpire")
    if when is not None and "no-prune" not in options and when.text in {"now", "all"}:
        yield call.effect(
            "git-history", "high", why="lost commits can no longer be found in the reflog", safer="git gc"
        )


def _prune(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if not options.any("dry-run"):
        yield call.effect(
            "git-history", "high", why="unreachable commits are deleted", safer="git gc keeps them for two weeks"
        )


def _reflog(call: ProgramCall, options: GivenOptions, settings: Mapping[str, Word]) -> Iterator[Effect]:
    action = options.operands[0].text if options.operands else ""
    if action not in {"expire", "delete"} or "dry-run" in options:
        return
    now = any(
        word.text in {"now", "all"} or word.text.startswith("0")
        for word in options.values("expire", "expire-unreachable")
    )
    harm: Harm = "high" if action == "expire" and now else "low"
    yield call.effect("git-history", harm, action, why="the way back to lost commits is deleted")


def _filter(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    for word in options.values(
        "tree-filter", "index-filter", "msg-filter", "env-filter", "commit-filter", "parent-filter"
    ):
        yield from call.shell(word)
    if not options.any("dry-run", "analyze"):
        harm: Harm = "high" if "force" in options or any(word.text == "filter-repo" for word in call.words) else "low"
        yield call.effect("git-history", harm, why="the whole history is rewritten", safer="work on a fresh clone")


def _worktree(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if options.operands[:1] and options.operands[0].text == "remove" and "force" in options:
        yield call.effect(
            "git-work",
            "high",
            why="changes in that worktree are lost",
            safer="git worktree remove refuses if there are any",
        )


def _update_ref(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if options.any("d", "delete", "stdin"):
        yield call.effect(
            "git-history", "high", " ".join(word.text for word in options.operands), why="a reference is deleted"
        )


def _rm(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if options.any("cached", "dry-run"):
        return
    tree, force = "r" in options, "force" in options
    if force:
        yield call.effect(
            "git-work",
            "medium",
            " ".join(word.text for word in options.operands),
            why="changes of these files are lost",
        )
    for word in options.operands if tree else ():
        yield from deletion(call, word, tree=True, force=force)


def _foreach(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    action = options.operands[0].text if options.operands else ""
    if action == "foreach":
        yield from call.shell(Word((" ".join(word.text for word in options.operands[1:]),), "foreach"))
    elif action == "deinit" and "force" in options:
        yield call.effect("git-work", "medium", why="changes in the submodule are lost")


def _bisect(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if options.operands[:1] and options.operands[0].text == "run":
        yield from call.argv(call.words[call.texts.index("run") + 1 :])


def _rebase(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    for word in options.values("exec"):
        yield from call.shell(word)
    if "no-verify" in options:
        yield call.effect("git-bypass", "medium", why="the pre-rebase hook is skipped")


def _config(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    words = [word for word in options.operands if word.text not in {"set", "--"}]
    if (
        len(words) < 2
        or options.any("get", "get-all", "list", "get-regexp", "unset", "unset-all")
        or words[0].text in {"get", "list", "unset"}
    ):
        return
    key, value = words[0].text.lower(), words[1]
    if key == "core.hookspath":
        yield call.effect("git-bypass", "high", value.text, why="the project's hooks are replaced")
    elif _RUNS.match(key + "=") or (key.startswith("alias.") and value.prefix.startswith("!")):
        yield call.effect("persistence", "medium", f"{key} = {value.text}", why="git runs it later by itself")
        if value.prefix.startswith("!"):
            yield from call.shell(cut(value, 1))


def _credential(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    if options.operands[:1] and options.operands[0].text == "fill":
        yield call.effect("secret", "high", why="git prints a stored password")


def _difftool(call: ProgramCall, options: GivenOptions, _settings: Mapping[str, Word]) -> Iterator[Effect]:
    for word in options.values("extcmd"):
        yield from call.shell(word)


_Function = Handler
_SUB: Final = MappingProxyType({
    "reset": ("q,quiet N ,hard ,soft ,mixed ,merge ,keep p,patch ,recurse-submodules? ,pathspec-from-file:", _reset),
    "clean": ("d f,force n,dry-run i,interactive q,quiet x X e:,exclude: ,no-force ,no-dry-run", _clean),
    "checkout": ("q,quiet f,force b: B: t ,track? l m,merge p,patch d,detach U:,unified: ,inter-hunk-context: ,orphan: ,conflict: ,ours ,theirs ,guess ,no-guess ,progress ,overlay ,no-overlay ,no-track ,pathspec-from-file: ,pathspec-file-nul ,recurse-submodules? ,no-recurse-submodules ,ignore-skip-worktree-bits ,ignore-other-worktrees ,no-quiet", _checkout),
    "switch": ("q,quiet f,force ,discard-changes c:,create: C:,force-create: d,detach t ,track? m,merge ,conflict: ,orphan: ,guess ,no-guess ,progress ,recurse-submodules? ,ignore-other-worktrees", _switch),
    "restore": ("s:,source: p,patch W,worktree S,staged q,quiet m,merge ,ours ,theirs ,conflict: ,overlay ,no-overlay ,pathspec-from-file: ,pathspec-file-nul ,recurse-submodules? ,ignore-unmerged ,progress", _restore),
    "stash": ("p,patch k,keep-index u,include-untracked a,all q,quiet m:,message: S,staged ,index", _stash),
    "branch": ("d,delete D f,force m,move M c,copy C r,remotes a,all l,list v,verbose q t? u:,set-upstream-to: ,contains? ,merged? ,no-merged? ,sort: ,points-at: ,format: ,show-current ,column? ,color? i", _branch),
    "tag": ("d,delete f,force a,annotate s,sign u:,local-user: m:,message: F:,file: l,list n? v,verify ,sort: ,contains? ,merged? ,points-at: ,format: i e,edit", _tag),
    "push": ("f,force? ,force-with-lease? ,force-if-includes ,no-force-with-lease ,no-force d,delete ,mirror ,prune ,all ,branches ,tags ,follow-tags n,dry-run u,set-upstream q,quiet v,verbose ,no-verify ,verify ,atomic ,porcelain o:,push-option: ,receive-pack:,exec: ,repo: ,thin ,signed? ,recurse-submodules? ,progress 4 6", _push),
    **dict.fromkeys(words("clone fetch pull ls-remote fetch-pack"), ("u:,upload-pack: c:,config: f,force o:,origin: b:,branch: j:,jobs: ,depth: ,mirror ,template: ,reference: q v n l s", _fetching)),
    "commit": ("a,all m:,message: F:,file: C:,reuse-message: c:,reedit-message: n,no-verify ,amend ,no-edit e,edit s,signoff S?,gpg-sign? v,verbose q,quiet ,fixup: ,squash: ,author: ,date: p,patch o,only i,include t:,template: u?,untracked-files? ,allow-empty ,allow-empty-message ,trailer: ,cleanup: ,dry-run ,short ,no-gpg-sign ,reset-author", _commit),
    **dict.fromkeys(("merge", "am", "cherry-pick"), (",no-verify m:,message: n s:,strategy: X: F: e q v S? ,abort ,continue", _commit)),
    "gc": (",prune? ,no-prune ,aggressive ,auto q,quiet ,force ,keep-largest-pack", _gc),
    "prune": ("n,dry-run v,verbose ,progress ,expire:", _prune),
    "reflog": (",expire: ,expire-unreachable: ,all ,dry-run n ,rewrite ,updateref ,verbose ,stale-fix", _reflog),
    **dict.fromkeys(("filter-branch", "filter-repo"), ("f,force ,dry-run ,analyze ,tree-filter: ,index-filter: ,msg-filter: ,env-filter: ,commit-filter: ,parent-filter: ,tag-name-filter: ,subdirectory-filter: d: ,path: ,invert-paths ,replace-text: ,strip-blobs-bigger-than:", _filter)),
    "worktree": ("f,force n,dry-run v,verbose ,expire: b: B: d,detach ,lock ,reason: q", _worktree),
    "update-ref": ("d m: z ,stdin ,no-deref ,create-reflog", _update_ref),
    "rm": ("r f,force n,dry-run q,quiet ,cached ,ignore-unmatch ,pathspec-from-file:", _rm),
    "submodule": ("q,quiet f,force ,all ,recursive ,init ,remote b: ,name: ,depth: j:,jobs:", _foreach),
    "bisect": (",term-new: ,term-old: ,no-checkout ,first-parent", _bisect),
    "rebase": ("x:,exec: i,interactive ,onto: ,no-verify r? m s: X: q v f ,autosquash ,autostash ,root ,abort ,continue ,skip S?", _rebase),
    "config": (",global ,local ,system ,worktree f:,file: ,blob: ,get ,get-all ,get-regexp ,list l ,unset ,unset-all ,add ,replace-all ,type: ,bool ,int ,path e,edit z ,name-only ,show-origin ,show-scope ,default:", _config),
    "credential": ("", _credential),
    "difftool": ("x:,extcmd: y,no-prompt t:,tool: d g", _difftool),
})  # fmt: skip


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType({"git": _git})
