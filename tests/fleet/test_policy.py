"""A policy of the machine's owner: signed, never older than the last one, and in force whatever people write."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Project

from hookline.core.errors import ConfigError, UsageError
from hookline.core.paths import Paths
from hookline.core.result import Decision
from hookline.engine.build import Runtime, Sources, StoreOptions, load_runtime
from hookline.fleet import keys
from hookline.fleet.build import build_policy, reseal
from hookline.fleet.bundle import read_bundle
from hookline.fleet.install import PolicyFolder
from hookline.fleet.machine import put_in_force
from hookline.packs.store import PackStore
from hookline.packs.tree import read_folder

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a policy counts only if root owns its files")
PUSH: Mapping[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
HOOK = '[[hook]]\nname = "no-push"\non = "PreToolUse"\nrun = ["./hooks/no.sh"]\non_failure = "deny"\n'


class Owner:
    """Who builds policies, and a machine that takes them."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = base / "home"
        self.paths = Paths(
            config=str(self.home / "config"), state=str(self.home / "state"), data=str(self.home / "data"),
            machine=str(base / "etc/hookline"),
        )  # fmt: skip
        self.machine = PolicyFolder(self.paths)
        self.folder = base / "policy"
        self.key = str(base / "owner.key")
        self.public = keys.generate(self.key)
        self.write("hooks/no.sh", "#!/bin/sh\necho 'the owner says no' >&2\nexit 2\n").chmod(0o755)
        self.write("hookline.toml", HOOK)
        self.write("policy.toml", 'name = "acme"\nversion = 1\nagents = ["claude-code", "codex"]\n')

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def build(self, version: int = 0, key: str = "") -> bytes:
        return build_policy(str(self.folder), key or self.key, self.paths, version=version).data

    def load(self, cwd: Path, **more: Any) -> Runtime:
        sources = Sources(cwd=cwd, home=str(self.home), paths=self.paths, environ={"PATH": os.environ["PATH"]}, **more)
        return load_runtime(sources, StoreOptions(record=False))

    def fire(self, cwd: Path, **more: Any) -> Decision:
        with self.load(cwd, **more).engine as engine:
            return engine.fire_sync("PreToolUse", PUSH)


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_folder_gives_the_same_bytes(owner: Owner) -> None:
    first = owner.build()
    for file in owner.folder.rglob("*"):
        os.utime(file, (1, 1))
    assert owner.build() == first


def test_no_changed_byte_is_accepted(owner: Owner) -> None:
    data = owner.build()
    owner.machine.install(data, owner.public)
    for at in range(0, len(data), 97):
        forged = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        with pytest.raises(ConfigError):
            owner.machine.install(forged)
    assert list(owner.machine.findings()) == [] or os.geteuid() != 0


def test_only_the_trusted_key_and_those_it_signed_are_accepted(owner: Owner, tmp_path: Path) -> None:
    stranger, second, third = (str(tmp_path / name) for name in ("stranger.key", "second.key", "third.key"))
    keys.generate(stranger)
    keys.generate(second, owner.key)
    keys.generate(third, second)
    with pytest.raises(UsageError, match="trusts no key yet"):
        owner.machine.install(owner.build())
    assert owner.machine.install(owner.build(), owner.public)
    with pytest.raises(ConfigError, match="signed by the old one"):
        owner.machine.install(owner.build(2, stranger))
    assert owner.machine.install(owner.build(3, third))
    with pytest.raises(ConfigError, match="signed by the old one"):  # the first key has been followed
        owner.machine.install(owner.build(4))
    with pytest.raises(UsageError, match="already"):
        owner.machine.install(owner.build(5, stranger), keys.read_public_key(f"{stranger}.pub"))


def test_a_key_that_somebody_else_signed_leads_nowhere(owner: Owner, tmp_path: Path) -> None:
    """A chain of the stranger's own, with the owner's key named in it."""
    stranger, after = str(tmp_path / "stranger.key"), str(tmp_path / "after.key")
    keys.generate(stranger)
    keys.generate(after, stranger)
    link = keys.read_public_key(f"{after}.pub").links[0]
    forged = keys.KeySuccession(key=link.key, by=owner.public.key, signature=link.signature)
    assert not keys.leads_to(owner.public.key, link.key, [forged])
    assert not keys.leads_to(owner.public.key, link.key, [link])


def test_a_version_never_goes_back(owner: Owner) -> None:
    old = owner.build()
    owner.machine.install(old, owner.public)
    owner.write("hookline.toml", HOOK + '[guard]\npolicy = "strict"\n')
    with pytest.raises(ConfigError, match="same version"):
        owner.machine.install(owner.build())
    assert owner.machine.install(owner.build(3))
    with pytest.raises(ConfigError, match="older than version 3"):
        owner.machine.install(old)
    owner.machine.remove()
    with pytest.raises(ConfigError, match="older than version 3"):
        owner.machine.install(old)
    again = reseal(old, owner.key, owner.paths, 4)
    assert owner.machine.install(again.data)
    assert not owner.machine.install(again.data)
    assert read_bundle(old).tree["hookline.toml"] == read_bundle(again.data).tree["hookline.toml"]


