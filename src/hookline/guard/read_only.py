"""Commands that provably only read: nothing is written, sent, started or changed, and no secret is shown.

The proof is by lists of what is known to read (``read_only_table``) and by small readers of the few programs whose
arguments are programs themselves. What is not on a list is not granted, however harmless it looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hookline.guard.call import ProgramCall, Scene
from hookline.guard.effects import Effect
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.read_only_lists import is_listed, listing
from hookline.guard.read_only_programs import SPECIAL
from hookline.guard.reading import Invocation, Reading, Word
from hookline.guard.sensitive import RISKY_VARIABLES

_HELP: Final = frozenset({"--help", "--version"})
_BUILTINS: Final = words(
    "cd pwd echo printf true false test [ : type hash export local declare typeset unset set shift read wait pushd popd dirs umask times"
)


#: Variables that no program takes a command, a file or an address from.
_SAFE: Final = lazy_pattern(
    r"LC_\w+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR(_FORCE)?|TERM|COLUMNS|LINES|AWS_(PROFILE|REGION|DEFAULT_REGION|DEFAULT_OUTPUT)|CI|DEBUG|VERBOSE|QUIET"
)


def only_reads(reading: Reading, scene: Scene, effects: Iterable[Effect]) -> bool:
    """Every program that the command starts only reads, all of it is known, and no effect is worth a look."""
    if reading.doubts or reading.bombs or not reading.invocations:
        return False
    if any(one.harm != "low" or one.kind in {"overwrite", "delete", "move", "unknown"} for one in effects):
        return False
    return programs_read(reading.invocations, scene, proof=True)


def programs_read(programs: Iterable[Invocation], scene: Scene, *, proof: bool = False) -> bool:
    """These programs only read, whatever started them. For a proof, their variables must be known to be harmless."""
    known = tuple(programs)
    inner = {name for one in known for name in one.wrappers}
    return bool(known) and all(_reads(ProgramCall(invocation=one, scene=scene), inner, proof=proof) for one in known)


def _reads(call: ProgramCall, inner: set[str], *, proof: bool) -> bool:
    one = call.invocation
    if not all(_harmless_redirect(redirect.operator, redirect.target) for redirect in one.redirects):
        return False
    found = listing(call.name)
    plain = not proof or (found is not None and found.everything)
    if any(RISKY_VARIABLES.fullmatch(name) or not (plain or _SAFE.fullmatch(name)) for name, _ in one.environment):
        return False
    if not one.argv:
        return True
    if one.argv[0].sources or _OWN_PROGRAM.match(one.argv[0].text):  # named by another program, or anybody's file
        return False
    return bool(call.name) and _program_reads(call, inner)


def _harmless_redirect(operator: str, target: Word) -> bool:
    if operator == "<":
        return target.known and not target.prefix.startswith(("/dev/tcp", "/dev/udp"))
    return target.text in {"/dev/null", "/dev/stdout", "/dev/stderr"}


def _program_reads(call: ProgramCall, inner: set[str]) -> bool:
    name, found = call.name, listing(call.name)
    if found is not None and found.version and _only_shows(name, call.texts, commands=bool(found.paths)):
        return True
    if name in _BUILTINS:
        return _builtin(name, call)
    special = SPECIAL.get(name)
    return special(call, name in inner) if special is not None else is_listed(call, name, name in inner)


def _only_shows(name: str, texts: tuple[str, ...], *, commands: bool) -> bool:
    """``program --version``, and ``program group --help``; as words only where they are sub-commands."""
    if texts[:1] in {("--help",), ("--version",)} and len(texts) == 1:
        return True
    words = commands or name in {"aws", "gcloud", "az", "docker-compose", "podman-compose", "deno", "rtk", "wget"}
    if len(texts) == 1:
        return (texts[0] in {"-V", "-h", "-version", "-help"} and name not in _OPEN) or (
            words and texts[0] in {"-v", "help", "version"}
        )
    plain = not any(text.startswith("-") for text in texts[:-1])
    return words and plain and 1 < len(texts) <= 4 and texts[-1] in {"--help", "-h"} and name != "uv"


#: Programs that do something else with a single short option.
_OPEN: Final = words(
    "bash zsh fish sh python python2 python3 vim nvim nano emacs code make pytest node nodejs deno bun java tar xargs env find awk sed"
)


#: A path to a program that is not where a system keeps them.
_OWN_PROGRAM: Final = lazy_pattern(r"(?!/(usr/(local/)?|opt/homebrew/)?s?bin/[^/]+$).*/")
#: A subscript that is evaluated, with what stands in it.
_SUBSCRIPT: Final = lazy_pattern(r"\w\[.*(\$\(|`|\[)")


def _builtin(name: str, call: ProgramCall) -> bool:
    if (name not in {"echo", "printf"} or "-v" in call.texts) and any(_SUBSCRIPT.search(text) for text in call.texts):
        return False
    if name == "printf" and call.texts[:1] == ("-v",):
        return not RISKY_VARIABLES.fullmatch((*call.texts, "")[1])
    if name in {"export", "declare", "typeset", "local", "unset", "read"}:
        return not any(RISKY_VARIABLES.fullmatch(text.partition("=")[0]) for text in call.texts)
    return name != "hash" or "-p" not in call.texts
