"""The verdict on a call of an agent's own tools: files that it reads or edits, addresses that it fetches, MCP tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final, cast

from hookline.guard.effects import Effect, Harm
from hookline.guard.paths import KnownPlaces, expand_home, locate_path
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.policy import READY, Policy
from hookline.guard.sensitive import CREDENTIAL, SECRET_VARIABLE, edit_kind, secret_harm
from hookline.guard.verdict import Surroundings, Verdict, decide, here, judge

_SHELLS: Final = words("Bash Shell run_shell_command shell local_shell exec_command bash")
_WRITES: Final = words("Write Edit MultiEdit NotebookEdit apply_patch write_file replace create_file")
_READS: Final = words("Read NotebookRead Grep Glob LS read_file read_many_files search_file_content")
_LISTS: Final = frozenset({"Glob", "LS", "list_directory"})
_FETCHES: Final = frozenset({"WebFetch", "web_fetch", "WebSearch", "fetch"})
_PATH_FIELDS: Final = ("file_path", "path", "notebook_path", "absolute_path", "filename", "target_file", "paths", "file_paths")  # fmt: skip
_PATCHED: Final = lazy_pattern(
    r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$|^(?:---|\+\+\+) [ab]/(.+)$"
)
_PRIVATE: Final = lazy_pattern(
    r"(?i)^(file:|ftp:)|//(localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[::1\]|metadata\.google)"
)
_MCP_WRITES: Final = lazy_pattern(r"(?i)(^|_)(write|edit|create|update|move|append|patch|save|put)(_|$|[A-Z])")
_MCP_DELETES: Final = lazy_pattern(r"(?i)(^|_)(delete|remove|drop|destroy|purge|truncate|wipe|kill|terminate)")
_MCP_SENDS: Final = lazy_pattern(r"(?i)(^|_)(send|post|upload|publish|share|email|comment|submit)")
_MCP_RUNS: Final = lazy_pattern(
    r"(?i)(^|_)(run|exec|execute|shell|bash|sh|terminal|command|cmd|process|spawn|start)(_|$|[A-Z])"
)
_LONG_QUERY = 400
_ADDRESSES: Final = ("url", "urls", "uri", "endpoint", "href", "link", "address", "prompt", "query")
_BODIES: Final = ("body", "data", "params", "payload", "json")
#: A parameter that by its name is a secret, or a key; what stands for one in a manual is none.
_NAMED: Final = lazy_pattern(
    r"(?i)(?:^|[?&;#])[\w.-]*?(?:(passw(?:or)?d|pwd|secret|private_?key|credentials?)|(?:api|access|auth)[_-]?(?:key|token)|token|key)=(?!your|x{3}|example|test|<|\{|\$|%7b|%3c)[^&#\s]{8,}"
)
_PASSWORD: Final = lazy_pattern(r"^\w+://[^/\s:@]+:[^/\s@]{3,}@")
#: An address that was signed for one download is meant to be passed on.
_SIGNED: Final = lazy_pattern(r"(?i)[?&](X-Amz-Signature|X-Goog-Signature|sig|Signature)=")
_SETS_SECRET: Final = lazy_pattern(r"(?i)(token|secret|passw\w*|api_?key|access_?key|private_?key)\w*\s*[=:]\s*\S")
_ENCODED: Final = lazy_pattern(r"[A-Za-z0-9+/_-]{24,}={0,2}")


def judge_tool(
    tool_name: str,
    tool_input: Mapping[str, Any],
    *,
    policy: Policy | str = "standard",
    around: Surroundings | None = None,
    today: date | None = None,
) -> Verdict:
    """What a policy says to a tool call, by its canonical name and input; a shell's command is judged by ``judge``."""
    around = around or here()
    policy = READY[policy] if isinstance(policy, str) else policy
    command = tool_input.get("command")
    is_argv = isinstance(command, list) and all(isinstance(word, str) for word in command)
    if tool_name in _SHELLS and (isinstance(command, str) or is_argv):
        text = command if isinstance(command, str) else _joined(command)
        return judge(text, policy=policy, around=around, today=today)
    effects = tuple(dict.fromkeys(_effects(tool_name, tool_input, around.places())))
    for text in _commands(tool_name, tool_input):
        effects += judge(text, policy=policy, around=around, today=today).effects
    grant = policy.allow_read_only and tool_name in _READS and all(one.harm == "low" for one in effects)
    return decide(effects, policy, around.home, command=tool_name, today=today, grant=grant)