def test_what_is_wrong_does_not_get_into_a_policy(owner: Owner) -> None:
    owner.write("hookline.toml", HOOK + '[[source]]\ndialect = "letta"\n[[hook]]\non = "PreToolUs"\nshell = "x"\n')
    with pytest.raises(ConfigError) as caught:
        owner.build()
    assert "source cannot be part of a policy" in str(caught.value)
    assert "unknown event 'PreToolUs'" in str(caught.value)
    owner.write("policy.toml", 'name = "acme"\nagents = ["claud"]\n[records]\nsend = "some"\nfields = ["secret"]\n')
    with pytest.raises(ConfigError) as caught:
        owner.build()
    for part in ("has no version", "unknown agent 'claud'", "send must be one of", "unknown field 'secret'"):
        assert part in str(caught.value)


# ── in force ─────────────────────────────────────────────────────────────────────────────────────────

OFF = '[[hook]]\nname = "no-push"\non = "PreToolUse"\nenabled = false\nshell = "exit 0"\norder = 2147483648\n'


@needs_root
def test_neither_a_person_nor_a_repository_changes_a_hook_of_the_policy(owner: Owner, tmp_path: Path) -> None:
    owner.machine.install(owner.build(), owner.public)
    for place in (Path(owner.paths.config), tmp_path / "project/.hookline"):
        place.mkdir(parents=True)
        (place / "hookline.toml").write_text(OFF)
    decision = owner.fire(tmp_path / "project", trust_all=True)
    assert (decision.effect, decision.reason) == ("deny", "the owner says no")
    runtime = owner.load(tmp_path / "project", trust_all=True)
    runtime.switches.switch_off([spec for spec in runtime.engine.specs if spec.origin.layer == "managed"])
    runtime.engine.close()
    assert owner.fire(tmp_path / "project").effect == "deny"
    environ = {"PATH": os.environ["PATH"], "HOOKLINE_NO_HOOKS": "1"}
    sources = Sources(cwd=tmp_path, home=str(owner.home), paths=owner.paths, environ=environ, agents_door=True)
    with load_runtime(sources, StoreOptions(record=False)).engine as engine:
        assert engine.fire_sync("PreToolUse", PUSH).effect == "deny"


@needs_root
def test_a_hook_of_the_policy_sees_what_the_others_made_of_a_call(owner: Owner, tmp_path: Path) -> None:
    owner.write("hooks/no.sh", "#!/bin/sh\ngrep -q 'git push' && { echo 'no push' >&2; exit 2; }\nexit 0\n").chmod(
        0o755
    )
    owner.machine.install(owner.build(), owner.public)
    config = Path(owner.paths.config)
    config.mkdir(parents=True)
    rewrite = json.dumps(
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "git push"}}}
    )
    (config / "hookline.toml").write_text(
        f"[[hook]]\non = 'PreToolUse'\norder = 2147483648\nshell = '''echo '{rewrite}' '''\n"
    )
    with owner.load(tmp_path).engine as engine:
        decision = engine.fire_sync("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "git status"}})
    assert (decision.effect, decision.reason) == ("deny", "no push")


@needs_root
@pytest.mark.parametrize("what", ["current/hookline.toml", "versions", "."])
def test_a_policy_that_others_can_write_refuses(owner: Owner, tmp_path: Path, what: str) -> None:
    owner.write("hookline.toml", "")
    owner.machine.install(owner.build(), owner.public)
    assert owner.fire(tmp_path).effect == "allow"
    os.chmod(os.path.join(owner.machine.folder, what), 0o777)
    decision = owner.fire(tmp_path)
    assert decision.effect == "deny"
    assert "can be written by others" in decision.reason
    assert any("can be written by others" in one for one in owner.machine.findings())


_AS_SOMEBODY = """
import os, sys
from hookline.core.paths import Paths
from hookline.engine.build import Sources, StoreOptions, load_runtime

def fire(place, machine):
    paths = Paths(config=place, state=place, data=place, machine=machine)
    sources = Sources(cwd="/", home=place, paths=paths, environ={"PATH": os.environ["PATH"]})
    with load_runtime(sources, StoreOptions(record=False)).engine as engine:
        return engine.fire_sync("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "git push"}})

base, machine = sys.argv[1:]
fire(base + "/of-root", machine)  # every module is there: others may be unable to read ours
fire(base + "/of-root", base + "/of-root/missing")
from hookline.config import managed
os.setgroups([]), os.setgid(54321), os.setuid(54321)
decision = fire(base, machine)
print(decision.effect, decision.reason)
"""


def fire_as_somebody(base: Path, owner: Owner) -> str:
    """By a user who is neither root nor anybody with files there."""
    for place in (base, *base.parents):
        if not place.stat().st_mode & 0o001:
            pytest.skip(f"others cannot enter {place}")
    words = [sys.executable, "-c", _AS_SOMEBODY, str(base), owner.paths.machine]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def open_folder() -> Generator[Path]:
    """Which everybody can enter, unlike pytest's."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        os.chmod(made, 0o755)
        yield Path(made)


@needs_root
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_a_policy_guards_people_who_are_not_root(open_folder: Path, mask: int) -> None:
    """Whatever mask its owner has, and where an earlier version left the folder closed."""
    owner = Owner(open_folder)
    before = os.umask(mask)
    try:
        owner.machine.install(owner.build(), owner.public)
        os.chmod(owner.machine.folder, 0o700)
        owner.machine.install(owner.build(version=2))
    finally:
        os.umask(before)
    os.chmod(open_folder / "etc", 0o755)  # /etc is there already
    assert fire_as_somebody(open_folder, owner) == "deny the owner says no\n"
    for folder, _, files in os.walk(owner.machine.folder):
        modes = [os.lstat(os.path.join(folder, name)).st_mode for name in ("", *files)]
        assert not any(mode & 0o022 for mode in modes if not stat.S_ISLNK(mode)), folder


@needs_root
def test_a_link_that_others_could_turn_elsewhere_refuses(owner: Owner, tmp_path: Path) -> None:
    """To a folder of root's in which nothing is forbidden."""
    owner.machine.install(owner.build(), owner.public)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "hookline.toml").write_text("")
    os.chmod(owner.machine.folder, 0o777)
    os.unlink(owner.machine.current)
    os.symlink(elsewhere, owner.machine.current)
    decision = owner.fire(tmp_path)
    assert (decision.effect, "can be written by others" in decision.reason) == ("deny", True)


