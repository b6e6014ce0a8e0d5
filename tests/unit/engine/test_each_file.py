"""A call on several files: a hook that reads one ``file_path`` is asked about each of them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from hookline import Engine
from hookline.core.event import Event
from hookline.core.hook import Command, FieldTest, Matcher, Pattern, Prompt
from hookline.core.result import Decision, TimedOut
from hookline.core.tool_names import tool_fields
from hookline.testing import FakeCrew, hook_spec

PATCH = "*** Begin Patch\n*** Add File: a.py\n+one\n*** Update File: .env\n-old\n+two\n*** End Patch\n"
DATA = {"tool_input": {}, **tool_fields("apply_patch", {"command": PATCH}, "/w"), "cwd": "/w"}


def fired(*specs: Any, **fields: Any) -> Decision:
    decision = Engine(specs=specs, **fields).fire_sync("PreToolUse", DATA)
    again = asyncio.run(Engine(specs=specs, **fields).fire("PreToolUse", DATA))
    assert (decision.effect, decision.reason, decision.granted) == (again.effect, again.reason, again.granted)
    return decision


def test_it_is_asked_about_each_file_side_by_side() -> None:
    seen: list[Any] = []
    together = threading.Barrier(2, timeout=60)

    def judge(event: Event) -> Any:
        together.wait()
        seen.append((event.data["tool_input"]["file_path"], event.data["tool_input"]["content"]))

    Engine(specs=(hook_spec("guard", judge),)).fire_sync("PreToolUse", DATA)
    assert sorted(seen) == [("/w/.env", "two"), ("/w/a.py", "one")]


def test_one_deny_refuses_the_whole_call() -> None:
    def judge(event: Event) -> Any:
        path = event.data["tool_input"]["file_path"]
        return {"effect": "deny", "reason": f"not {path}"} if path.endswith(".env") else {"effect": "allow"}

    decision = fired(hook_spec("guard", judge))
    assert (decision.effect, decision.reason, len(decision.outcomes)) == ("deny", "not /w/.env", 1)


def test_only_an_allow_for_all_of_them_is_one() -> None:
    assert fired(hook_spec("guard", lambda _event: {"effect": "allow"})).granted

    def judge(event: Event) -> Any:
        return {"effect": "allow"} if event.data["tool_input"]["file_path"] == "/w/a.py" else None

    assert not fired(hook_spec("guard", judge)).granted


def test_a_rewrite_of_one_of_them_is_a_deny_that_says_so() -> None:
    decision = fired(
        hook_spec("guard", lambda event: {"data": {"tool_input": {**event.data["tool_input"], "content": "x"}}})
    )
    assert (decision.effect, "one of several files" in decision.reason) == ("deny", True)


def test_a_failure_for_one_of_them_is_a_failure() -> None:
    def judge(event: Event) -> Any:
        if event.data["tool_input"]["file_path"] == "/w/.env":
            raise ValueError("broken")

    assert fired(hook_spec("guard", judge, on_failure="deny")).reason.startswith("hook failed: ")


def test_their_texts_are_told_once() -> None:
    decision = fired(hook_spec("guard", lambda _event: {"context": "mind", "message": "hello"}))
    assert [one.context.text for one in decision.context] == ["mind"]
    assert [one.text for one in decision.messages] == ["hello"]


def test_a_pattern_on_the_path_chooses_the_files() -> None:
    seen: list[str] = []
    test = FieldTest(path="tool_input.file_path", pattern=Pattern(style="search across lines", text=r"\.env$"))
    judge = hook_spec(
        "guard", lambda event: seen.append(event.data["tool_input"]["file_path"]), matcher=Matcher(fields=(test,))
    )
    Engine(specs=(judge,)).fire_sync("PreToolUse", DATA)
    assert seen == ["/w/.env"]
    allows = hook_spec("guard", lambda _event: {"effect": "allow"}, matcher=Matcher(fields=(test,)))
    assert not fired(allows).granted  # nobody asked about the other file


def test_a_model_is_given_all_of_it_once() -> None:
    crew = FakeCrew()
    Engine(specs=(hook_spec("guard", action=Prompt(text="x")),), crew=crew).fire_sync("PreToolUse", DATA)
    assert crew.runner.names == ["guard"]


def test_they_share_one_deadline() -> None:
    many = "".join(f"*** Delete File: {number}\n" for number in range(100))
    data = {**tool_fields("apply_patch", {"command": many}, "/w"), "cwd": "/w"}
    spec = hook_spec("slow", action=Command(form="argv", argv=("/bin/sleep", "60")), timeout=1.0, on_failure="deny")
    decision = Engine(specs=(spec,)).fire_sync("PreToolUse", data)
    assert (decision.effect, type(decision.outcomes[0])) == ("deny", TimedOut)
    assert decision.outcomes[0].ms < 45_000
