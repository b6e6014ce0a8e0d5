"""Adding hooks to a hookline.toml and deleting them from it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest
from tests.unit.tui.conftest import USER, Place, hook_of

from hookline.core.errors import ConfigError, UsageError
from hookline.tui.toml_edit import Draft

if TYPE_CHECKING:
    from pathlib import Path

    from hookline.tui.service import HookService

DRAFT = Draft(name="new", on=("PostToolUse",), kind="shell", what="echo \"hi\" '$X' \\n", match="Edit", timeout="5s")


def test_a_hook_is_added_behind_everything_else(service: HookService, place: Place) -> None:
    file = service.add(DRAFT, "user")
    assert file == str(place.user_file)
    text = place.user_file.read_text()
    assert text.startswith(USER)
    assert hook_of(service, "new").action == DRAFT.what


def test_deleting_gives_the_bytes_back_and_keeps_a_copy(service: HookService, place: Place) -> None:
    service.add(DRAFT, "user")
    longer = place.user_file.read_text()
    removed = service.remove(hook_of(service, "new"))
    assert place.user_file.read_text() == USER
    with open(removed.backup) as backup:
        assert backup.read() == longer
    assert stat.S_IMODE(os.stat(removed.backup).st_mode) == 0o600


def test_a_project_gets_its_own_file(service: HookService, place: Place) -> None:
    file = service.add(DRAFT, "project")
    assert file == str(place.project / ".hookline" / "hookline.toml")
    assert hook_of(service, "new").trust == "unknown"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "guard"}, "already has a hook 'guard'"),
        ({"name": ""}, "needs a name"),
        ({"on": (), "what": ""}, "needs an event and an action"),
        ({"timeout": "soon"}, "timeout must be a duration"),
        ({"match": "("}, "match"),
        ({"on_failure": "shrug"}, "on_failure"),
    ],
)
def test_what_would_not_work_is_not_written(
    service: HookService, place: Place, wrong: dict[str, object], said: str
) -> None:
    from hookline.core._dataclass import replace

    with pytest.raises(UsageError, match=said):
        service.add(replace(DRAFT, **wrong), "user")  # type: ignore[arg-type]  # fields of the draft
    assert place.user_file.read_text() == USER


def test_a_file_that_cannot_be_read_is_not_touched(service: HookService, place: Place) -> None:
    place.user_file.write_text("[[hook\n")
    with pytest.raises(UsageError, match="has errors"):
        service.add(DRAFT, "user")
    assert place.user_file.read_text() == "[[hook\n"


def test_a_file_with_hooks_in_one_array_is_not_broken(service: HookService, place: Place) -> None:
    text = 'hook = [{ name = "a", on = "Stop", run = "./a" }]\n'
    place.user_file.write_text(text)
    service.reload()
    with pytest.raises(UsageError):
        service.add(DRAFT, "user")
    with pytest.raises(ConfigError, match="exactly"):
        service.remove(hook_of(service, "a"))
    assert place.user_file.read_text() == text


def test_permissions_links_marks_and_line_breaks_stay(service: HookService, place: Place, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(b"\xef\xbb\xbf" + USER.replace("\n", "\r\n").encode())
    real.chmod(0o640)
    place.user_file.unlink()
    place.user_file.symlink_to(real)
    service.reload()
    service.add(DRAFT, "user")
    data = real.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf" + USER.replace("\n", "\r\n").encode())
    assert data.count(b"\n") == data.count(b"\r\n")
    assert place.user_file.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_projects_link_out_of_the_project_is_not_followed(service: HookService, place: Place, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("a = 1\n")
    (place.project / ".hookline").mkdir()
    (place.project / ".hookline" / "hookline.toml").symlink_to(victim)
    with pytest.raises(ConfigError, match="is a link out of its project"):
        service.add(DRAFT, "project")
    assert victim.read_text() == "a = 1\n"


def test_the_wrong_hook_never_goes_when_the_file_was_edited_meanwhile(service: HookService, place: Place) -> None:
    hook = hook_of(service, "guard")
    moved = '[[hook]]\nname = "first"\non = "Stop"\nrun = "./x"\n\n' + USER
    place.user_file.write_text(moved)
    with pytest.raises(ConfigError, match="exactly"):
        service.remove(hook)
    assert place.user_file.read_text() == moved


def test_hooks_of_other_dialects_are_deleted_in_their_own_files(service: HookService, place: Place) -> None:
    (place.home / "lectic.yaml").write_text("hooks:\n  - name: theirs\n    on: user_message\n    do: date\n")
    source = f'\n[[source]]\ndialect = "lectic"\npath = "{place.home}/lectic.yaml"\n'
    place.user_file.write_text(USER + source)
    service.reload()
    with pytest.raises(UsageError, match="delete it there, or switch it off"):
        service.remove(hook_of(service, "theirs"))


def test_a_deleted_hook_leaves_no_switch_behind(service: HookService) -> None:
    service.switch_off(hook_of(service, "guard"))
    service.remove(hook_of(service, "guard"))
    assert service.runtime.switches.list() == ()
