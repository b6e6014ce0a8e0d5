"""Files are written whole or not at all, and what was there can be given back."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hookline.core import files
from hookline.core.agents import AGENTS
from hookline.core.errors import ConfigError, StateError
from hookline.deploy import apply
from hookline.deploy.plan import FilePlan, Registration

WANTED = (Registration(event="Stop", entry={"hooks": [{"command": "/x/hookline hook --agent codex --event Stop"}]}),)


@pytest.fixture
def ledger(tmp_path: Path) -> apply.Ledger:
    return apply.Ledger(str(tmp_path / "state"))


def deploy(ledger: apply.Ledger, file: Path) -> str:
    return apply.deploy(ledger, apply.plan_deployment(str(file), AGENTS["codex"], WANTED), agent="codex", scope="user")


def undeploy(ledger: apply.Ledger, file: Path) -> None:
    apply.undeploy(ledger, apply.plan_removal(str(file), AGENTS["codex"], ledger.all().get(str(file))))


def test_the_bytes_come_back(tmp_path: Path, ledger: apply.Ledger) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b'{ "a":1 ,\r\n"hooks":{ } }')
    file.chmod(0o640)
    backup = deploy(ledger, file)
    assert Path(backup).read_bytes() == b'{ "a":1 ,\r\n"hooks":{ } }'
    assert b"hookline" in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o640
    undeploy(ledger, file)
    assert file.read_bytes() == b'{ "a":1 ,\r\n"hooks":{ } }'
    assert ledger.all() == {}


def test_a_full_or_read_only_disk_is_no_bug_and_nothing_is_changed(
    tmp_path: Path, ledger: apply.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_place(*_words: object, **_options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    file = tmp_path / "settings.json"
    file.write_text("{}")
    deploy(ledger, file)
    before = file.read_bytes()
    monkeypatch.setattr(files, "replace_atomically", no_place)
    with pytest.raises(StateError, match="backups cannot be used: Read-only file system; make it writable"):
        undeploy(ledger, file)
    assert file.read_bytes() == before


def test_a_file_that_was_made_goes_again_with_its_directories(tmp_path: Path, ledger: apply.Ledger) -> None:
    file = tmp_path / "a" / "b" / "hooks.json"
    deploy(ledger, file)
    assert file.stat().st_mode & 0o777 == 0o600
    undeploy(ledger, file)
    assert not (tmp_path / "a").exists()


def test_what_others_wrote_since_stays(tmp_path: Path, ledger: apply.Ledger) -> None:
    file = tmp_path / "hooks.json"
    file.write_text('{"a": 1}')
    deploy(ledger, file)
    file.write_text(file.read_text().replace('"a": 1', '"a": 2'))
    undeploy(ledger, file)
    assert file.read_text() == '{"a": 2}'


def test_a_second_deploy_remembers_the_first_bytes(tmp_path: Path, ledger: apply.Ledger) -> None:
    file = tmp_path / "hooks.json"
    file.write_text("{ }")
    deploy(ledger, file)
    again = (Registration(event="Stop", entry={"hooks": [{"command": "/y/hookline hook --agent codex --event Stop"}]}),)
    apply.deploy(ledger, apply.plan_deployment(str(file), AGENTS["codex"], again), agent="codex", scope="user")
    assert "/y/hookline" in file.read_text()
    undeploy(ledger, file)
    assert file.read_text() == "{ }"


def test_a_link_stays_a_link(tmp_path: Path, ledger: apply.Ledger) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_text("{}")
    link.symlink_to(real)
    deploy(ledger, link)
    assert link.is_symlink()
    assert "hookline" in real.read_text()
    undeploy(ledger, link)
    assert (link.is_symlink(), real.read_text()) == (True, "{}")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe{}", b"[1]"])
def test_what_cannot_be_read_is_refused_and_stays(tmp_path: Path, ledger: apply.Ledger, content: bytes) -> None:
    file = tmp_path / "hooks.json"
    file.write_bytes(content)
    with pytest.raises(ConfigError):
        deploy(ledger, file)
    assert file.read_bytes() == content
    assert ledger.all() == {}


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "hooks.json"
    file.write_text('{"new": 1}')
    with pytest.raises(ConfigError, match="in the meantime"):
        apply.write(FilePlan(path=str(file), before="{}", after="{ }"))
    assert file.read_text() == '{"new": 1}'
    assert os.listdir(tmp_path) == ["hooks.json"]


def test_a_plugin_of_somebody_else_is_not_touched(tmp_path: Path, ledger: apply.Ledger) -> None:
    file = tmp_path / "hookline.js"
    file.write_text("export const Mine = 1\n")
    assert apply.plan_deployment(str(file), AGENTS["opencode"], "// ours").refused
    undeploy_plan = apply.plan_removal(str(file), AGENTS["opencode"], None)
    assert not undeploy_plan.changes