@needs_root
def test_everybodys_agents_can_read_what_names_the_policy(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    before = os.umask(0o077)
    try:
        done = put_in_force(owner.paths, owner.build(), owner.public, program="/usr/bin/hookline", root=str(tmp_path))
    finally:
        os.umask(before)
    assert done.written
    for path in map(Path, done.written):
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o644, 0o755)


@needs_root
@pytest.mark.parametrize("shut", ["etc/hookline", "etc/hookline/policy", "etc/hookline/policy/versions"])
def test_a_policy_that_a_person_cannot_read_refuses(open_folder: Path, shut: str) -> None:
    owner = Owner(open_folder)
    owner.machine.install(owner.build(), owner.public)
    os.chmod(open_folder / shut, 0o700)
    assert fire_as_somebody(open_folder, owner).startswith("deny the policy of this machine cannot be used")


@needs_root
def test_a_policy_that_lost_its_file_refuses(owner: Owner, tmp_path: Path) -> None:
    owner.machine.install(owner.build(), owner.public)
    os.unlink(os.path.join(owner.machine.current, "hookline.toml"))
    assert owner.fire(tmp_path).effect == "deny"
    assert any("hookline.toml is missing" in one for one in owner.machine.findings())


@needs_root
def test_a_pack_travels_inside_the_policy(owner: Owner, tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    (pack / "hooks").mkdir(parents=True)
    hook = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/no.sh"}
    (pack / "hooks/hooks.json").write_text(
        json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    )
    (pack / "no.sh").write_text("#!/bin/sh\necho 'the pack says no' >&2\nexit 2\n")
    (pack / "no.sh").chmod(0o755)
    digest = PackStore(owner.paths).put(read_folder(str(pack)))
    owner.write("hookline.toml", f'[[pack]]\nsource = "./pack"\ndigest = "{digest}"\n')
    data = owner.build()
    PackStore(owner.paths).drop(digest)
    owner.machine.install(data, owner.public)
    decision = owner.fire(tmp_path)
    assert (decision.effect, decision.reason) == ("deny", "the pack says no")
    assert list(owner.machine.findings()) == []


# ── the command ──────────────────────────────────────────────────────────────────────────────────────


@needs_root
def test_agents_files_are_written_kept_and_given_back(owner: Owner, project: Project, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    before = {
        "etc/claude-code/managed-settings.json": '{"model": "opus", "hooks": {"Stop": []}}\n',
        "etc/codex/requirements.toml": 'allowed_sandbox_modes = ["read-only"]\n',
    }
    for name, text in before.items():
        (disk / name).parent.mkdir(parents=True)
        (disk / name).write_text(text)
    (tmp_path / "p.hkp").write_bytes(owner.build())
    words = ("install", str(tmp_path / "p.hkp"), "--root", str(disk), "--program", "/usr/bin/hookline")
    done = project.run("policy", *words, "--key", f"{owner.key}.pub")
    assert (done.code, done.err) == (0, ""), done
    claude, codex = ((disk / name).read_text() for name in before)
    assert json.loads(claude)["model"] == "opus"
    assert "hookline hook --agent claude-code --event PreToolUse --registration managed/claude-code" in claude
    assert codex.startswith(before["etc/codex/requirements.toml"])
    assert "[[hooks.PreToolUse.hooks]]" in codex
    shown = project.run("policy", "verify", "--root", str(disk), "--json").json
    assert [(one["agent"], one["state"]) for one in shown["agents"]] == [
        ("claude-code", "in force"),
        ("codex", "in force"),
    ]
    assert shown["findings"] == []
    again = project.run("policy", *words)
    assert (again.code, again.out) == (0, "acme version 1 is already in force\n")
    (disk / "etc/claude-code/managed-settings.json").write_text("{}")
    assert project.run("policy", "verify", "--root", str(disk)).code == 1
    assert project.run("policy", *words).code == 0
    assert project.run("policy", "verify", "--root", str(disk)).code == 0
    assert project.run("policy", "remove", "--root", str(disk)).code == 0
    assert (disk / "etc/codex/requirements.toml").read_text() == before["etc/codex/requirements.toml"]
    assert "hookline" not in (disk / "etc/claude-code/managed-settings.json").read_text()


def test_a_file_that_cannot_be_edited_changes_nothing(owner: Owner, project: Project, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    (disk / "etc/codex").mkdir(parents=True)
    (disk / "etc/codex/requirements.toml").write_text("[features]\nhooks = false\n")
    (tmp_path / "p.hkp").write_bytes(owner.build())
    words = ("install", str(tmp_path / "p.hkp"), "--root", str(disk), "--program", "/usr/bin/hookline")
    done = project.run("policy", *words, "--key", f"{owner.key}.pub")
    assert done.code == 78
    assert "has tables of its own where hookline's belong" in done.err
    assert not (disk / "etc/hookline/policy/current").exists()
    assert not (disk / "etc/claude-code").exists()


@pytest.mark.parametrize("form", ["files", "ansible", "dockerfile"])
def test_what_would_be_written_is_printed_for_other_tools(
    owner: Owner, project: Project, tmp_path: Path, form: str
) -> None:
    (tmp_path / "p.hkp").write_bytes(owner.build())
    done = project.run("policy", "install", str(tmp_path / "p.hkp"), "--print", form)
    assert (done.code, done.err) == (0, "")
    assert "/etc/claude-code/managed-settings.json" in done.out
    if form == "ansible":
        copies = [one["ansible.builtin.copy"] for one in json.loads(done.out) if "ansible.builtin.copy" in one]
        assert [one["dest"] for one in copies] == [
            "/etc/claude-code/managed-settings.json",
            "/etc/codex/requirements.toml",
        ]
        assert json.loads(copies[0]["content"])["hooks"].keys() == {"SessionStart", "PreToolUse"}


def test_mistakes_are_named_with_what_to_type(project: Project, tmp_path: Path) -> None:
    (tmp_path / "no.hkp").write_text("hello")
    for words, text in (
        (("install", str(tmp_path / "no.hkp")), "no.hkp is not a policy; to make one: hookline policy build"),
        (("install", str(tmp_path / "none.hkp")), "No such file"),
        (("build", str(tmp_path), "--sign", "none.key"), "has no policy.toml"),
        (("build", str(tmp_path / "no.hkp"), "--sign", "none.key"), "--version N"),
        (("keygen", str(tmp_path / "no.hkp")), "never overwritten"),
    ):
        done = project.run("policy", *words)
        assert done.code in {64, 78}, done
        assert text in done.err


@needs_root
def test_a_snapshot_in_a_persons_state_holds_nothing_of_the_policy(owner: Owner, tmp_path: Path) -> None:
    """Who could write the snapshot could leave the owner's hooks out of it; and a new policy counts at once."""
    sources = Sources(cwd=tmp_path, home=str(owner.home), paths=owner.paths, environ={"PATH": os.environ["PATH"]})
    effects: list[str] = []
    for step in range(3):
        if step:
            owner.machine.install(owner.build(step), owner.public)
        with load_runtime(sources, StoreOptions(record=False), reuse=True).engine as engine:
            effects.append(engine.fire_sync("PreToolUse", PUSH).effect)
    assert effects == ["allow", "deny", "deny"]
    kept = [file.read_bytes() for file in Path(owner.paths.state).rglob("*") if file.is_file()]
    assert not any(b"no-push" in data for data in kept)
