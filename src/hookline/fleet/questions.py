"""The machine's side of answers from afar: every question of its inboxes goes to who is on call, until it is settled.

A question is said again every few seconds for as long as somebody waits for the answer, so nothing has to be kept on the
broker: who comes later, or comes back, hears it, and one whose asker is gone falls silent. The link only carries. What it
brings back counts if whoever asked finds the signature of a person on call on it, and the first one that counts ends the
question: then everybody on call is told what it was.
"""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from hookline.core.files import replace_atomically
from hookline.fleet.connection import UNREACHABLE
from hookline.fleet.credentials import team_key
from hookline.fleet.join import team_key_place
from hookline.fleet.link import FleetLink
from hookline.fleet.subjects import ask_subject
from hookline.state import inbox, proof

#: Seconds between two looks, and after which a question is said again.
_LOOK, BEAT = 0.2, 2.0
#: Questions at a time; the others wait for the local inbox alone.
_MOST = 200


async def carry_questions(link: FleetLink) -> None:
    _keep_team_key(link)
    tasks: dict[str, asyncio.Task[None]] = {}
    try:
        while True:
            for one in await asyncio.to_thread(lambda: list(_waiting(link))):
                if one["id"] not in tasks and len(tasks) < _MOST:
                    tasks[one["id"]] = asyncio.create_task(_carry(link, one))
            for name in [name for name, task in tasks.items() if task.done()]:
                del tasks[name]
            link.note("questions", "")
            await asyncio.sleep(_LOOK)
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


def _keep_team_key(link: FleetLink) -> None:
    """By which whoever asks knows the people on call."""
    replace_atomically(
        team_key_place(link.joined, link.paths), team_key(link.joined.credentials).encode("ascii"), mode=0o644
    )


def _waiting(link: FleetLink) -> Iterator[dict[str, Any]]:
    """Questions of this user, and for root those of everybody on the machine."""
    states = {link.paths.state: os.geteuid()}
    if os.geteuid() == 0 and link.joined.folder.startswith(link.paths.machine):
        states |= {os.path.join(one.pw_dir, ".local/state/hookline"): one.pw_uid for one in pwd.getpwall()}
    for state, user in states.items():
        for one in inbox.questions(state):
            with suppress(OSError, TypeError):  # nobody makes us knock elsewhere
                if os.lstat(one["socket"]).st_uid == user:
                    yield one


async def _carry(link: FleetLink, question: Mapping[str, Any]) -> None:
    client, name = link.client, str(question["id"])
    subject, text = ask_subject(link.machine, name), proof.far_form(question)
    reply = client.new_inbox()
    answers = await client.subscribe(reply)
    approved: list[str] = []
    settled: dict[str, Any] = {"settled": "gone"}
    due = 0.0
    try:
        while _is_open(question):
            if time.monotonic() >= due and client.is_connected:
                due = time.monotonic() + BEAT
                said = {"question": text, "left": question["deadline"] - time.time(), "approved": approved}
                await client.publish(subject, json.dumps(said).encode(), reply=reply)
            try:
                message = await answers.next_msg(timeout=_LOOK)
            except TimeoutError:
                continue
            given, by = _answer(message.data)
            told = await asyncio.to_thread(inbox.deliver, question, {"signed": given}) if given else "refused"
            if told == "taken":
                settled = {"settled": by["answer"], "by": [*approved, by["by"]], "reason": by.get("reason", "")}
                break
            if told == "counted" and by["by"] not in approved:
                approved.append(by["by"])
                due = 0.0
    finally:
        with suppress(*UNREACHABLE, AttributeError):  # of asyncio, about a connection that was cut
            await client.publish(subject, json.dumps(settled).encode())
            await answers.unsubscribe()


def _is_open(question: Mapping[str, Any]) -> bool:
    return os.path.exists(question["socket"]) and question["deadline"] > time.time()


def _answer(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was sent, and the words in it; whoever asked says whether they count."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        given = json.loads(data)
        said = json.loads(given["text"])
        if isinstance(said["by"], str) and isinstance(said["answer"], str):
            return given, said
    return {}, {}
