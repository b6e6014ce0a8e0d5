"""git: its settings and aliases, and those of its sub-commands that more than a row of ``tables/git.txt`` describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import dropwhile
from types import MappingProxyType
from typing import Final, TypeAlias

from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.git_commands import GIT_COMMANDS
from hookline.guard.options import GivenOptions, parse_options
from hookline.guard.pattern import lazy_pattern
from hookline.guard.programs.deletion import deletion
from hookline.guard.programs.rows import section, section_effects
from hookline.guard.reading import Word, cut
from hookline.guard.sensitive import secret_harm

_GLOBAL = "C: c: ,git-dir: ,work-tree: ,namespace: ,super-prefix: ,config-env: ,exec-path? p,paginate P,no-pager ,bare ,no-replace-objects ,literal-pathspecs ,no-optional-locks ,attr-source: v,version h,help ,html-path ,man-path ,info-path ,list-cmds:"
#: Settings whose value git runs.
_RUNS = lazy_pattern(
    r"(?i)(core\.(sshcommand|pager|editor|fsmonitor|askpass|gitproxy|alternaterefscommand)|pager\.\w+|sequence\.editor|diff\.(.*\.)?(external|command|textconv)|credential\.(.*\.)?helper|(merge|diff|guitool)(tool)?\..*\.(cmd|driver)|filter\..*\.(clean|smudge|process)|gpg\.(.*\.)?program|uploadpack\..*hook|browser\..*\.cmd|interactive\.difffilter|man\..*\.cmd|sendemail\.\w*cmd|trailer\..*\.c(om)?m(an)?d|ssh\.variant_)="
)
_HARMLESS = frozenset({"", "cat", "less", "more", "vim", "vi", "nano", "true", ":", "delta", "emacs", "false", "less -FRX", "less -R", "store", "cache", "osxkeychain", "manager", "libsecret", "diff-so-fancy | less", "code --wait"})  # fmt: skip
_STASH = "git stash, then do it"
_Settings: TypeAlias = Mapping[str, Word]


def _git(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_GLOBAL, until_operand=True)
    settings = {name.lower(): value for name, value in map(_setting, options.values("c"))}
    for word in options.values("c"):
        yield from _run_setting(call, word)
    if options.informs or not options.operands:
        return
    name, words = options.operands[0].text.lower(), options.operands[1:]
    alias = settings.get(f"alias.{name}")
    special, found = _SUB.get(name), section(f"git: {name}")
    if special is not None:
        given = parse_options(words, special[0])
        yield from special[1](call, given, settings) if not given.informs else ()
    if found is not None:
        yield from section_effects(call, found, words, settings)
    if special is None and found is None and alias is not None and name not in GIT_COMMANDS:
        yield from _alias(call, alias, words)
    if name in {"clone", "fetch", "pull", "ls-remote", "fetch-pack", "push", "archive", "submodule", "remote"}:
        yield from _address(call, words)
    if name == "add":
        for word in words:
            if secret_harm(call.place(word).path):
                yield call.effect("secret", "medium", word.text, why="whoever gets the repository gets the credentials")
    if name in {"show", "cat-file", "log", "diff", "blame", "grep", "archive"}:
        yield from _shown(call, words)
    if name == "clean" and call.invocation.more_arguments:
        yield call.effect("git-work", "high", why="more options may come from standard input")


def _setting(word: Word) -> tuple[str, Word]:
    key, equals, _ = word.prefix.partition("=")
    return key, cut(word, len(key) + 1) if equals else Word(("true",), "true")


def _run_setting(call: ProgramCall, word: Word) -> Iterator[Effect]:
    """``-c core.pager=…``: git runs it now."""
    if not _RUNS.match(word.prefix):
        return
    value = cut(word, word.prefix.index("=") + 1)
    if value.text not in _HARMLESS:
        yield from call.shell(cut(value, 1) if value.prefix.startswith("!") else value)


def _alias(call: ProgramCall, alias: Word, words: tuple[Word, ...]) -> Iterator[Effect]:
    if not alias.known:
        yield call.effect("unknown", "medium", alias.text, why="the alias is not known")
    elif alias.prefix.startswith("!"):
        yield from call.shell(Word((" ".join((alias.text[1:], *(word.text for word in words))),), alias.source))
    else:
        parts = tuple(Word((part,), part) for part in alias.text.split())
        yield from call.argv((call.invocation.argv[0], *parts, *words))


def _address(call: ProgramCall, words: tuple[Word, ...]) -> Iterator[Effect]:
    """Transports that are programs, and settings of a new clone."""
    for before, word in zip((Word(()), *words), words, strict=False):
        if word.prefix.startswith("ext::"):
            yield from call.shell(cut(word, 5))
        elif before.text in {"-c", "--config"}:
            yield from _run_setting(call, word)
        elif word.prefix.startswith("--config="):
            yield from _run_setting(call, cut(word, 9))


def _shown(call: ProgramCall, words: tuple[Word, ...]) -> Iterator[Effect]:
    outside = "--no-index" in call.texts or "--contents" in call.texts
    for word in words:
        revision, colon, path = word.text.partition(":")
        harm = secret_harm(path) if colon and revision else None
        if harm:
            yield call.effect("secret", harm, path, why="it holds credentials, in any commit")
        if outside or word.prefix.startswith("--contents="):
            yield from call.read(word if outside else cut(word, 11))
        if word.prefix.startswith("--output="):
            yield from call.write(cut(word, 9))
        elif word.prefix.startswith("--ext-diff"):
            yield call.effect("unknown", "medium", word.text, why="git runs another program on the files")


def _clean(call: ProgramCall, options: GivenOptions, settings: _Settings) -> Iterator[Effect]:
    free = settings.get("clean.requireforce")
    forced = ("force" in options and "no-force" not in options) or (
        free is not None and free.text.lower() in {"false", "no", "off", "0"}
    )
    if not forced or options.any("dry-run", "interactive"):
        return
    if [word.text.strip("/") for word in options.operands] != [".git"]:
        safer = "git clean -n shows them first; git stash -u keeps them"
        yield call.effect("git-work", "high", why="files that git does not know are deleted for good", safer=safer)


_PATHLIKE = lazy_pattern(
    r"^\.{1,2}(/|$)|^:[/!^(]|[*?]|/$|^[\w./-]+\.(py|js|ts|tsx|jsx|rs|go|c|h|cpp|java|rb|php|md|txt|json|ya?ml|toml|sh|css|html|lock|cfg|ini|xml|sql|swift|kt|cs)$"
)


def _checkout(call: ProgramCall, options: GivenOptions, _settings: _Settings) -> Iterator[Effect]:
    if "force" in options:
        yield call.effect("git-work", "high", why="changes that are not committed are lost", safer=_STASH)
        return
    if options.any("b", "B", "orphan", "t", "track", "patch"):
        return
    before = options.operands[: len(options.operands) - len(options.after)]
    paths = options.after or before[1:] or tuple(word for word in before if _PATHLIKE.search(word.text))
    if paths or "pathspec-from-file" in options:
        names = " ".join(word.text for word in paths)
        yield call.effect("git-work", "high", names, why="changes of these files are overwritten", safer=_STASH)


def _push(call: ProgramCall, options: GivenOptions, _settings: _Settings) -> Iterator[Effect]:
    if "dry-run" in options:
        return
    if "no-verify" in options:
        yield call.effect("git-bypass", "medium", why="the pre-push hook is skipped")
    refs = [word.text for word in options.operands[1:]]
    plus = [ref for ref in refs if ref.startswith("+") and not _leased(ref, options)]
    lease = "force-with-lease" in options
    harm: Harm
    if ("force" in options and "no-force" not in options) or plus:
        order = [*options.given]  # whoever writes the lease last means it
        meant = lease and not plus and order.index("force") < order.index("force-with-lease")
        overrides = "--force overrides --force-with-lease: commits of others are overwritten"
        why = overrides if lease else "commits of others may be overwritten"
        safer = "git push --force-with-lease"
        yield call.effect("git-remote", "medium" if meant else "high", " ".join(plus), why=why, safer=safer)
    if "mirror" in options:
        yield call.effect("git-remote", "high", why="branches that are not here are deleted there")
    gone = [ref.lstrip(":") for ref in refs if ref.startswith(":") and len(ref) > 1]
    gone += refs if options.any("delete") else []
    if gone or "prune" in options:
        main = any(_SHARED.fullmatch(ref) for ref in gone)
        why = "a branch that others work on is deleted there" if main else "branches or tags are deleted there"
        harm = "high" if main else "medium" if "prune" in options else "low"
        yield call.effect("git-remote", harm, " ".join(gone), why=why)
    for word in options.values("receive-pack"):
        yield from call.shell(word)
    for word in options.operands[:1]:
        if "://" in word.text:
            yield call.effect(
                "send", "medium", word.text, why="commits go to an address that is not a remote of this repository"
            )


_SHARED = lazy_pattern(
    r"(refs/heads/)?(main|master|trunk|develop|development|production|prod|release(/.*|s)?|stable|staging|gh-pages)"
)


def _leased(ref: str, options: GivenOptions) -> bool:
    """A lease that covers this reference."""
    names = {word.text.partition(":")[0] for word in options.values("force-with-lease")}
    return "force-with-lease" in options and (not names or ref.lstrip("+").rpartition(":")[2] in names)


def _rm(call: ProgramCall, options: GivenOptions, _settings: _Settings) -> Iterator[Effect]:
    if options.any("cached", "dry-run"):
        return
    tree, force = "r" in options, "force" in options
    names = " ".join(word.text for word in options.operands)
    if force:
        yield call.effect("git-work", "medium", names, why="changes of these files are lost")
    for word in options.operands if tree else ():
        yield from deletion(call, word, tree=True, force=force)


def _foreach(call: ProgramCall, options: GivenOptions, _settings: _Settings) -> Iterator[Effect]:
    if options.operands[:1] and options.operands[0].text == "foreach":
        given = dropwhile(lambda text: text.startswith("-"), call.texts[call.texts.index("foreach") + 1 :])
        yield from call.shell(Word((" ".join(given),), "foreach"))


def _bisect(call: ProgramCall, options: GivenOptions, _settings: _Settings) -> Iterator[Effect]:
    if options.operands[:1] and options.operands[0].text == "run":
        yield from call.argv(call.words[call.texts.index("run") + 1 :])


def _config(call: ProgramCall, options: GivenOptions, _settings: _Settings) -> Iterator[Effect]:
    words = [word for word in options.operands if word.text not in {"set", "--"}]
    shows = options.any("get", "get-all", "list", "get-regexp", "unset", "unset-all")
    if len(words) < 2 or shows or words[0].text in {"get", "list", "unset"}:
        return
    key, value = words[0].text.lower(), words[1]
    if key == "core.hookspath":
        yield call.effect("git-bypass", "high", value.text, why="the project's hooks are replaced")
    elif key.startswith("url.") and key.endswith("insteadof"):
        yield call.effect("persistence", "medium", f"{key} = {value.text}", why="git talks to another address later")
    elif (_RUNS.match(key + "=") and value.text not in _HARMLESS) or (key[:6] == "alias." and value.prefix[:1] == "!"):
        yield call.effect("persistence", "medium", f"{key} = {value.text}", why="git runs it later by itself")
        yield from call.shell(cut(value, 1) if value.prefix.startswith("!") else value)


_Function: TypeAlias = Callable[[ProgramCall, GivenOptions, _Settings], Iterator[Effect]]
_SUB: Final[Mapping[str, tuple[str, _Function]]] = MappingProxyType({
    "clean": ("d f,force n,dry-run i,interactive q,quiet x X e:,exclude: ,no-force ,no-dry-run", _clean),
    "checkout": ("q,quiet f,force b: B: t ,track? l m,merge p,patch d,detach U:,unified: ,inter-hunk-context: ,orphan: ,conflict: ,ours ,theirs ,guess ,no-guess ,progress ,overlay ,no-overlay ,no-track ,pathspec-from-file: ,pathspec-file-nul ,recurse-submodules? ,no-recurse-submodules ,ignore-skip-worktree-bits ,ignore-other-worktrees ,no-quiet", _checkout),
    "push": ("f,force? ,force-with-lease? ,force-if-includes ,no-force-with-lease ,no-force d,delete ,mirror ,prune ,all ,branches ,tags ,follow-tags n,dry-run u,set-upstream q,quiet v,verbose ,no-verify ,verify ,atomic ,porcelain o:,push-option: ,receive-pack:,exec: ,repo: ,thin ,signed? ,recurse-submodules? ,progress 4 6", _push),
    "rm": ("r f,force n,dry-run q,quiet ,cached ,ignore-unmatch ,pathspec-from-file:", _rm),
    "submodule": ("q,quiet f,force ,all ,recursive ,init ,remote b: ,name: ,depth: j:,jobs:", _foreach),
    "bisect": (",term-new: ,term-old: ,no-checkout ,first-parent", _bisect),
    "config": (",global ,local ,system ,worktree f:,file: ,blob: ,get ,get-all ,get-regexp ,list l ,unset ,unset-all ,add ,replace-all ,type: ,bool ,int ,path e,edit z ,name-only ,show-origin ,show-scope ,default:", _config),
})  # fmt: skip


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType(dict.fromkeys(("git", "hub"), _git))
