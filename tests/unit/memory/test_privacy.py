"""No secret leaves a session: not into a file, not to a model, not into the next session. And who opts out, is out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import World

from hookline.core.event import Event, event_kind
from hookline.memory.inject.context_inject import context_inject
from hookline.memory.notes.backup import pre_compact
from hookline.memory.notes.session_export import session_export
from hookline.memory.queue.enqueue import handoff_now

SESSION = "11111111-aaaa-4000-8000-000000000001"
SECRETS = {
    "anthropic": "sk-ant-api03-" + "Ab1_" * 20,
    "openai": "sk-proj-" + "Zx9Y" * 12,
    "github": "ghp_" + "aB3d" * 9,
    "aws": "AKIA" + "Q7" * 8,
    "google": "AIza" + "Sy7aB" * 7,
    "slack": "xoxb-123456789012-" + "aBcD" * 6,
    "stripe": "sk_live_" + "4eC3" * 6,
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" * 12 + "\n-----END RSA PRIVATE KEY-----",
    "of the environment": "correct-horse-battery-staple-42",
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.environ["DEPLOY_TOKEN"] = SECRETS["of the environment"]
    return made


def kernel(secret: str) -> str:
    """The part of it that must be nowhere: of a key in several lines, one of them."""
    return secret.splitlines()[1] if "\n" in secret else secret


def kept(world: World) -> list[str]:
    places = (world.state, world.data)
    return [str(file) for place in places if place.exists() for file in place.rglob("*") if file.is_file()]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_in_a_session_reaches_nothing_that_is_kept_or_sent(world: World, kind: str) -> None:
    secret = SECRETS[kind]
    world.transcript(
        SESSION, prompt=f"Use {secret} for the deployment of everything we have. " * 5, answer=f"Used {secret}."
    )
    session_export(world.event(SESSION))
    compacted = pre_compact(world.event(SESSION, "PreCompact"))
    world.stop(SESSION, force=True)
    answer = {
        "decisions": [{"summary": f"use {secret}", "rationale": secret, "tags": [secret]}],
        "failures": [{"summary": f"{secret} was refused", "prevention": f"renew {secret}"}],
        "learnings": [{"title": f"On {secret[:20]}", "learning": f"{secret} ends in May", "context": secret}],
        "handoff": [f"renew {secret}"],
    }
    _report, asked = world.work(answer)
    started = context_inject(
        Event(kind=event_kind("SessionStart"), data={}, agent="codex", cwd=str(world.project), environ=world.environ)
    )
    told = [*asked, *(one.text for reply in (compacted, started) if reply for one in reply.context)]
    assert asked
    assert started is not None
    assert not [text for text in told if kernel(secret) in text]
    holding = [path for path in kept(world) if kernel(secret).encode() in Path(path).read_bytes()]
    assert holding == []


def test_a_secret_in_what_a_model_says_without_sense_is_not_kept(world: World) -> None:
    secret = SECRETS["github"]
    world.transcript(SESSION)
    world.stop(SESSION, force=True)
    world.work(f"I cannot say {secret}")
    assert not [path for path in kept(world) if secret.encode() in Path(path).read_bytes()]


def test_a_copy_of_a_transcript_can_still_be_read(world: World) -> None:
    secret = SECRETS["aws"]
    transcript = world.transcript(SESSION, prompt=f'Use "{secret}" for it. ' * 5)
    before = transcript.read_text()
    pre_compact(world.event(SESSION, "PreCompact"))
    (copy,) = (world.state / "compact-backups").iterdir()
    rows = [json.loads(line) for line in copy.read_text().splitlines()]
    assert len(rows) == len(before.splitlines())
    assert rows[1]["sessionId"] == SESSION
    assert secret not in copy.read_text()
    assert transcript.read_text() == before


def test_a_copy_without_secrets_is_the_same_to_the_byte(world: World) -> None:
    transcript = world.transcript(SESSION)
    torn = transcript.read_bytes() + b'{"type": "user", "mess\xff'
    transcript.write_bytes(torn)
    pre_compact(world.event(SESSION, "PreCompact"))
    (copy,) = (world.state / "compact-backups").iterdir()
    assert copy.read_bytes() == torn


# ── opting out ───────────────────────────────────────────────────────────────────────────────────────


def test_a_project_that_opted_out_leaves_and_is_told_nothing(world: World) -> None:
    world.opt_out()
    world.transcript(SESSION)
    session_export(world.event(SESSION))
    assert pre_compact(world.event(SESSION, "PreCompact")) is None
    assert context_inject(world.event(SESSION, "SessionStart")) is None
    assert handoff_now(str(world.project), world.environ).skip_reason
    left = {Path(path).name for path in kept(world)} - {"trust.json", "trust.json.lock", "trust.json.expected"}
    assert {name for name in left if len(name) < 64} == {"hooks.log"}, "and the copy of what was approved"


def test_who_opts_out_later_is_not_distilled(world: World) -> None:
    world.transcript(SESSION)
    world.stop(SESSION, force=True)
    world.opt_out()
    report, asked = world.work({})
    assert asked == []
    assert dict(report.counts) == {"skipped": 1}
