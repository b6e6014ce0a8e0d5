"""Who may look, who may act, and who is refused."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.web.client import Client
from tests.web.conftest import Web, record, start

from hookline.core._dataclass import replace
from hookline.core.event import event_kind
from hookline.core.result import Replied, Reply, RunResult
from hookline.state.record.store import Store
from hookline.web.access import Access, Bucket
from hookline.web.serve import bind


def test_an_address_works_once_and_leaves_no_token_behind(web: Web) -> None:
    first = Client(web).get(f"/?token={web.token}")
    cookie = first.headers["set-cookie"]
    assert (first.status, first.headers["location"]) == (303, "/")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert web.token not in cookie
    assert Client(web).get(f"/?token={web.token}").status == 403
    again = Client(web, cookie.split(";")[0]).get(f"/?token={web.token}")
    assert (again.status, again.headers["location"], "set-cookie" in again.headers) == (303, "/", False)
    assert Client(web).get("/api/state").status == 401


def test_looking_at_an_address_without_loading_it_does_not_use_it_up(web: Web) -> None:
    assert Client(web).ask("HEAD", f"/?token={web.token}").status == 401
    assert Client(web).enter().get("/api/state").status == 200


def test_connections_without_a_request_are_ended(web: Web) -> None:
    """They would use up all that there may be."""
    client = Client(web).enter()
    started = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(140)]
    for one in started:
        one.sendall(b"GET / HTTP/1.1\r\nHost: ")
    assert client.get("/api/state").status == 503
    for one in started:
        one.settimeout(60)
        assert one.recv(1) == b""
        one.close()
    assert client.get("/api/state").status == 200


def test_a_web_socket_is_no_way_in(web: Web) -> None:
    words = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    assert Client(web).get("/api/live", **words, Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==").status == 401


def test_only_its_own_page_is_answered(web: Web) -> None:
    client = Client(web).enter()
    cases: list[tuple[dict[str, str], int]] = [
        ({"Host": "evil.test"}, 421), ({"Host": "127.0.0.1:1"}, 421), ({"Origin": "http://evil.test"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403), ({"Origin": "null"}, 403), ({}, 200),
    ]  # fmt: skip
    for headers, status in cases:
        assert client.get("/api/state", **headers).status == status, headers


def test_a_body_does_not_wait_until_its_head_is_acknowledged() -> None:
    with bind(0) as sock:
        assert sock.proto == socket.IPPROTO_TCP  # which is how asyncio knows that TCP_NODELAY applies


def test_every_page_has_a_strict_policy(web: Web) -> None:
    answer = Client(web).enter().get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'" in policy
    assert "unsafe" not in policy
    assert (answer.headers["referrer-policy"], answer.headers["cache-control"]) == ("no-referrer", "no-store")
    assert b"<script>" not in answer.body


def test_files_of_the_page_are_kept_by_the_browser_and_no_others(web: Web) -> None:
    client = Client(web).enter()
    (main,) = re.findall(rb'<script type="module" src="([^"]+)"', client.get("/").body)
    path = main.decode()
    assert client.get(path).headers["cache-control"] == "private, max-age=31536000, immutable"
    assert client.get(path.replace("/main.js", "/../main.js")).status == 404
    assert client.get("/static/000000000000/main.js").status == 404


def test_no_text_of_an_event_ends_the_data_of_the_page(web: Web) -> None:
    hostile = "echo '</script><script>alert(1)</script><!--'"
    store = Store(str(web.state / "hookline.db"))
    store.write(record(1, time.time(), str(web.project), command=hostile))
    store.close()
    body = Client(web).enter().get("/").body.decode()
    (data,) = re.findall(r'<script type="application/json" id="first">(.*?)</script>', body, re.DOTALL)
    found = json.loads(data)
    assert "<" not in data
    assert found["events"]["rows"][0]["about"] == f"Bash {hostile}"


def test_acting_needs_the_code_of_the_terminal_once_in_each_browser(web: Web) -> None:
    client = Client(web).enter()
    body = {"id": "x", "answer": "allow"}
    assert client.post("/api/inbox/answer", body).json["locked"] is True
    assert client.post("/api/unlock", {"code": "0"}).status == 400
    client.unlock()
    assert client.post("/api/inbox/answer", body).json == {
        "error": "nobody waits for this answer any more; the call was refused"
    }
    assert client.post("/api/inbox/answer", body, Origin="").status == 403  # no page of ours sent it


def test_odd_requests_are_answered_and_not_taken_for_more_than_they_are(web: Web) -> None:
    client = Client(web).enter()
    assert client.get(f"/api/events?offset={10**30}&limit={10**30}").json["rows"] == []
    for code in ("٣" * 8, "²" * 8, f"{web.code[:-1]}²"):
        assert client.post("/api/unlock", {"code": code}).json["error"].startswith("wrong code")
    assert client.post("/api/unlock", {}, Transfer_Encoding="chunked").status == 413


def test_a_browser_has_eight_streams_however_fast_it_asks(web: Web) -> None:
    client = Client(web).enter()
    asked = f"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nCookie: {client.cookie}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(socket.create_connection(("127.0.0.1", web.port), 30)) for _ in range(24)]
        for one in streams:
            one.sendall(asked)
        answers = [one.recv(12) for one in streams]
    assert (answers.count(b"HTTP/1.1 200"), answers.count(b"HTTP/1.1 429")) == (8, 16)


def test_codes_cannot_be_guessed() -> None:
    now = [0.0]
    access = Access(clock=lambda: now[0])
    browser = access.browser(access.admit(access.new_token()) or "")
    assert browser is not None
    wrong = "1" + access.code[1:] if access.code[0] != "1" else "2" + access.code[1:]
    for _ in range(5):
        access.unlock(browser, wrong)
    assert access.unlock(browser, access.code) == "too many wrong codes; wait a minute"
    now[0] = 61.0
    assert access.unlock(browser, access.code) == ""
    assert browser.may_act


def test_requests_are_limited() -> None:
    now = [0.0]
    bucket = Bucket(2, 3, lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 1.0
    assert [bucket.take() for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("web", [("--read-only",)], indirect=True)
def test_read_only_takes_no_action_at_all(web: Web) -> None:
    client = Client(web).enter()
    assert client.get("/api/state").json["read_only"] is True
    assert client.post("/api/hook/switch", {"id": "x"}).status == 403
    assert client.post("/api/unlock", {"code": web.code}).status == 400


def _agent(folder: Path, name: str = "claude") -> Path:
    program = folder / name
    program.write_text(
        f'#!{sys.executable}\nimport subprocess, sys\nsys.exit(subprocess.call(["sh", "-c", sys.argv[1]]))\n'
    )
    program.chmod(0o755)
    return program


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="ancestors cannot be seen here")
def test_a_process_that_an_agent_started_is_refused(web: Web, tmp_path: Path) -> None:
    client = Client(web).enter()
    code = (
        "import http.client; c = http.client.HTTPConnection('127.0.0.1', {port}); "
        "c.request('GET', '/api/state', headers={headers}); r = c.getresponse(); print(r.status, r.read().decode())"
    ).format(port=web.port, headers={"Cookie": client.cookie})
    script = tmp_path / "ask.py"
    script.write_text(code)
    line = f"{sys.executable} {script}"
    inside = subprocess.run([str(_agent(tmp_path)), f"{line}; true"], capture_output=True, text=True, check=True)
    assert inside.stdout == "403 An agent may not use this view: Claude Code.\n"
    outside = subprocess.run(line.split(), capture_output=True, text=True, check=True)
    assert outside.stdout.startswith("200 ")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="ancestors cannot be seen here")
def test_it_does_not_start_below_an_agent(place: tuple[Path, Path], tmp_path: Path) -> None:
    home, project = place
    line = f"{sys.executable} -m hookline web --no-browser; exit $?"
    done = subprocess.run(
        [str(_agent(tmp_path, "codex")), line], cwd=project, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (64, "")
    assert "start the view in a terminal of your own: hookline web" in done.stderr


def test_what_was_detached_from_its_terminal_shows_no_code_where_agents_are_guarded(place: tuple[Path, Path]) -> None:
    home, project = place
    (home / "state/deployed.json").write_text('{"entries": [{}]}')
    with subprocess.Popen(
        [sys.executable, "-m", "hookline", "web", "--port", "0"], cwd=project, start_new_session=True, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "HOOKLINE_STATE_DIR": str(home / "state")},
    ) as running:  # fmt: skip
        assert running.stdout is not None
        _, second = running.stdout.readline(), running.stdout.readline()
        running.terminate()
    assert second.startswith("Read-only: ")


def test_a_port_that_is_taken_is_reported(web: Web) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "web", "--port", str(web.port)], env=web.environ, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 64
    assert f"port {web.port} cannot be used (Address already in use); choose another: --port N" in done.stderr


def test_without_records_and_with_a_record_of_a_newer_version_it_says_so(place: tuple[Path, Path]) -> None:
    home, project = place
    running = start(home, project)
    try:
        client = Client(running).enter()
        assert client.get("/api/events").json["rows"] == []
        assert client.get("/api/state").json["recorded"] is False
        subprocess.run(
            [sys.executable, "-c", "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('PRAGMA user_version = 99')",
             str(running.state / "hookline.db")], check=True,
        )  # fmt: skip
    finally:
        running.end()
    again = start(home, project)
    try:
        note = Client(again).enter().get("/api/events").json["note"]
        assert "written by a newer hookline" in note
    finally:
        again.end()


def test_pages_come_from_the_record_a_screen_at_a_time(web: Web) -> None:
    client = Client(web).enter()
    first = client.get("/api/events?limit=50").json
    second = client.get(f"/api/events?limit=50&offset=50&upto={first['upto']}").json
    numbers = [row["n"] for row in first["rows"] + second["rows"]]
    assert (first["total"], numbers) == (120, list(range(120, 20, -1)))
    denied = client.get("/api/events?effect=deny&text=rm%20-rf").json
    assert {row["reason"] for row in denied["rows"]} == {"Blocked: rm -rf must be run by hand."}
    event = client.get(f"/api/event/{denied['rows'][0]['id']}").json
    assert (event["summary"], [step["verdict"] for step in event["steps"]]) == (
        "Refused by no-rm",
        ["no opinion", "refused", "skipped"],
    )
    assert json.loads(event["answer"]["stdout"]) == {"permissionDecision": "deny"}


@pytest.mark.parametrize("web", [("--metrics",)], indirect=True)
def test_numbers_for_prometheus_need_no_cookie_and_tell_nothing_else(web: Web) -> None:
    answer = Client(web).get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b'hookline_decisions{agent="codex",event="PreToolUse",effect="allow"} 24' in answer.body
    assert b"rm -rf" not in answer.body
    assert Client(web).get("/api/state").status == 401


def test_refusals_and_tokens_are_counted_by_day_agent_and_hook(web: Web) -> None:
    """A refusal also where the hook only asked, and the agent cannot ask a person."""
    one = record(1, time.time(), str(web.project), command="make")
    raw = RunResult(usage={"total_tokens": 40, "cost_usd": 0.5})
    asked = Replied(id="m", hook="model", reply=Reply(effect="ask"), raw=raw)
    decision = replace(one.decision, effect="deny", outcomes=(asked,))
    data = {"prompt": "Mend the cart"}
    prompt = replace(one.event, kind=event_kind("UserPromptSubmit"), data=data, session="new", id="p")
    store = Store(str(web.state / "hookline.db"))
    store.write(replace(one, event=replace(one.event, agent="kimi-code"), decision=decision))
    store.write(replace(one, event=prompt, decision=replace(one.decision, outcomes=(), data=data)))
    store.close()
    client = Client(web).enter()
    costs = client.get("/api/costs?days=1").json
    (agent,) = (each for each in costs["by_agent"] if each["name"] == "kimi-code")
    (hook,) = (each for each in costs["by_hook"] if each["name"] == "model")
    assert (agent["denied"], agent["tokens"], agent["cost"]) == (1, 40, 0.5)
    assert (hook["denied"], hook["tokens"], hook["cost"]) == (0, 40, 0.5)
    assert (costs["by_day"][-1]["tokens"], costs["never"][0]["name"]) == (40, "lint")
    prompts = {each["session"]: each["prompt"] for each in client.get("/api/sessions").json["sessions"]}
    assert (prompts["new"], prompts["cc42-session-3"]) == ("Mend the cart", "")


def test_an_address_that_there_is_not_is_a_page_that_says_so(web: Web) -> None:
    client = Client(web).enter()
    answer = client.get("/nowhere")
    assert (answer.status, b'<nav aria-label="Pages">' in answer.body) == (404, True)
    assert (client.get("/api/nowhere").status, client.get("/api/nowhere").body) == (404, b"There is no such address.")


def test_every_page_of_numbers_answers(web: Web) -> None:
    client = Client(web).enter()
    session = client.get("/api/session/cc42-session-3").json
    assert (session["events"], session["denied"], len(session["turns"])) == (24, 24, 3)
    costs = client.get("/api/costs?days=7").json
    assert {one["name"] for one in costs["by_hook"]} == {"audit", "no-rm", "notify"}
    assert len(costs["slowest"]) == 10
    assert {one["name"] for one in client.get("/api/hooks").json["hooks"]} == {"no-rm", "lint"}
    what = client.post(
        "/api/what-if", {"agent": "codex", "data": {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}}
    )
    assert what.json["guard"]["standard"]["verdict"] == "deny"
    assert client.get("/metrics").status == 404
