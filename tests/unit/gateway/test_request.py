"""What an agent sends is parsed, or refused with what is wrong and where."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hookline.core.errors import DataError, UsageError
from hookline.core.event import GUARDED
from hookline.core.paths import Directories, find_paths
from hookline.dialects import dialect_named
from hookline.gateway.dedupe import Key
from hookline.gateway.handler import with_deadline
from hookline.gateway.request import (
    HookArguments,
    arguments_from,
    bare_event,
    dedupe_key,
    parse_arguments,
    parse_request,
)

from .conftest import Gate


def parse(stdin: bytes, **arguments: Any) -> Any:
    given: dict[str, Any] = {"agent": "claude-code", **arguments}
    return parse_request(HookArguments(**given), stdin, {"HOME": "/nowhere"}, "/here")


@pytest.mark.parametrize(
    ("stdin", "finding"),
    [
        (b"", "not JSON: Expecting value at line 1, column 1"),
        (b"{", "not JSON"),
        (b"[]", "must be a JSON object"),
        (b'"text"', "must be a JSON object"),
        (b"\xff{}", "not UTF-8: invalid start byte at byte 0"),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number that is too long"),
        (b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
        (b'{"a": 1} x', "not JSON: Extra data"),
    ],
)
def test_a_payload_that_cannot_be_read_says_what_is_wrong(stdin: bytes, finding: str) -> None:
    with pytest.raises(DataError, match=finding):
        parse(stdin)


def test_numbers_that_are_not_json_become_null() -> None:
    assert parse(b'{"hook_event_name": "Stop", "x": NaN, "y": -Infinity}').payload == {
        "hook_event_name": "Stop", "x": None, "y": None,
    }  # fmt: skip


@pytest.mark.parametrize("field", ["hook_event_name", "event_type", "event", "hookEventName"])
def test_an_event_is_named_by_any_field_that_agents_use(field: str) -> None:
    assert parse(f'{{"{field}": "Stop"}}'.encode()).event_name == "Stop"


def test_an_event_that_nobody_names_is_wrong_usage_and_says_what_to_add() -> None:
    with pytest.raises(UsageError, match="add --event NAME"):
        parse(b"{}")


def test_the_registrations_event_counts_before_the_payloads() -> None:
    assert parse(b'{"hook_event_name": "Stop"}', event="SessionEnd").event_name == "SessionEnd"


@pytest.mark.parametrize(("sent", "cwd"), [("/work", "/work"), ("sub", "/here/sub"), ("", "/here")])
def test_hooks_are_looked_up_where_the_agent_works_and_else_where_the_caller_is(sent: str, cwd: str) -> None:
    assert parse(f'{{"hook_event_name": "Stop", "cwd": "{sent}"}}'.encode()).cwd == cwd


def test_a_guest_with_its_own_payload_is_known_though_it_calls_under_another_name() -> None:
    own = parse(b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "session_id": "s"}')
    guest = parse(
        b'{"hookName": "preToolUse", "sessionId": "s", "toolName": "bash", "toolArgs": "{}"}', event="PreToolUse"
    )
    assert (own.dialect.name, guest.dialect.name) == ("claude", "copilot")


@pytest.mark.parametrize(("deadline", "left"), [(4.0, 3.0), (50.0, 45.0)])
def test_a_part_of_the_deadline_is_kept_for_the_answer(gate: Gate, deadline: float, left: float) -> None:
    before = time.monotonic()
    until = with_deadline(gate.ask(deadline=deadline), gate.runtime()).until
    assert before + left <= until <= time.monotonic() + left


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--agent", "codex"], HookArguments(agent="codex")),
        (["--agent=codex", "--on-failure", "deny"], HookArguments(agent="codex", fail_closed=True)),
        (["--agent", "codex", "--deadline", "7.5"], HookArguments(agent="codex", deadline=7.5)),
        (["--agent", "codex", "--config", "a", "--config=b"], HookArguments(agent="codex", config=("a", "b"))),
        (["--agent", "codex", "--registration", "user/codex"], HookArguments(agent="codex", registration="user/codex")),
        (["--event", "Stop"], None),
        (["--agent", "codex", "--on-failure", "maybe"], None),
        (["--agent", "codex", "--help"], None),
    ],
)
def test_plain_words_need_no_parser_and_others_are_left_to_it(words: list[str], expected: HookArguments | None) -> None:
    assert parse_arguments(words) == expected


@pytest.mark.parametrize("said", ["", "soon", "nan", "-1", "0"])
def test_a_deadline_that_is_none_is_no_deadline(said: str) -> None:
    args = SimpleNamespace(
        agent="a", event="", dialect=None, config=[], registration="", deadline=said, on_failure="ignore"
    )
    assert arguments_from(args).deadline == 0.0


def test_the_same_event_through_two_registrations_has_one_key(gate: Gate) -> None:
    user, project = gate.ask(registration="user/claude-code"), gate.ask(registration="project/claude-code")
    assert dedupe_key(user) == dedupe_key(project)


@pytest.mark.parametrize(
    ("payload", "arguments"),
    [
        ({"tool_use_id": "toolu_2"}, {}),
        ({"session_id": "other"}, {}),
        ({"cwd": "/other"}, {}),
        ({}, {"config": ("other.toml",)}),
        ({}, {"dialect": "letta"}),
    ],
)
def test_another_call_session_place_or_file_is_another_event(gate: Gate, payload: Any, arguments: Any) -> None:
    assert dedupe_key(gate.ask()) != dedupe_key(gate.ask(payload=payload, **arguments))


class TwoHomes:
    """HOME is not the account's: the user's entry names its directories, and the project's looks in both."""

    def __init__(self, base: Path) -> None:
        self.named, self.account = (self._directories(base / name) for name in ("home", "account"))
        self.named_by_another = self._directories(base / "evil")

    @staticmethod
    def _directories(home: Path) -> Directories:
        home.mkdir()
        return Directories(home=str(home), paths=find_paths({}, str(home)))

    def key(self, *found: Directories, entry: Directories | None = None, environ: dict[str, str] | None = None) -> Key:
        arguments = HookArguments(agent="claude-code", registration="r", directories=entry)
        sent = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t", "session_id": "s"})
        around = {"HOME": self.named.home} if environ is None else environ
        return dedupe_key(parse_request(arguments, sent.encode(), around, "/work", lambda _cwd, _environ: found))

    @property
    def users(self) -> Key:
        return self.key(entry=self.named)

    @property
    def projects(self) -> Key:
        return self.key(self.named, self.account)


