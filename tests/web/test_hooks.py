"""What a person does to hooks in the view."""

from __future__ import annotations

import pytest
from tests.web.client import Client
from tests.web.conftest import CONFIG, Web

from hookline.state import own_guards


def hook(client: Client, name: str) -> dict[str, object]:
    found: dict[str, object] = next(one for one in client.get("/api/hooks").json["hooks"] if one["name"] == name)
    return found


def test_what_is_approved_is_what_was_shown(web: Web) -> None:
    client = Client(web).enter().unlock()
    shown = client.get(f"/api/hook/{hook(client, 'no-rm')['id']}").json
    assert (shown["trust"], "rm -rf must be run by hand" in shown["does"]) == ("unknown", True)
    file = web.project / ".hookline" / "hookline.toml"
    file.write_text(CONFIG.replace("by hand", "by nobody"))
    changed = client.post("/api/hook/trust", {"id": shown["id"], "seal": shown["seal"]})
    assert changed.json == {"error": "'no-rm' has changed since it was shown; look at it again"}
    file.write_text(CONFIG)
    assert client.post("/api/hook/trust", {"id": shown["id"], "seal": shown["seal"]}).json == {"done": True}
    assert (hook(client, "no-rm")["trust"], hook(client, "lint")["trust"]) == ("trusted", "unknown")


def test_a_hook_is_switched_off_tried_and_edited(web: Web) -> None:
    client = Client(web).enter().unlock()
    name = hook(client, "no-rm")["id"]
    refused = client.post("/api/hook/try", {"id": name, "event": "PreToolUse"})
    assert refused.json == {"error": "'no-rm' is not trusted yet; review it with: hookline trust"}
    client.post("/api/hook/trust", {"id": name, "seal": client.get(f"/api/hook/{name}").json["seal"]})
    assert client.post("/api/hook/try", {"id": name, "event": "PreToolUse"}).json["status"] == "replied"
    client.post("/api/hook/switch", {"id": name, "on": False, "seconds": 3600})
    assert hook(client, "no-rm")["state"] == "switched off"
    client.post("/api/hook/switch", {"id": name, "on": True})
    assert hook(client, "no-rm")["state"] == "on"
    table = client.get(f"/api/hook/{name}").json["table"]
    wrong = client.post("/api/hook/save", {"id": name, "table": table.replace('"deny"', '"block"')})
    assert "on_failure must be one of ignore, deny, abort; got 'block'" in wrong.json["error"]
    sneaky = client.post("/api/hook/save", {"id": name, "table": table + "\n[limits]\ngrace = 9\n"})
    assert sneaky.json == {"error": "change this one [[hook]] table only"}
    saved = client.post("/api/hook/save", {"id": name, "table": table.replace('"deny"', '"abort"')})
    assert saved.status == 200, saved.json
    text = (web.project / ".hookline" / "hookline.toml").read_text()
    assert text == CONFIG.replace('on_failure = "deny"', 'on_failure = "abort"')
    assert hook(client, "no-rm")["trust"] == "changed"
    shown = client.get(f"/api/hook/{name}").json
    (change,) = shown["diff"]
    assert (change["path"], [line for line in change["lines"] if line[0] in "+-"]) == (
        "definition",
        ["-on_failure = deny", "+on_failure = abort"],
    )
    client.post("/api/hook/trust", {"id": name, "seal": shown["seal"]})
    assert (hook(client, "no-rm")["trust"], client.get(f"/api/hook/{name}").json["diff"]) == ("trusted", [])


@pytest.mark.parametrize("web", [("--metrics",)], indirect=True)
def test_a_recorded_event_is_run_again_and_not_counted_as_the_agents(web: Web) -> None:
    client = Client(web).enter().unlock()
    before = [line for line in client.get("/metrics").body.splitlines() if not line.startswith(b"hookline_newest")]
    row = client.get("/api/events?effect=deny&text=rm").json["rows"][0]
    found = client.post("/api/replay", {"id": row["id"], "agent": "codex"}).json
    assert (found["agent"], found["then"]["effect"], found["now"]["effect"]) == ("codex", "deny", "allow")
    assert found["differs"] is True
    assert set(before) < set(client.get("/metrics").body.splitlines())


def test_folders_outside_the_record_are_not_looked_at(web: Web) -> None:
    client = Client(web).enter()
    assert client.get("/api/hooks?project=/etc").json["project"] == str(web.project)


def test_a_changed_guard_waits_with_what_was_changed(web: Web) -> None:
    file = web.home / "guard.toml"
    file.write_text('[guard]\npolicy = "standard"\n')
    own_guards.keep(str(web.state), {str(file): "native"})
    file.write_text('[guard]\npolicy = "watch"\n')
    client = Client(web).enter().unlock()
    (guard,) = client.get("/api/inbox").json["guards"]
    assert guard["diff"] == ["@@ -1,2 +1,2 @@", " [guard]", '-policy = "standard"', '+policy = "watch"']
    assert client.post("/api/inbox/keep", {"path": str(file), "seal": "another"}).status == 400
    assert client.post("/api/inbox/keep", {"path": str(file), "seal": guard["seal"]}).json == {"done": True}
    assert client.get("/api/inbox").json["guards"] == []
