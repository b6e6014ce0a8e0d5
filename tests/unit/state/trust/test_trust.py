from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline.core.errors import StateError
from hookline.core.hook import (
    FILE_EVENT,
    AgentRun,
    Command,
    FieldTest,
    Function,
    Gates,
    HookSpec,
    Http,
    Matcher,
    Origin,
    Pattern,
    Plugin,
    Prompt,
    Scope,
    hook_id,
)
from hookline.state.trust import TrustStore
from hookline.state.trust.covered import CoveredFiles
from hookline.state.trust.digest import Digests
from hookline.state.trust.pins import compute_pins

APPROVER = """
import sys
from hookline.core.hook import Command, HookSpec, Origin
from hookline.state.trust import TrustStore
store = TrustStore(sys.argv[1])
for number in range(20):
    name = f"{sys.argv[2]}-{number}"
    origin = Origin(file=sys.argv[3], pointer=name)
    store.approve([HookSpec(id=name, name=name, dialect="native", event="Stop", origin=origin, action=Command(form="argv", argv=("true",)))])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "hooks").mkdir(parents=True)
    (root / ".hookline").mkdir()
    (root / ".git").mkdir()
    script = root / "hooks" / "guard.sh"
    script.write_text("#!/bin/sh\nexit 2\n")
    script.chmod(0o755)
    return root


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(str(tmp_path / "state" / "trust.json"))


def spec(
    project: Path, action=None, *, name="guard", event="PreToolUse", pointer="$.hook[0]", line=3, **more
) -> HookSpec:
    file = str(project / ".hookline" / "hookline.toml")
    return HookSpec(
        id=hook_id(file, pointer, event), name=name, dialect="native", event=event,
        origin=Origin(file=file, line=line, pointer=pointer, layer="project"),
        action=action or Command(form="argv", argv=("./hooks/guard.sh",)), **more,
    )  # fmt: skip


def shell(text: str) -> Command:
    return Command(form="shell", text=text)


def pinned(project: Path, action, environ=None, **more) -> list[str]:
    return [
        path
        for path, _ in compute_pins(
            spec(project, action, **more), str(project), environ or {"PATH": os.environ["PATH"]}
        ).files
    ]


# ── what is pinned ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "action",
    [
        Command(form="argv", argv=("./hooks/guard.sh",)),
        Command(form="argv", argv=("hooks/guard.sh", "x")),
        Command(form="argv", argv=("bash", "hooks/guard.sh")),
        Command(form="argv", argv=("bash", "-c", "cd . && ./hooks/guard.sh --fast")),
        Command(form="argv", argv=("x", "--script=hooks/guard.sh")),
        Command(form="argv", argv=("../hooks/guard.sh",)),
        Command(form="words", text="sh 'hooks/guard.sh' $FILE"),
        Command(form="script", text="#!/bin/bash\n# don't\nsource hooks/guard.sh\n"),
        shell("test -f x; . hooks/guard.sh"),
        shell('"$CLAUDE_PROJECT_DIR"/hooks/guard.sh'),
        shell("${UNKNOWN}/hooks/guard.sh"),
        shell("$(git rev-parse --show-toplevel)/hooks/guard.sh"),
        shell("cat <hooks/guard.sh|sh"),
        AgentRun(command=("sh", "hooks/guard.sh")),
    ],
)
def test_a_file_of_the_project_that_a_command_names_is_pinned(project, action) -> None:
    assert pinned(project, action) == ["hooks/guard.sh"]


def test_a_path_in_the_callers_environment_is_followed(project) -> None:
    assert pinned(project, shell("$WHERE/guard.sh"), {"WHERE": str(project / "hooks")}) == ["hooks/guard.sh"]


def test_a_name_with_spaces_is_pinned(project) -> None:
    (project / "my hook.sh").write_text("x")
    assert pinned(project, shell("sh 'my hook.sh'")) == ["my hook.sh"]


def test_an_absolute_path_into_the_project_is_pinned(project) -> None:
    assert pinned(project, Command(form="argv", argv=(str(project / "hooks/guard.sh"),))) == ["hooks/guard.sh"]


def test_a_python_module_is_pinned_with_its_packages(project) -> None:
    (project / "pkg" / "sub").mkdir(parents=True)
    for file in ("pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/mod.py"):
        (project / file).write_text("")
    expected = ["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/mod.py"]
    assert pinned(project, Function(target="pkg.sub.mod:run", base=str(project))) == expected
    assert pinned(project, Command(form="argv", argv=("python3", "-m", "pkg.sub.mod"))) == expected


def test_a_plugin_is_pinned_wherever_it_is(project, tmp_path) -> None:
    program = tmp_path / "plugin"
    program.write_text("x")
    assert pinned(project, Plugin(name="p", path=str(program))) == [str(program)]


def test_a_prompt_file_that_the_dialect_kept_is_pinned(project) -> None:
    (project / "prompts").mkdir()
    (project / "prompts" / "x.md").write_text("be careful")
    assert pinned(project, Prompt(text="be careful"), extra={"prompt_file": "prompts/x.md"}) == ["prompts/x.md"]


def test_a_link_out_of_the_project_is_pinned_by_what_it_leads_to(project, tmp_path) -> None:
    target = tmp_path / "elsewhere.sh"
    target.write_text("one")
    (project / "hooks" / "link.sh").symlink_to(target)
    before = compute_pins(spec(project, shell("hooks/link.sh")), str(project), {})
    target.write_text("two")
    after = compute_pins(spec(project, shell("hooks/link.sh")), str(project), {})
    assert [path for path, _ in before.files] == ["hooks/guard.sh", "hooks/link.sh"]
    assert before.files != after.files


@pytest.mark.parametrize(
    ("action", "unpinned"),
    [
        (Command(form="argv", argv=("jq", ".x")), ("jq",)),
        (shell("jq -r .x | grep -q rm && exit 2"), ("jq", "grep")),
        (shell("FOO=1 mytool; if othertool; then echo x; fi"), ("mytool", "othertool")),
        (Command(form="argv", argv=("/bin/sh", "-c", "true")), ("/bin/sh",)),
        (shell("echo x >> log.txt"), ("log.txt (written)",)),
        (shell("echo '<date>'"), ()),
        (Function(target="os.path:join"), ("module os.path",)),
        (Http(url="https://example.com/h?token=x"), ("https://example.com/h",)),
        (Prompt(text="is it safe?"), ()),
        (Plugin(name="p", path="/not/there"), ("/not/there",)),
    ],
)
def test_everything_else_is_shown_as_unpinned(project, action, unpinned) -> None:
    pins = compute_pins(spec(project, action), str(project), {"PATH": os.environ["PATH"]})
    assert (pins.files, pins.unpinned) == ((), unpinned)


def test_a_script_by_the_variable_of_its_project_is_pinned_and_not_shown_as_unpinned(project) -> None:
    (project / "hooks").mkdir(exist_ok=True)
    (project / "hooks" / "fmt.sh").write_text("#!/bin/sh\n")
    pins = compute_pins(spec(project, shell('"$CLAUDE_PROJECT_DIR"/hooks/fmt.sh')), str(project), {"PATH": "/bin"})
    assert ("hooks/fmt.sh" in dict(pins.files), pins.unpinned) == (True, ())


def test_a_log_that_a_hook_writes_does_not_untrust_it(project, store) -> None:
    hook = spec(project, shell("hooks/guard.sh >> log.txt 2>&1"))
    (project / "log.txt").write_text("")
    store.approve([hook])
    (project / "log.txt").write_text("more")
    assert store.verdict(hook).state == "trusted"


@pytest.mark.parametrize(
    "text",
    [
        "'", '"', "$(", "a\0b", pytest.param("x" * 100_000, marks=pytest.mark.slow), "\ud800", "<<EOF\n'\nEOF", "((((",
        "\\",
    ],
)  # fmt: skip
def test_any_text_is_survived(project, text) -> None:
    for action in (
        shell(text),
        Command(form="argv", argv=(text,)),
        Command(form="words", text=text),
        Plugin(name="p", path=text),
    ):
        compute_pins(spec(project, action), str(project), {})


def test_a_fifo_and_a_directory_are_no_files(project) -> None:
    os.mkfifo(project / "pipe")
    assert pinned(project, shell("cat pipe hooks")) == []


# ── what is trusted ──────────────────────────────────────────────────────────────────────────────────


def test_a_hook_is_unknown_until_it_is_approved(project, store) -> None:
    hook = spec(project)
    assert store.verdict(hook).state == "unknown"
    store.approve([hook])
    verdict = store.verdict(hook)
    assert (verdict.state, verdict.changed) == ("trusted", ())


def test_a_changed_script_is_named(project, store) -> None:
    hook = spec(project)
    store.approve([hook])
    (project / "hooks" / "guard.sh").write_text("#!/bin/sh\nexit 0\n")
    verdict = store.verdict(hook)
    assert (verdict.state, verdict.changed) == ("changed", ("hooks/guard.sh",))


def test_a_deleted_script_is_named(project, store) -> None:
    hook = spec(project)
    store.approve([hook])
    (project / "hooks" / "guard.sh").unlink()
    assert store.verdict(hook).changed == ("hooks/guard.sh",)


@pytest.mark.parametrize(
    "edit",
    [{"timeout": 1.0}, {"on_failure": "deny"}, {"enabled": False}, {"environ": {"A": "b"}}, {"extra": {"quiet": True}},
     {"action": Command(form="argv", argv=("true",))}],
)  # fmt: skip
def test_an_edited_hook_does_not_become_a_stranger(project, store, edit) -> None:
    hook = spec(project)
    store.approve([hook])
    verdict = store.verdict(replace(hook, **edit))
    assert (verdict.state, verdict.changed) == ("changed", ("definition",))


def test_an_edit_that_also_changes_the_name_is_still_a_change_of_what_stood_there(project, store) -> None:
    store.approve([spec(project, name="guard")])
    assert store.verdict(spec(project, shell("true"), name="true")).state == "changed"


def _changes(store, hook) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.path, one.lines) for one in store.changes(hook, store.verdict(hook))]


def test_what_changed_since_the_approval_is_shown_line_by_line(project, store) -> None:
    hook = spec(project)
    store.approve([hook])
    assert _changes(store, hook) == []
    script = project / "hooks" / "guard.sh"
    before = script.read_text().splitlines()
    script.write_text(before[0] + "\nexit 0\n")
    ((path, lines),) = _changes(store, hook)
    assert (path, [line for line in lines if line[0] in "+-"]) == (
        "hooks/guard.sh",
        [*(f"-{line}" for line in before[1:]), "+exit 0"],
    )
    edited = replace(hook, on_failure="deny", action=Command(form="shell", text="echo a\necho b"))
    names = {
        one.path: [line for line in one.lines if line[0] in "+-"]
        for one in store.changes(edited, store.verdict(edited))
    }
    assert {"+on_failure = deny", "+action.text = echo a", "+    echo b"} <= set(names["definition"])


def test_a_changed_definition_is_shown_as_a_person_writes_it(project, store) -> None:
    def hook(rule: str, tool: str, **more: Any) -> HookSpec:
        test = FieldTest(path="tool_input.command", pattern=Pattern(style="command", text=rule))
        return replace(spec(project), matcher=Matcher(subject=Pattern(style="full", text=tool), fields=(test,)), **more)

    store.approve([hook("git push *", "Bash")])
    ((_, lines),) = _changes(store, hook("git push * main", "Bash|Sh", gates=Gates(min_turn=3)))
    assert [line for line in lines if line[0] in "+-"] == [
        "-match.tool_input.command = git push * (programs of a command)",
        "-match = Bash",
        "+when.min_turn = 3",
        "+match.tool_input.command = git push * main (programs of a command)",
        "+match = Bash|Sh",
    ]
    ((_, lines),) = _changes(store, hook("git push *", "Bash", scope=Scope(default=True)))
    assert "+scope.default = true" in lines


def test_only_what_is_approved_now_is_kept_and_only_its_owner_reads_it(project, store) -> None:
    hook, script = spec(project), project / "hooks" / "guard.sh"
    store.approve([hook])
    folder = Path(store.path).parent / "approved"
    first = {path.name for path in folder.iterdir()}
    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())} == {0o700, 0o600}
    script.write_text("#!/bin/sh\nexit 1\n")
    store.approve([hook])
    second = {path.name for path in folder.iterdir()}
    assert (len(first), len(second), len(first & second)) == (2, 2, 1)  # the definition is the same


def test_a_copy_that_is_not_what_its_name_says_is_not_shown(project, store) -> None:
    hook = spec(project)
    store.approve([hook])
    for path in (Path(store.path).parent / "approved").iterdir():
        path.write_text("harmless\n")
    (project / "hooks" / "guard.sh").write_text("#!/bin/sh\nexit 0\n")
    ((_, lines),) = _changes(store, hook)
    assert lines == ("(the approved version was not kept: a larger file, or approved by an older hookline)",)


def test_a_moved_hook_stays_trusted_and_its_new_neighbour_is_unknown(project, store) -> None:
    hook = spec(project)
    store.approve([hook])
    moved = spec(project, pointer="$.hook[1]", line=9)
    fresh = spec(project, shell("true"), name="new", pointer="$.hook[0]")
    verdicts = store.verdicts([fresh, moved])
    assert {verdict_id: verdict.state for verdict_id, verdict in verdicts.items()} == {
        fresh.id: "unknown",
        moved.id: "trusted",
    }
    assert store.missing([fresh, moved]) == ()


def test_the_same_hook_on_another_event_is_unknown(project, store) -> None:
    store.approve([spec(project)])
    assert store.verdict(spec(project, event="Stop")).state == "unknown"


def test_the_same_hook_in_another_project_is_unknown(project, store, tmp_path) -> None:
    store.approve([spec(project)])
    assert store.verdict(spec(tmp_path / "other")).state == "unknown"


def test_hooks_of_the_same_name_are_told_apart_by_their_content(project, store) -> None:
    one, two = spec(project, shell("true")), spec(project, shell("false"), pointer="$.hook[1]")
    store.approve([one, two])
    assert [verdict.state for verdict in store.judge([one, two]).verdicts] == ["trusted", "trusted"]


def test_a_guard_that_was_removed_is_missing(project, store) -> None:
    hook, other = spec(project), spec(project, shell("true"), name="other", pointer="$.hook[1]")
    store.approve([hook, other])
    (gone,) = store.missing([other])
    assert (gone.name, gone.event, gone.file) == ("guard", "PreToolUse", hook.origin.file)
    assert store.forget([gone]) == 1
    assert store.missing([other]) == ()


def test_approving_again_replaces_what_was_approved(project, store) -> None:
    hook = spec(project)
    store.approve([hook])
    changed = replace(hook, timeout=1.0)
    store.approve([changed])
    assert store.verdict(changed).state == "trusted"
    assert store.verdict(hook).state == "changed"
    assert len(store.list()) == 1


def test_what_was_revoked_is_unknown(project, store) -> None:
    hook = spec(project)
    store.approve([hook])
    assert (store.revoke("guard"), store.revoke("guard")) == (1, 0)
    assert store.verdict(hook).state == "unknown"


def test_an_approval_elsewhere_is_noticed(project, store) -> None:
    hook = spec(project)
    assert store.verdict(hook).state == "unknown"
    before = store.version
    TrustStore(store.path).approve([hook])
    assert store.version != before
    assert store.verdict(hook).state == "trusted"


# ── looking again ────────────────────────────────────────────────────────────────────────────────────


def covered(project: Path, action=None) -> CoveredFiles:
    found = compute_pins(spec(project, action), str(project), {}).cover
    return CoveredFiles(found, str(project), Digests(), {})


def test_files_stay_approved_while_only_times_change(project) -> None:
    files = covered(project)
    assert files.check() == ()
    os.utime(project / "hooks" / "guard.sh", (1, 1))
    assert files.check() == ()


def test_an_edit_that_hides_behind_the_old_time_and_size_is_seen(project) -> None:
    script = project / "hooks" / "guard.sh"
    files = covered(project)
    status = script.stat()
    script.write_text("#!/bin/sh\nexit 0\n")
    os.utime(script, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert files.check() == ("hooks/guard.sh",)


def test_a_deleted_file_is_seen(project) -> None:
    files = covered(project)
    (project / "hooks" / "guard.sh").unlink()
    assert files.check() == ("hooks/guard.sh",)


def test_a_program_that_appears_in_front_of_the_approved_one_is_seen(project, store) -> None:
    (project / ".hookline" / "own.sh").write_text("x")
    hook = spec(project, Command(form="argv", argv=("./own.sh",), base=str(project / ".hookline")))
    store.approve([hook])
    assert store.verdict(hook).state == "trusted"
    (project / "own.sh").write_text("evil")
    assert store.verdict(hook).changed == ("appeared: own.sh",)


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────


def test_only_the_owner_can_read_and_write_approvals(project, store) -> None:
    store.approve([spec(project)])
    assert stat.S_IMODE(os.stat(store.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(store.path)).st_mode) == 0o700


@pytest.mark.parametrize("content", ["", "{", "[]", '{"approvals": [{"name": 1}]}', '{"approvals": 3}', "\0\xff"])
def test_a_file_that_cannot_be_read_trusts_nothing_and_says_so(project, store, content) -> None:
    store.approve([spec(project)])
    Path(store.path).write_text(content)
    assert store.verdict(spec(project)).state == "unknown"
    assert "nothing of a project is trusted" in store.note


def test_a_place_that_cannot_be_written_is_a_state_error(project, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    store = TrustStore(str(tmp_path / "file" / "trust.json"))
    assert store.verdict(spec(project)).state == "unknown"
    with pytest.raises(StateError):
        store.approve([spec(project)])


@pytest.mark.slow
def test_approvals_of_many_processes_are_all_kept(project, store) -> None:
    file = str(project / "hookline.toml")
    approvers = [subprocess.Popen([sys.executable, "-c", APPROVER, store.path, f"p{n}", file]) for n in range(3)]
    assert [process.wait(timeout=60) for process in approvers] == [0, 0, 0]
    assert sorted(approval.name for approval in store.list()) == sorted(
        f"p{p}-{n}" for p in range(3) for n in range(20)
    )
    assert json.loads(Path(store.path).read_text())["version"] == 1


# ── what a file holds besides hooks ──────────────────────────────────────────────────────────────────


def contents(project: Path, text: str = "{}") -> HookSpec:
    return replace(
        spec(project, shell(""), name="hookline.toml", event=FILE_EVENT, pointer="$"), extra={"besides": text}
    )


def test_a_file_is_known_once_something_of_it_was_approved(project: Path, store: TrustStore) -> None:
    file = spec(project).origin.file
    assert not store.knows(file)
    store.approve([contents(project)])
    assert (store.knows(file), store.knows(f"{file}.other")) == (True, False)


def test_contents_are_covered_as_they_were_approved(project: Path, store: TrustStore) -> None:
    store.approve([spec(project), contents(project)])
    assert (store.covers(contents(project)), store.covers(contents(project, "[]"))) == (True, False)


def test_a_project_that_an_older_version_approved_is_approved_with_its_files(project: Path, tmp_path: Path) -> None:
    store = TrustStore(str(tmp_path / "trust.json"), root=str(project))
    assert not store.covers(contents(project))
    store.approve([spec(project)])
    assert store.covers(contents(project))
    assert store.knows(str(project / ".hookline" / "local.toml"))
    store.approve([contents(project)])
    assert not store.covers(contents(project, "[]"))
    assert not store.knows(str(project / ".hookline" / "local.toml"))


def test_contents_are_never_missed(project: Path, store: TrustStore) -> None:
    store.approve([spec(project), contents(project)])
    assert [one.name for one in store.missing([])] == []
    assert [one.name for one in store.missing([spec(project, name="other", event="Stop")])] == ["guard"]


def test_a_file_whose_last_hook_is_revoked_is_a_stranger_again(project: Path, store: TrustStore) -> None:
    store.approve([spec(project), spec(project, name="b", event="Stop"), contents(project)])
    store.revoke("guard")
    assert store.knows(spec(project).origin.file)
    store.revoke("b")
    assert not store.knows(spec(project).origin.file)


def test_where_approvals_cannot_be_read_every_file_may_be_one_of_them(project: Path, store: TrustStore) -> None:
    Path(store.path).parent.mkdir()
    Path(store.path).write_text("{")
    assert store.knows(spec(project).origin.file)
    assert not store.covers(contents(project))