def _joined(command: Any) -> str:
    """An argv as a line of shell: ``["bash", "-lc", "…"]``."""
    from shlex import quote

    return " ".join(quote(str(word)) for word in command) if isinstance(command, (list, tuple)) else str(command)


def _commands(tool: str, values: Mapping[str, Any]) -> Iterator[str]:
    """What an MCP server is told to run, and what is deleted, as commands of a shell."""
    verb = tool.rpartition("__")[2]
    if not tool.startswith("mcp__") and tool != "Delete":
        return
    for name in ("command", "cmd", "script", "shell_command", "commandLine", "argv", "args"):
        if values.get(name) and _MCP_RUNS.search(verb):
            yield values[name] if isinstance(values[name], str) else _joined(values[name])
    if _MCP_DELETES.search(verb):
        yield from (_joined(["rm", "-rf", "--", path]) for path in _paths(values))


def _effects(tool: str, values: Mapping[str, Any], places: KnownPlaces) -> Iterator[Effect]:
    if tool in _SHELLS or not tool:
        yield _effect(tool or "a call of no tool", "unknown", "high", "its input", why="no command can be read in it")
    elif tool in _WRITES:
        paths = [*_paths(values), *_patched(values)]
        for path in paths:
            yield from _edit(path, places, tool)
        if not paths:
            yield _effect(tool, "unknown", "high", "its input", why="no file can be read in it")
    elif tool in _READS:
        for path in _paths(values) if tool not in _LISTS else ():
            yield from _look(path, places, tool)
    elif tool in _FETCHES:
        yield from _fetch(values, tool)
    elif tool.startswith("mcp__"):
        yield from _served(tool, values, places)


def _paths(values: Mapping[str, Any]) -> Iterator[str]:
    for name in _PATH_FIELDS:
        found = values.get(name)
        for path in found if isinstance(found, list) else [found]:
            if isinstance(path, str) and path:
                yield path


def _patched(values: Mapping[str, Any]) -> Iterator[str]:
    for name in ("patch", "input", "command", "diff"):
        text = values.get(name)
        if isinstance(text, list):
            text = "\n".join(str(part) for part in text)
        if isinstance(text, str):
            for found in _PATCHED.finditer(text):
                yield next(group for group in found.groups() if group).strip()


def _effect(tool: str, kind: str, harm: Harm, what: str, *, where: str = "", why: str = "") -> Effect:
    return Effect(kind=kind, harm=harm, what=what[:200], where=where, why=why, cause=tool)


def _edit(path: str, places: KnownPlaces, tool: str) -> Iterator[Effect]:
    place = locate_path(expand_home(path, places.home), places, places.cwd, follow=True)
    special = edit_kind(place.path)
    if special is not None:
        kind, harm, why = special
        yield _effect(tool, kind, harm, path, where=place.name, why=why)
    elif secret_harm(place.path):
        yield _effect(tool, "secret", "medium", path, where=place.name, why="it holds credentials")
    elif place.name in {"system", "root", "device"}:
        yield _effect(tool, "overwrite", "high", path, where=place.name, why="the system depends on it")
    elif place.outside:
        yield _effect(tool, "overwrite", "medium", path, where=place.name, why="it is outside the project")
    else:
        yield _effect(tool, "overwrite", "low", path, where=place.name)