@pytest.fixture
def homes(tmp_path: Path) -> TwoHomes:
    return TwoHomes(tmp_path)


def test_an_entry_that_names_its_directories_and_one_that_does_not_are_one_events(homes: TwoHomes) -> None:
    assert homes.users == homes.projects


@pytest.mark.parametrize("file", ["config/hookline.toml", "config/config.toml", "config/../lazy-harness/config.toml",
    "state/trust.json", "state/own-guards.json"])  # fmt: skip
def test_a_decision_is_not_repeated_where_the_account_may_have_a_further_guard(homes: TwoHomes, file: str) -> None:
    """Else a project's hand-made call that leaves the account's guards out would decide for one that asks them."""
    folder, _, name = file.partition("/")
    place = Path(getattr(homes.account.paths, folder), name)
    place.parent.mkdir(parents=True)
    place.write_text("")
    assert homes.users != homes.projects


def test_a_directory_that_cannot_be_looked_into_may_hold_guards(
    homes: TwoHomes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str) -> None:
        raise PermissionError(path)

    monkeypatch.setattr("hookline.gateway.request.os.lstat", refused)
    assert homes.users != homes.projects


def test_another_home_or_variable_is_another_event(homes: TwoHomes) -> None:
    """What a repository's settings or a call by hand can change."""
    assert homes.users != homes.key(homes.named_by_another, homes.account)
    assert homes.users != homes.key(entry=homes.named_by_another)
    assert homes.users != homes.key(homes.named, environ={"HOME": homes.named.home, "NOT_NOW": "1"})


def test_the_bare_event_is_the_one_that_came(gate: Gate) -> None:
    request = gate.ask()
    event = bare_event(request)
    assert (event.kind.name, event.session, event.agent, event.cwd) == ("PreToolUse", "s", "claude-code", "/work")
    assert event.native == request.payload


def test_an_event_that_nobody_knows_is_the_one_of_the_registration(gate: Gate) -> None:
    arguments = HookArguments(agent="gemini-cli", event="BeforeTool")
    sent = b'{"hook_event_name": "PreToolUse", "tool_name": "Bash"}'
    request = parse_request(
        arguments, sent, {}, "/", lambda _cwd, _environ: (Directories(home="/home", paths=gate.paths),)
    )
    assert request.incoming.event == "PreToolUse"


@pytest.mark.parametrize("cwd", ["\0", "a\0b", "\ud800"])
def test_a_directory_that_no_file_system_has_is_the_callers(gate: Gate, cwd: str) -> None:
    assert gate.ask(payload={"cwd": cwd}).cwd == "/elsewhere"


@pytest.mark.parametrize(
    ("agent", "folder", "variables"),
    [
        ("cursor", "by-document/cursor", {}),
        ("vscode", "by-document/vscode", {}),
        ("copilot-cli", "copilot-pascal", {"COPILOT_HOOK_DIR": ""}),
        ("grok-build", "grok", {"GROK_HOOK_NAME": "global/settings:pre_tool_use[0].hooks[0]"}),
    ],
)
def test_an_event_through_an_agents_own_file_and_through_claude_codes_is_one(
    agent: str, folder: str, variables: dict[str, str]
) -> None:
    """Some name the entry that they run in a variable."""
    seen = 0
    for file in sorted((Path(__file__).parents[2] / "payloads" / folder).glob("*.json")):
        payload = file.read_bytes()
        native = dialect_named(agent).event_in("", json.loads(payload), {})
        if native.event in GUARDED:
            own, other = HookArguments(agent=agent), HookArguments(agent="claude-code", event=native.event)
            keys = [
                dedupe_key(parse_request(one, payload, around, "/"))
                for one, around in ((own, dict.fromkeys(variables, "own")), (other, variables))
            ]
            assert keys[0] == keys[1], file
            seen += 1
    assert seen > 1
