"""Why a hook whose matcher fits is not run, and what that counts as."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hookline.core.event import event_kind
from hookline.core.hook import AgentRun, Command, Function, Gates, HookSpec, Origin, Prompt
from hookline.core.result import Blocked, Failed, Replied, Reply, Skipped
from hookline.core.samples import event, hook_spec
from hookline.engine import fold
from hookline.engine.eligibility import (
    HookBlocks,
    block_agents_own,
    block_other_files,
    explain,
    inside_agent,
    outcome_without_running,
)
from hookline.engine.match import Selection
from hookline.state.disabled import Switches
from hookline.state.sessions import MemorySessions
from hookline.state.trust import Approval, TrustStore, TrustVerdict
from hookline.state.trust.covered import Cover

EVENT = event("PreToolUse")
BLOCK = Blocked(reason="untrusted", message="not trusted")
TAMPERED = Blocked(reason="changed", message="changed since", counts_as_failure=True)


@dataclass
class Checks:
    """Satisfies what an engine asks: by default nothing is in the way."""

    sessions: Any = field(default_factory=MemorySessions)
    block: Blocked | None = None
    block_here: Blocked | None = None
    covered: Any = None

    def blocked(self, _spec: HookSpec) -> Blocked | None:
        return self.block

    def blocked_in(self, _spec: HookSpec, _cwd: str) -> Blocked | None:
        return self.block_here


def run(spec: HookSpec, *, selection: Selection | None = None, state: Any = None, **checks: Any) -> Any:
    begun = state or fold.begin(event_kind("PreToolUse"), EVENT.data)
    return outcome_without_running(spec, EVENT, selection or Selection(), begun, Checks(**checks))


# ── when it is the hook's turn ───────────────────────────────────────────────────────────────────────


def test_nothing_in_the_way_lets_it_run() -> None:
    assert run(hook_spec("a")) is None


def test_after_a_deny_the_rest_is_skipped() -> None:
    deny = hook_spec("deny")
    state = fold.begin(event_kind("PreToolUse"), EVENT.data)
    state = fold.step(state, deny, Replied(id=deny.id, hook="deny", reply=Reply(effect="deny", reason="no")))
    outcome = run(hook_spec("a"), state=state)
    assert (type(outcome), outcome.not_run, outcome.error) == (Skipped, "stopped", "an earlier hook denied it")


def test_what_cannot_be_decided_counts_as_failed() -> None:
    spec = hook_spec("a")
    outcome = run(spec, selection=Selection(broken={spec.id: "bad pattern"}))
    assert (type(outcome), outcome.not_run, outcome.error) == (Failed, "undecidable", "bad pattern")


def test_a_gate_skips_and_says_why() -> None:
    spec = hook_spec("a")
    outcome = run(spec, selection=Selection(held={spec.id: "only on turn 3"}))
    assert (type(outcome), outcome.not_run, outcome.error) == (Skipped, "gate", "only on turn 3")


def test_a_claim_is_used_up_by_the_first_run() -> None:
    spec, sessions = hook_spec("a", gates=Gates(once_per_session=True)), MemorySessions()
    assert run(spec, sessions=sessions) is None
    outcome = run(spec, sessions=sessions)
    assert (type(outcome), outcome.not_run, outcome.error) == (Skipped, "claim", "already ran in this session")


def test_a_gate_that_holds_leaves_the_claim_for_later() -> None:
    spec, sessions = hook_spec("a", gates=Gates(once_per_session=True)), MemorySessions()
    assert run(spec, selection=Selection(held={spec.id: "not yet"}), sessions=sessions).not_run == "gate"
    assert run(spec, sessions=sessions) is None


def test_a_hook_that_claims_first_uses_its_claim_even_when_held() -> None:
    gates = Gates(once_per_session=True, claim_first=True)
    spec, sessions = hook_spec("a", gates=gates), MemorySessions()
    assert run(spec, selection=Selection(held={spec.id: "not yet"}), sessions=sessions).not_run == "gate"
    assert run(spec, sessions=sessions).not_run == "claim"


@pytest.mark.parametrize(("block", "kind"), [(BLOCK, Skipped), (TAMPERED, Failed)])
def test_a_block_skips_unless_somebody_tampered(block: Blocked, kind: type) -> None:
    outcome = run(hook_spec("a"), block=block)
    assert (type(outcome), outcome.not_run, outcome.error) == (kind, block.reason, block.message)


def test_a_block_of_this_directory_counts_too_and_comes_second() -> None:
    assert run(hook_spec("a"), block_here=TAMPERED).error == "changed since"
    assert run(hook_spec("a"), block=BLOCK, block_here=TAMPERED).error == "not trusted"


# ── would it run? ────────────────────────────────────────────────────────────────────────────────────


def why(spec: HookSpec, unmatched: Blocked | None = None, **checks: Any) -> str:
    return explain(spec, EVENT, unmatched, Checks(**checks)).why


def test_explain_says_nothing_where_it_would_run() -> None:
    assert why(hook_spec("a")) == ""


def test_missing_trust_is_explained_before_a_matcher_that_does_not_fit() -> None:
    unmatched = Blocked(reason="mismatch", message="the tool is Bash")
    assert why(hook_spec("a"), unmatched, block=BLOCK) == "not trusted; besides, the tool is Bash"


def test_a_tampered_guard_is_explained_with_what_its_failure_means() -> None:
    text = why(hook_spec("a", on_failure="deny"), block=TAMPERED)
    assert text == "changed since; until then it counts as failed (on_failure = deny)"


def test_explaining_uses_up_no_claim() -> None:
    spec, sessions = hook_spec("a", gates=Gates(once_per_session=True)), MemorySessions()
    assert why(spec, sessions=sessions) == ""
    assert run(spec, sessions=sessions) is None
    assert why(spec, sessions=sessions) == "already ran in this session"


@pytest.mark.parametrize(("reason", "matches"), [("mismatch", False), ("gate", True)])
def test_only_a_mismatch_means_that_it_does_not_match(reason: Any, matches: bool) -> None:
    unmatched = Blocked(reason=reason, message="x")
    assert explain(hook_spec("a"), EVENT, unmatched, Checks()).matches is matches


# ── trust and switches ───────────────────────────────────────────────────────────────────────────────


def foreign(name: str = "guard", **fields: Any) -> HookSpec:
    return hook_spec(name, origin=Origin(file="/p/hookline.toml", layer="project"), **fields)


def verdict(state: Any, changed: tuple[str, ...] = ()) -> TrustVerdict:
    return TrustVerdict(state=state, changed=changed)


def blocks(tmp_path: Path, **given: Any) -> HookBlocks:
    made: dict[str, Any] = {
        "verdicts": {}, "store": None, "removed": (), "show": lambda _spec: "hookline trust", "agent_runs": {},
        "disabled": Switches(str(tmp_path / "off.json")), "inside_agent": None, **given,
    }  # fmt: skip
    return HookBlocks(**made)


def test_a_persons_own_hook_needs_no_trust(tmp_path: Path) -> None:
    own = hook_spec("mine", origin=Origin(file="/u/hookline.toml", layer="user"))
    assert blocks(tmp_path, verdicts={own.id: verdict("unknown")})(own) is None


def test_a_projects_hook_that_nobody_approved_is_skipped(tmp_path: Path) -> None:
    spec = foreign()
    block = blocks(tmp_path, verdicts={spec.id: verdict("unknown")})(spec)
    assert block is not None
    assert (block.reason, block.counts_as_failure) == ("untrusted", False)
    assert "hookline trust" in block.message


def test_an_approved_hook_runs(tmp_path: Path) -> None:
    spec = foreign()
    assert blocks(tmp_path, verdicts={spec.id: verdict("trusted")})(spec) is None


def test_a_hook_that_changed_counts_as_failed_and_names_what_changed(tmp_path: Path) -> None:
    spec = foreign()
    block = blocks(tmp_path, verdicts={spec.id: verdict("changed", ("definition", "guard.sh"))})(spec)
    assert block is not None
    assert (block.reason, block.counts_as_failure) == ("changed", True)
    assert "definition, guard.sh" in block.message


def test_a_hook_that_is_gone_counts_as_failed(tmp_path: Path) -> None:
    spec = foreign()
    block = blocks(tmp_path, removed=(spec,))(spec)
    assert block is not None
    assert (block.reason, block.counts_as_failure) == ("removed", True)


def test_approvals_that_cannot_be_read_open_no_guard(tmp_path: Path) -> None:
    (tmp_path / "trust.json").write_text("{")
    store = TrustStore(str(tmp_path / "trust.json"), root=str(tmp_path))
    store.list()
    assert store.note
    spec = foreign()
    block = blocks(tmp_path, store=store, verdicts={spec.id: verdict("unknown")})(spec)
    assert block is not None
    assert (block.reason, block.counts_as_failure) == ("trust-unreadable", True)


def test_a_hook_of_a_plugin_is_approved_with_the_plugin(tmp_path: Path) -> None:
    spec = foreign(extra={"plugin": "the-plugin"})
    block = blocks(tmp_path, verdicts={"the-plugin": verdict("unknown"), spec.id: verdict("trusted")})(spec)
    assert block is not None
    assert block.reason == "untrusted"


def test_a_hook_that_is_switched_off_is_skipped(tmp_path: Path) -> None:
    spec = foreign()
    switches = Switches(str(tmp_path / "off.json"), clock=lambda: 100.0)
    switches.switch_off([spec])
    block = blocks(tmp_path, disabled=switches)(spec)
    assert block is not None
    assert (block.reason, block.counts_as_failure) == ("disabled", False)


def test_a_tampered_guard_fails_though_it_has_the_name_of_one_that_is_off(tmp_path: Path) -> None:
    spec = foreign()
    switches = Switches(str(tmp_path / "off.json"))
    switches.switch_off([spec])
    block = blocks(tmp_path, disabled=switches, verdicts={spec.id: verdict("changed", ("definition",))})(spec)
    assert block is not None
    assert block.counts_as_failure


def test_what_the_agent_runs_itself_is_left_to_it(tmp_path: Path) -> None:
    spec, own = foreign(), Blocked(reason="agent-runs-it", message="codex runs it itself")
    assert blocks(tmp_path, agent_runs={spec.id: own})(spec) is own


# ── inside a hook's own agent ────────────────────────────────────────────────────────────────────────

ASKS = (AgentRun(prompt="?"), Prompt(text="?"))
ACTS = (Command(form="shell", text="true"), Function(target="a:b"))


def test_outside_of_a_hooks_agent_nothing_is_held_back() -> None:
    assert inside_agent({}, agents_door=False) is None
    assert inside_agent({"HOOKLINE_NO_HOOKS": "0"}, agents_door=True) is None


@pytest.mark.parametrize("action", [*ASKS, *ACTS])
def test_inside_of_it_no_hook_runs(action: Any) -> None:
    holds = inside_agent({"HOOKLINE_NO_HOOKS": "1"}, agents_door=False)
    assert holds is not None
    assert holds(hook_spec("a", action=action))


@pytest.mark.parametrize("action", [*ASKS, *ACTS])
def test_at_the_agents_door_the_variable_holds_back_only_who_asks_a_model(action: Any) -> None:
    holds = inside_agent({"HOOKLINE_NO_HOOKS": "1"}, agents_door=True)
    assert holds is not None
    assert holds(hook_spec("a", action=action)) is (action in ASKS)


# ── the files that were approved ─────────────────────────────────────────────────────────────────────


def pinned(path: str) -> TrustVerdict:
    approval = Approval(
        name="guard",
        event="PreToolUse",
        file="/p/hookline.toml",
        pointer="$",
        definition="d",
        cover=Cover(named=(path,)),
    )
    return TrustVerdict(state="trusted", approval=approval)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "guard.sh").write_text("#!/bin/sh\n")
    return tmp_path


def other_file(root: Path, spec: HookSpec, cwd: Path, path: str = "guard.sh") -> Blocked | None:
    return block_other_files({spec.id: pinned(path)}, str(root))(spec, str(cwd))


SHELL = Command(form="shell", text="./guard.sh")


def test_in_the_projects_root_the_approved_file_runs(root: Path) -> None:
    assert other_file(root, foreign(action=SHELL), root) is None


def test_a_second_file_of_that_name_where_the_agent_works_counts_as_tampering(root: Path) -> None:
    (root / "sub/guard.sh").write_text("#!/bin/sh\nexit 0\n")
    block = other_file(root, foreign(action=SHELL), root / "sub")
    assert block is not None
    assert (block.reason, block.counts_as_failure) == ("other-file", True)


def test_a_link_to_the_approved_file_is_that_file(root: Path) -> None:
    (root / "sub/guard.sh").symlink_to(root / "guard.sh")
    assert other_file(root, foreign(action=SHELL), root / "sub") is None


def test_a_broken_link_in_its_place_is_another_file(root: Path) -> None:
    (root / "sub/guard.sh").symlink_to("nowhere")
    assert other_file(root, foreign(action=SHELL), root / "sub") is not None


@pytest.mark.parametrize("action", [Command(form="argv", argv=("./guard.sh",)), Function(target="guard:x")])
def test_what_is_looked_up_in_the_root_cannot_be_replaced_elsewhere(root: Path, action: Any) -> None:
    (root / "sub/guard.sh").write_text("#!/bin/sh\nexit 0\n")
    assert other_file(root, foreign(action=action), root / "sub") is None


def test_a_hook_without_a_verdict_has_no_approved_files(root: Path) -> None:
    assert block_other_files({}, str(root))(foreign(action=SHELL), str(root / "sub")) is None


# ── hooks that the calling agent runs itself ─────────────────────────────────────────────────────────


def borrowed(file: Path, layer: str) -> HookSpec:
    return hook_spec("theirs", dialect="claude", origin=Origin(file=str(file), layer=layer))


@pytest.mark.parametrize(("place", "layer"), [("home", "user"), ("work", "project")])
def test_what_an_agent_reads_from_its_own_file_it_runs_itself(tmp_path: Path, place: str, layer: str) -> None:
    spec = borrowed(tmp_path / place / ".claude/settings.json", layer)
    found = block_agents_own("claude-code", [spec], str(tmp_path / "work"), str(tmp_path / "home"), {})
    assert found[spec.id].reason == "agent-runs-it"


def test_another_agent_does_not_run_them(tmp_path: Path) -> None:
    spec = borrowed(tmp_path / "home/.claude/settings.json", "user")
    assert block_agents_own("gemini-cli", [spec], str(tmp_path / "work"), str(tmp_path / "home"), {}) == {}


def test_our_own_hooks_are_run_by_nobody_else(tmp_path: Path) -> None:
    assert block_agents_own("claude-code", [foreign()], str(tmp_path), str(tmp_path), {}) == {}


def test_a_variable_that_moves_the_persons_file_leaves_nothing_out(tmp_path: Path) -> None:
    spec = borrowed(tmp_path / "moved/settings.json", "user")
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}
    assert block_agents_own("claude-code", [spec], str(tmp_path / "work"), str(tmp_path / "home"), environ) == {}
