"""Sessions in memory and in the store behave alike, whatever is done to them and in whichever order."""

from __future__ import annotations

import shutil
import tempfile
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hookline.core.hook import Gates
from hookline.state.sessions import MemorySessions
from hookline.state.sessions.sqlite import StoredSessions

SESSIONS = st.sampled_from(["a", "b", "é\ud800"])
KINDS = st.sampled_from(["UserPromptSubmit", "Stop"])
HOOKS = st.sampled_from(["h1", "h2"])
TURNS = st.none() | st.integers(-1, 5)
PROMPTS = st.sampled_from(["", "deploy it", "x" * 20_000])


class BothSessions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.now = 1_000.0
        self.memory = MemorySessions(lambda: self.now)
        self.stored = StoredSessions(f"{self.folder}/state/sessions.db", clock=lambda: self.now)

    def alike(self, name: str, *args: Any, **kwargs: Any) -> None:
        assert getattr(self.memory, name)(*args, **kwargs) == getattr(self.stored, name)(*args, **kwargs)

    @rule(session=SESSIONS, kind=KINDS, typed=st.booleans(), turn=TURNS, prompt=PROMPTS)
    def begin(self, session: str, kind: str, typed: bool, turn: int | None, prompt: str) -> None:
        self.alike("peek", session, kind, typed=typed, turn=turn, prompt=prompt)
        self.alike("begin", session, kind, typed=typed, turn=turn, prompt=prompt)
        self.alike("peek", session, kind)

    @rule(
        session=SESSIONS, hook=HOOKS, once=st.booleans(), debounce=st.sampled_from([0.0, 30.0]), most=st.integers(0, 2)
    )
    def claim(self, session: str, hook: str, once: bool, debounce: float, most: int) -> None:
        gates = Gates(once_per_session=once, debounce=debounce, max_per_minute=most)
        expected = self.memory.would_claim(session, hook, gates, self.now)
        self.alike("would_claim", session, hook, gates, self.now)
        assert self.memory.claim(session, hook, gates, self.now) == expected
        assert self.stored.claim(session, hook, gates, self.now) == expected

    @rule(session=SESSIONS, mode=st.sampled_from([None, "", "plan"]), continuations=st.none() | st.integers(0, 3))
    def settle(self, session: str, mode: str | None, continuations: int | None) -> None:
        self.alike("settle", session, mode=mode, continuations=continuations)

    @rule(session=SESSIONS)
    def forget(self, session: str) -> None:
        self.alike("forget", session)

    @rule(ago=st.sampled_from([0.0, 10.0, 100.0]))
    def prune(self, ago: float) -> None:
        self.alike("prune", self.now - ago)

    @rule(seconds=st.sampled_from([1.0, 29.0, 61.0, -5.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def reopen(self) -> None:
        self.stored.close()
        self.stored = StoredSessions(f"{self.folder}/state/sessions.db", clock=lambda: self.now)

    @invariant()
    def the_store_works(self) -> None:
        assert self.stored.note == ""

    def teardown(self) -> None:
        self.stored.close()
        shutil.rmtree(self.folder)


TestBothSessions = BothSessions.TestCase
TestBothSessions.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