def _look(path: str, places: KnownPlaces, tool: str) -> Iterator[Effect]:
    place = locate_path(expand_home(path, places.home), places, places.cwd, follow=True)
    harm = secret_harm(place.path)
    if harm:
        yield _effect(tool, "secret", harm, path, where=place.name, why="it holds credentials")


def _fetch(values: Mapping[str, Any], tool: str) -> Iterator[Effect]:
    for name in _ADDRESSES:
        found = values.get(name)
        for url in found if isinstance(found, list) else [found]:
            if isinstance(url, str):
                yield from _address(url, tool)
    if any(isinstance(values.get(name), str) for name in _ADDRESSES[:7]):
        for body in (values[name] for name in _BODIES if name in values):
            if leak := _leak(body if isinstance(body, str) else repr(body)):
                yield _effect(tool, "send", leak[0], str(values.get("url", "")), where="network", why=leak[1])


def _leak(text: str) -> tuple[Harm, str] | None:
    """A credential in what is sent: by its form, hidden in an encoding, or by the name of its parameter."""
    from urllib.parse import unquote_plus  # few calls need these two

    plain = unquote_plus(text)
    if CREDENTIAL.search(plain):
        return "high", "a credential leaves the machine"
    if any(_tells(one[0]) for one in _ENCODED.finditer(plain)):
        return "high", "a credential leaves the machine in an encoding"
    if (found := _NAMED.search(text)) and not _SIGNED.search(text):
        named = "high" if found[1] else "medium"
        return cast("Harm", named), "a parameter that by its name is a secret leaves the machine"
    return ("medium", "a password leaves the machine") if _PASSWORD.search(text) else None


def _tells(text: str) -> bool:
    from base64 import b64decode

    try:
        plain = b64decode(
            text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), b"-_" if set(text) & {"-", "_"} else None
        )
    except ValueError:
        return False
    found = plain.decode("ascii", "replace")
    return "\ufffd" not in found and bool(CREDENTIAL.search(found) or _SETS_SECRET.search(found))


def _address(url: str, tool: str) -> Iterator[Effect]:
    if re.match(r"(?i)file:", url) and secret_harm(url.partition("://")[2]):
        yield _effect(tool, "secret", "high", url, why="it holds credentials")
    elif "169.254.169.254" in url or "metadata.google" in url:
        yield _effect(tool, "secret", "high", url, where="network", why="the cloud hands out credentials there")
    elif _PRIVATE.search(url):
        yield _effect(tool, "send", "low", url, where="network")
    elif leak := _leak(url):
        yield _effect(tool, "send", leak[0], url, where="network", why=leak[1])
    elif "://" in url and len(url.partition("?")[2]) > _LONG_QUERY:
        yield _effect(tool, "send", "medium", url, where="network", why="the address carries much data")
    if SECRET_VARIABLE.search(url):
        why = "a variable that by its name is a secret leaves the machine"
        yield _effect(tool, "send", "medium", url, where="network", why=why)


def _served(tool: str, values: Mapping[str, Any], places: KnownPlaces) -> Iterator[Effect]:
    """A tool of an MCP server, by the verb in its name and the paths and addresses in its input."""
    verb = tool.rpartition("__")[2]
    changes = _MCP_WRITES.search(verb)
    for path in _paths(values):
        yield from _edit(path, places, tool) if changes else _look(path, places, tool)
    yield from _fetch(values, tool)
    for name in ("sql", "query", "statement"):
        text = values.get(name)
        if isinstance(text, str) and re.search(
            r"(?i)\b(drop\s+(table|database|schema)|truncate\s|delete\s+from\s+\S+\s*;?\s*$)", text
        ):
            yield _effect(tool, "database", "high", text, why="data are deleted for good")
    if _MCP_DELETES.search(verb) and not any(True for _ in _paths(values)):
        yield _effect(tool, "infrastructure", "medium", verb, where="remote", why="something elsewhere is deleted")
    elif _MCP_SENDS.search(verb):
        yield _effect(tool, "send", "medium", verb, where="remote", why="others can see it")
