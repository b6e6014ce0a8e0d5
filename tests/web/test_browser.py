"""The view in a real browser: what a person finds, by mouse and by keyboard, wide and narrow, light and dark."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.web.conftest import Web, fill, record, start
from tests.web.hostile import STRINGS
from tests.web.test_inbox import Fired, engine

from hookline.core._dataclass import replace
from hookline.core.result import Replied, Reply, RunResult
from hookline.state.record.store import Store

AXE = Path(__file__).resolve().parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    "/live",
    "/live?effect=deny",
    "/sessions",
    "/session/cc42-session-3",
    "/hooks",
    "/inbox",
    "/what-if?text=rm%20-rf%20/",
    "/costs",
)


#: Two of four in the gate, all of them with ``make web-test``.
LOOKS = [(1440, "light"), (390, "dark"), *([(1440, "dark"), (390, "light")] if os.environ.get("HOOKLINE_WEB") else [])]


class Person:
    """One page of an admitted browser, and what went wrong on it."""

    def __init__(self, context: Any, web: Web) -> None:
        self.page = context.new_page()
        self.web = web
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.errors.append("a dialog")
        dialog.dismiss()

    def visit(self, path: str) -> None:
        self.page.goto(f"{self.web.origin}{path}")
        self.page.locator("main .page").wait_for()


@pytest.fixture
def person(chromium: Any, web: Web, request: pytest.FixtureRequest) -> Iterator[Person]:
    width, scheme = getattr(request, "param", (1440, "light"))
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    context.set_default_timeout(100_000)  # a busy machine may take its time
    one = Person(context, web)
    one.page.goto(web.address)
    one.page.locator(".row:not(.blank)").first.wait_for()
    yield one
    context.close()
    assert one.errors == []


def test_a_stranger_finds_why_a_call_was_refused_yesterday(person: Person) -> None:
    page = person.page
    assert page.url == f"{person.web.origin}/"
    page.get_by_role("button", name="Refused").click()
    page.get_by_label("When").select_option("yesterday")
    page.wait_for_function("location.search.includes('yesterday')")
    while "text=" not in page.url:  # on a busy machine the choice above draws the field anew while it is being filled
        page.get_by_label("Search").fill("rm -rf")
        page.get_by_label("Search").press("Enter")
    page.locator(".row:not(.blank)", has_text="curl").first.wait_for(state="detached")
    page.locator(".row:not(.blank)", has_text="rm -rf").first.wait_for()
    page.locator(".row:not(.blank)").first.click()
    page.get_by_text("Refused by no-rm").wait_for()
    assert page.locator("h1").inner_text() == "Bash rm -rf build/cache"
    assert page.locator(".step .line strong").all_inner_texts() == ["opencode", "audit", "no-rm", "notify", "Decision"]
    assert page.locator(".step.skipped .reason").inner_text() == "an earlier hook denied it"


def test_everything_can_be_reached_by_keyboard(person: Person) -> None:
    from playwright.sync_api import expect

    page = person.page
    page.keyboard.press("r")
    page.get_by_role("button", name="Refused", pressed=True).wait_for()
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.locator("[aria-selected=true][aria-posinset='2']").wait_for()
    page.keyboard.press("Enter")
    page.locator(".chain").wait_for()
    first = page.url
    page.keyboard.press("[")
    expect(page).not_to_have_url(first)
    for keys, title in (("gs", "Sessions"), ("gh", "Hooks"), ("gi", "Inbox"), ("gw", "What if"), ("gc", "Costs")):
        for key in keys:
            page.keyboard.press(key)
        page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")


def test_events_appear_as_they_happen_and_wait_while_paused(person: Person) -> None:
    page = person.page
    store = Store(str(person.web.state / "hookline.db"))
    store.write(record(1, time.time(), str(person.web.project), command="echo first-live-event"))
    page.get_by_text("Bash echo first-live-event").wait_for()
    page.keyboard.press("p")
    store.write(record(2, time.time(), str(person.web.project), command="echo second-live-event"))
    page.get_by_role("button", name="1 new").click()
    page.get_by_text("Bash echo second-live-event").wait_for()
    store.close()


@pytest.mark.parametrize("person", LOOKS, indirect=True)
def test_no_page_has_serious_findings_of_accessibility_or_is_too_wide(person: Person) -> None:
    page = person.page
    event = page.evaluate("fetch('/api/events?effect=changed&limit=1').then(r => r.json()).then(f => f.rows[0].id)")
    hook = page.evaluate("fetch('/api/hooks').then(r => r.json()).then(f => f.hooks[0].id)")
    if not AXE.exists():
        pytest.skip("axe-core is not installed here: make browser")
    found: list[str] = []
    for path in (*PAGES, f"/event/{event}", f"/hook/{hook}"):
        person.visit(path)
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        page.evaluate(f"(() => {{ {AXE.read_text(encoding='utf-8')} }})()")
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found += [
            f"{path}: {one['id']} {one['nodes'][0]['html'][:120]}"
            for one in result["violations"]
            if one["impact"] in {"serious", "critical"}
        ]
    assert found == []


def test_two_hundred_hostile_texts_stay_texts(person: Person) -> None:
    page, store = person.page, Store(str(person.web.state / "hookline.db"))
    ids = []
    for number, text in enumerate(STRINGS):
        one = record(1, time.time() + number / 1000, str(person.web.project), id=f"hostile{number:03d}")
        data = {**one.event.data, "tool_name": text, "tool_input": {"command": text}, "session_id": text}
        outcome = Replied(
            id="x", hook=text, reply=Reply(effect="deny", reason=text), raw=RunResult(stdout=text, stderr=text)
        )
        event = replace(
            one.event,
            data=data,
            session=text or "s",
            agent=text[:40] or "a",
            native_name=text,
            native={},
            cwd=f"/{text}",
        )
        decision = replace(one.decision, effect="deny", reason=text, data=data, outcomes=(outcome,))
        ids.append(store.write(replace(one, event=event, decision=decision)))
    store.close()
    assert len(list(filter(None, ids))) == 200
    page.get_by_label("Events, the newest first").focus()
    for _ in range(12):
        page.keyboard.press("PageDown")
    for path in ("/sessions", "/costs", "/live?effect=deny"):
        person.visit(path)
    shown = page.evaluate(
        """async (ids) => { const { go } = await import(document.querySelector('script[type=module]').src); const found = [];
        for (const id of ids) { go(`/event/${id}`);
          await new Promise(done => document.addEventListener('page', done, {once: true}));
          found.push([document.querySelector('.step .reason')?.textContent, document.querySelectorAll('main script, main iframe, main img, main style, main object').length]); }
        return found; }""",
        ids,
    )
    connection = sqlite3.connect(person.web.state / "hookline.db")
    kept = [connection.execute("SELECT reason FROM firings WHERE id = ?", (one,)).fetchone()[0] for one in ids]
    connection.close()
    assert shown == [[visible(text), 0] if text else [None, 0] for text in kept]
    assert page.evaluate("window.hacked") is None


def visible(text: str) -> str:
    """Characters that nobody sees, or that reorder others, as their numbers."""
    hidden = {"Cc", "Cf", "Zl", "Zp"}
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c) in hidden and c not in "\n\t" else c for c in text)


@pytest.mark.parametrize("person", [(390, "dark")], indirect=True)
def test_a_question_is_answered_from_a_phone_after_the_code_is_given(person: Person) -> None:
    page = person.page
    with engine(person.web.state) as one:
        fired = Fired(one)
        page.locator("#waiting:not([hidden])").wait_for()
        person.visit("/inbox")
        page.get_by_role("button", name="Allow", exact=True).click()
        page.get_by_label("The code that the terminal of hookline web shows").fill(person.web.code)
        page.keyboard.press("Enter")
        fired.join(20)
        assert (fired.decision.effect, fired.decision.granted) == ("allow", True)
        page.get_by_text("Nothing waits for you.").wait_for() if page.locator(".plain li").count() == 0 else None
    assert [error for error in person.errors if "403" not in error] == []
    person.errors.clear()  # the browser reports that the first attempt was refused
    assert threading.active_count() < 50


def test_a_mistake_in_an_edited_hook_is_shown_beside_it(person: Person) -> None:
    page = person.page
    hooks = page.evaluate("fetch('/api/hooks').then(r => r.json()).then(f => f.hooks)")
    person.visit(f"/hook/{next(one['id'] for one in hooks if one['name'] == 'lint')}")
    area = page.get_by_label("The table of lint")
    area.fill(area.input_value() + 'on_failure = "perhaps"\nmath = 3\n')
    page.get_by_role("button", name="Check and save").click()
    page.get_by_label("The code that the terminal of hookline web shows").fill(person.web.code)
    page.keyboard.press("Enter")
    page.get_by_text("unknown key 'math'").wait_for()
    found = page.locator(".finding.lines").inner_text().splitlines()
    assert [line.partition(":")[0] for line in found] == ["$.hook[1].on_failure", "$.hook[1].math"]
    person.errors = [error for error in person.errors if "403" not in error and "400" not in error]


_FLOOD = """async ([row, many]) => {
  const event = (number) => ({ ...row, id: `flood-${number}`, about: `echo ${number}` });
  const texts = () => Object.fromEntries([...document.querySelectorAll('.row:not(.blank)')].map((one) => [one.getAttribute('aria-posinset'), one.querySelector('.about b').textContent]));
  const frames = async (many) => { for (; many; many--) await new Promise(requestAnimationFrame); };
  const newest = [];
  for (let round = 0; round < 4; round++) {
    document.dispatchEvent(new CustomEvent('events', { detail: { rows: Array.from({ length: many }, (_, at) => event(round * many + at)) } }));
    await frames(2);
    newest.push(texts()[1]);
  }
  const last = () => { const all = texts(); const shown = Object.keys(all).length; return all[shown] === `echo ${4 * many - shown}`; };
  for (let tries = 0; tries < 1000 && !last(); tries++) await frames(1);
  return [newest, texts()];
}"""


def test_under_a_flood_the_newest_is_shown_at_once_and_all_the_others_soon_after(person: Person) -> None:
    page = person.page
    row = page.evaluate("document.querySelector('.row:not(.blank)').row")
    newest, texts = page.evaluate(_FLOOD, [row, 100])
    assert newest == ["echo 99", "echo 199", "echo 299", "echo 399"]
    many = len(texts)
    assert many > 20
    assert texts == {str(place): f"echo {400 - place}" for place in range(1, many + 1)}


def test_a_page_says_when_its_server_has_ended_and_when_another_took_its_place(person: Person) -> None:
    page, web = person.page, person.web
    person.visit("/costs")
    web.end()
    page.get_by_role("alert").filter(has_text="is lost; trying again").wait_for()
    again = start(web.home, web.project, "--port", str(web.port))
    try:
        page.get_by_role("alert").filter(has_text="hookline does not know this browser").wait_for()
    finally:
        again.end()
    person.errors.clear()  # the browser reports what it could not load


def test_a_record_that_cannot_be_read_is_named_on_every_page(chromium: Any, place: tuple[Path, Path]) -> None:
    home, project = place
    fill(home / "state", str(project), 3)
    with closing(sqlite3.connect(home / "state" / "hookline.db")) as database:
        database.execute("PRAGMA user_version = 99")
    running = start(home, project)
    try:
        page = chromium.new_page()
        page.goto(running.address)
        page.goto(f"{running.origin}/costs")
        page.get_by_role("alert").filter(has_text="written by a newer hookline").wait_for()
    finally:
        running.end()
