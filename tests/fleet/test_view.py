"""``hookline web --fleet``: who is on call answers in the browser, and sees what the records of all machines tell."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.broker import Broker, needs_broker
from tests.fleet.test_answers import Machine, machine
from tests.patience import eventually
from tests.web.client import Client
from tests.web.conftest import Web, chromium, place, start

from hookline.fleet.connection import connection
from hookline.fleet.sink import Parquet, Received
from hookline.fleet.streams import ensure_team
from hookline.fleet.subjects import RECORDS, record_subject
from hookline.fleet.view import FleetView, summarize

pytestmark = needs_broker
__all__ = ["chromium", "machine", "place"]


def record(number: int, name: str, hooks: tuple[str, ...] = ("guard",), effect: str = "allow") -> dict[str, Any]:
    outcomes = [{"hook": hook, "status": "replied", "effect": effect, "ms": 1.0} for hook in hooks]
    return {
        "machine": name, "source": "u0", "id": f"e{number}", "time": time.time() - 60, "event": "PreToolUse",
        "agent": "claude-code", "effect": effect, "reason": "not here" if effect == "deny" else "", "ms": float(number),
        "outcomes": outcomes,
    }  # fmt: skip


RECORDED = [record(1, "m1"), record(2, "m1", effect="deny"), record(3, "m2", ("other",)), record(4, "m2", ("other",))]


def test_what_records_tell_of_machines_and_silent_guards() -> None:
    found = summarize(RECORDED)
    assert [(one["name"], one["events"], one["refused"]) for one in found["by_machine"]] == [("m1", 2, 1), ("m2", 2, 0)]
    assert {one["name"]: one["silent"] for one in found["guards"]} == {"guard": ["m2"], "other": ["m1"]}
    (refused,) = found["refusals"]
    assert (refused["machine"], refused["hook"], refused["reason"]) == ("m1", "guard", "not here")


def test_the_folder_of_a_sink_is_read_and_read_on(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    target = Parquet(str(tmp_path / "sink"))
    view = FleetView(str(tmp_path / "sink"), None, str(tmp_path), lambda: None)
    for at, one in enumerate(RECORDED):
        target.write([Received(stream="s", sequence=at + 1, received="", record=one)])
        assert sum(row["events"] for row in view.overview(7)["by_machine"]) == at + 1


async def _publish(broker: Broker) -> None:
    async with connection(broker.admin()) as client:
        stream = client.jetstream()
        await ensure_team(stream, 1)
        for one in RECORDED:
            headers = {"Nats-Msg-Id": f"{one['id']}@{one['machine']}"}
            subject = record_subject(one["machine"], one["source"])
            await stream.publish(subject, json.dumps(one).encode(), stream=RECORDS, headers=headers)


@pytest.fixture
def view(broker: Broker, place: tuple[Path, Path], tmp_path: Path) -> Generator[Web]:
    with ThreadPoolExecutor() as threads:  # the browser's loop runs in this thread
        threads.submit(lambda: asyncio.run(_publish(broker))).result()
    creds = tmp_path / "alice.creds"
    creds.touch(0o600)
    creds.write_text(broker.issue("alice", role="oncall").text)
    running = start(*place, "--fleet", "--credentials", str(creds))
    yield running
    running.end()


def test_the_stream_is_shown_and_a_question_is_answered_with_the_code(view: Web, machine: Machine) -> None:
    client = Client(view).enter()
    assert eventually(lambda: len(client.get("/api/fleet").json.get("by_machine", ())) == 2), client.get(
        "/api/fleet"
    ).json
    assert client.get("/api/state").json["fleet"] is True
    asked = machine.ask()
    assert eventually(lambda: client.get("/api/inbox").json["questions"])
    (question,) = client.get("/api/inbox").json["questions"]
    answer = {"id": question["id"], "answer": "deny", "reason": "not now"}
    assert client.post("/api/inbox/answer", answer).status == 403
    done = client.unlock().post("/api/inbox/answer", answer)
    assert (done.status, done.json["result"]) == (200, "m1 has taken it: deny")
    assert asked.end() == ("deny", "alice refused it: not now")


def test_the_page_in_a_browser(view: Web, machine: Machine, chromium: Any) -> None:
    context = chromium.new_context()
    context.set_default_timeout(100_000)  # a busy machine may take its time
    page, errors = context.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(view.address)
    page.get_by_role("link", name="Fleet").click()
    page.get_by_role("heading", name="Guards that are silent somewhere").wait_for()
    assert page.locator("main", has_text="not here").count() == 1
    page.locator("#lock").click()
    page.locator("dialog input").fill(view.code)
    page.locator("dialog input").press("Enter")
    page.get_by_role("button", name="unlocked").wait_for()
    asked = machine.ask(90)
    page.get_by_role("link", name="Inbox").click()
    page.get_by_text("on m1").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="Allow").click()
    assert eventually(lambda: not asked.is_alive())
    assert asked.end() == ("allow", "alice allowed it")
    page.get_by_text("by alice").wait_for(timeout=60_000)
    assert errors == []
    context.close()


def test_without_credentials_it_says_what_to_do(place: tuple[Path, Path]) -> None:
    import subprocess
    import sys

    home, project = place
    words = [sys.executable, "-m", "hookline", "web", "--fleet", "--port", "0"]
    done = subprocess.run(words, check=False, cwd=project, env={"PATH": "/usr/bin:/bin", "HOME": str(home)}, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 78
    assert "oncall.creds" in done.stderr
