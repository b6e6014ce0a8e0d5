"""Processes that are killed, rights that are gained, and agents without their hooks; the rest is in ``tables``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect
from hookline.guard.options import parse_options
from hookline.guard.pattern import lazy_pattern, words

_GUARDIAN = lazy_pattern(r"(?i)hookline|\bnah\b|\bdcg\b|shguard|safety-net")
_SIGNAL = re.compile(r"-(\d+|(SIG)?[A-Z]{3,}\d*)")


def _kill(call: ProgramCall) -> Iterator[Effect]:
    options = parse_options(
        [word for word in call.words if not _SIGNAL.fullmatch(word.text)],
        "s:,signal: n: l,list? L q: p f,full x,exact u:,euid:,user: U: g: P: G: t: n,newest o,oldest i I e v w,wait r,regexp a k",
    )
    if options.any("list", "L") or options.informs or (call.name == "fuser" and "k" not in options):
        return
    names = " ".join(word.text for word in options.operands)
    asked = [*call.invocation.upstream, *(one for word in options.operands for one in word.sources)]
    found = " ".join(word.text for one in asked for word in one.argv)  # kill $(pgrep …)
    everything = call.name == "kill" and (
        any(word.text == "-1" for word in call.words[1:]) or re.search(r"(^| )-?1( |$)", names)
    )
    if _GUARDIAN.search(f"{names} {found}"):
        yield call.effect("guard", "critical", names, why="it stops the guard of this machine")
    elif everything:
        yield call.effect("process", "critical", names, why="it kills every process, or the first one")
    elif any(
        one.name == "pgrep" and {"-u", "-U", "--euid", "--uid"} & {word.text for word in one.argv} for one in asked
    ):
        yield call.effect("process", "high", found, why="it kills all processes of a user")
    elif call.name in {"pkill", "killall", "killall5"}:
        wide = options.any("euid", "U", "regexp") or names in {".", ".*", ""} or call.name == "killall5"
        yield call.effect("process", "high" if wide else "medium", names, why="it kills all processes of that name")
    else:
        yield call.effect("process", "low", names)


_ASKS_SUDO: Final = words("-l --list -v -k -K -V --version -h --help --validate")


def _gain(call: ProgramCall) -> Iterator[Effect]:
    """sudo and its like; what they start is an invocation of its own."""
    if call.name in {"sudo", "doas"} and set(call.texts) & _ASKS_SUDO:
        return
    starts = any(not text.startswith("-") for text in call.texts) or {"-i", "-s"} & set(call.texts)
    if starts or call.name in {"su", "pkexec"}:
        what = " ".join(call.texts[:3])
        yield call.effect("privilege", "medium", what, why="it runs with the rights of another user")


_LOOSE: Final = words(
    "--safe-mode --pure --bare --no-hooks --disable-hooks --dangerously-skip-permissions --yolo --allow-all-tools --dangerously-bypass-approvals-and-sandbox --full-auto --permission-mode=bypassPermissions"
)


def _agent(call: ProgramCall) -> Iterator[Effect]:
    found = sorted(set(call.texts) & _LOOSE)
    if found and not set(call.texts) & {"-h", "--help", "--version"}:
        why = "an agent without its hooks or without asking has no guard"
        yield call.effect("guard", "high", " ".join(found), why=why)


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType({
    **dict.fromkeys(words("kill pkill killall killall5 skill xkill fuser"), _kill),
    **dict.fromkeys(words("sudo doas su pkexec runuser gosu su-exec run0 runas sudoedit"), _gain),
    **dict.fromkeys(words("claude opencode codex gemini qwen copilot letta cursor-agent amp droid"), _agent),
})  # fmt: skip
