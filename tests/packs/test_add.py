"""One line installs a published hook set, pinned; everybody gets the same bytes, or a refusal."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from tests.packs.conftest import GUARD, Box, git, plugin, repository, write

from hookline.packs.tree import read_folder, tree_digest


def test_a_folder_is_added_by_one_line_and_its_hook_refuses(box: Box, tmp_path: Path) -> None:
    folder = write(tmp_path / "plug", plugin())
    done = box("add", str(folder), "--yes")
    assert (done.code, done.err) == (0, "")
    assert (
        box.config.read_text() == f'[[pack]]\nsource = "{folder}"\ndigest = "{tree_digest(read_folder(str(folder)))}"\n'
    )
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]


def test_a_tag_is_resolved_to_its_commit_and_pinned(box: Box, tmp_path: Path) -> None:
    commit = repository(tmp_path / "repo", plugin())
    write(tmp_path / "repo", {"hooks/guard.sh": "#!/bin/sh\nexit 0\n"})
    git(tmp_path / "repo", "commit", "-qam", "worse")
    assert box("add", f"file://{tmp_path}/repo@v1", "--yes").code == 0
    assert f'revision = "{commit}"' in box.config.read_text()
    assert box.effect() == "deny"


@pytest.mark.parametrize("revision", ["", "@v1", "@main", "@COMMIT"])
def test_a_repository_is_read_over_plain_http(box: Box, served: tuple[Path, str], revision: str) -> None:
    root, address = served
    commit = repository(root / "repo", plugin())
    git(root / "repo", "gc", "-q")
    git(root / "repo", "update-server-info")
    assert box("add", f"{address}/repo/.git{revision.replace('COMMIT', commit)}", "--yes").code == 0
    assert f'revision = "{commit}"' in box.config.read_text()
    assert box.effect() == "deny"


def test_a_folder_of_a_repository_is_a_pack(box: Box, tmp_path: Path) -> None:
    inner = {f"plugins/one/{path}": text for path, text in plugin("one").items()}
    repository(tmp_path / "repo", inner | {"plugins/two/README.md": "two", "README.md": "both"})
    assert box("add", f"file://{tmp_path}/repo#path=plugins/one@v1", "--yes").code == 0
    assert f'source = "file://{tmp_path}/repo#path=plugins/one"' in box.config.read_text()
    assert (box.work / ".claude-plugin/plugin.json").exists()
    assert not (box.work / "README.md").exists()


def test_an_unknown_tag_is_refused_with_those_there_are(box: Box, tmp_path: Path) -> None:
    repository(tmp_path / "repo", plugin())
    done = box("add", f"file://{tmp_path}/repo@v9", "--yes")
    assert (done.code, "v9" in done.err, "v1" in done.err, box.config.exists()) == (78, True, True, False)


def test_what_would_run_is_shown_and_nothing_happens_without_a_yes(box: Box, tmp_path: Path) -> None:
    done = box("add", str(write(tmp_path / "plug", plugin())))
    assert done.code == 64
    assert 'PreToolUse, tool_name is Bash: "PACK/hooks/guard.sh"' in done.out
    assert (box.config.exists(), box.effect()) == (False, "allow")


def _tar(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"plug-1.0/{name}")
            info.size, info.mode = len(text), 0o755 if text.startswith("#!") else 0o644
            archive.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


def _zip(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"plug-1.0/{name}", text)
    return data.getvalue()


@pytest.mark.parametrize(("name", "make"), [("x.tar.gz", _tar), ("x.zip", _zip)])
def test_an_archive_is_taken_with_its_digest_only(box: Box, served: tuple[Path, str], name: str, make: object) -> None:
    root, address = served
    data = make(plugin())  # type: ignore[operator]
    (root / name).write_bytes(data)
    digest = sha256(data).hexdigest()
    assert digest in box("add", f"{address}/{name}", "--yes").err
    wrong = box("add", f"{address}/{name}#sha256={'0' * 64}", "--yes")
    assert (wrong.code, "not the archive that was meant" in wrong.err) == (78, True)
    assert box("add", f"{address}/{name}#sha256={digest}", "--yes").code == 0
    assert box.effect() == "deny"


def test_a_redirect_to_another_host_is_told(box: Box, served: tuple[Path, str]) -> None:
    root, address = served
    data = _tar(plugin())
    (root / "x.tar.gz").write_bytes(data)
    repository(root / "repo", plugin())
    for source in (f"{address}/moved/x.tar.gz#sha256={sha256(data).hexdigest()}", f"{address}/moved/repo/.git"):
        done = box("add", source, "--yes")
        assert (done.code, "redirected to another host: http://localhost" in done.out) == (0, True), done


def test_the_same_files_have_one_digest_wherever_they_come_from(
    box: Box, tmp_path: Path, served: tuple[Path, str]
) -> None:
    root, address = served
    data = _tar(plugin())
    (root / "x.tar.gz").write_bytes(data)
    repository(tmp_path / "repo", plugin())
    sources = [
        f"{address}/x.tar.gz#sha256={sha256(data).hexdigest()}",
        f"file://{tmp_path}/repo",
        str(write(tmp_path / "f", plugin())),
    ]
    assert len({box("add", source, "--yes", "--json").json["digest"] for source in sources}) == 1


# ── a colleague ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def committed(box: Box, tmp_path: Path) -> tuple[Path, str]:
    """A project whose committed file names a pack, and which nobody has approved here."""
    commit = repository(tmp_path / "repo", plugin())
    digest = tree_digest(read_folder(str(write(tmp_path / "copy", plugin()))))
    file = box.project / ".hookline/hookline.toml"
    write(
        box.project,
        {
            ".hookline/hookline.toml": f'[[pack]]\nsource = "file://{tmp_path}/repo"\nrevision = "{commit}"\ndigest = "{digest}"\n'
        },
    )
    return file, digest


def test_a_committed_pack_is_inert_until_it_is_approved(box: Box, committed: tuple[Path, str]) -> None:
    assert box.effect() == "allow"
    assert not (box.home / ".local/share/hookline/packs").exists()
    assert box("sync", "--check").code == 1
    assert box("sync", "--yes").code == 0
    assert (box.effect(), box("sync", "--check").code) == ("deny", 0)


def test_sync_refuses_other_bytes_than_those_pinned(box: Box, committed: tuple[Path, str]) -> None:
    file, digest = committed
    file.write_text(file.read_text().replace(digest, "sha256:" + "0" * 64))
    done = box("sync", "--yes")
    assert (done.code, "not what was pinned" in done.out, box.effect()) == (1, True, "allow")


def test_sync_works_offline_from_the_store(box: Box, committed: tuple[Path, str], tmp_path: Path) -> None:
    assert box("sync", "--yes").code == 0
    shutil.rmtree(tmp_path / "repo")
    (box.work / "hooks/guard.sh").write_text("#!/bin/sh\nexit 0\n")
    assert box.effect() == "deny"  # refused, because its bytes changed
    done = box("sync", "--yes")
    assert (done.code, "restored" in done.out) == (0, True)
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]


def test_add_in_a_project_is_what_a_colleague_syncs(box: Box, tmp_path: Path) -> None:
    repository(tmp_path / "repo", plugin())
    assert box("add", f"file://{tmp_path}/repo@v1", "--scope", "project", "--yes").code == 0
    assert box.effect() == "deny"
    shutil.rmtree(box.home)
    box.home.mkdir()
    assert (box.effect(), box("sync", "--yes").code, box.effect()) == ("allow", 0, "deny")


# ── one changed byte ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["hooks/guard.sh", "hooks/hooks.json", ".claude-plugin/plugin.json"])
def test_one_changed_byte_is_refused(box: Box, tmp_path: Path, name: str) -> None:
    box("add", str(write(tmp_path / "plug", plugin())), "--yes")
    path = box.work / name
    path.write_bytes(path.read_bytes() + b" ")
    decision = box.fire("ls")
    assert (decision["effect"], "hookline sync" in decision["reason"]) == ("deny", True)
    (row,) = box("packs", "--json").json["packs"]
    assert row["state"] == f"changed: {name}"


def test_a_process_that_knows_a_pack_still_sees_that_it_changed(box: Box, tmp_path: Path) -> None:
    box("add", str(write(tmp_path / "plug", plugin())), "--yes")
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]
    path = box.work / "hooks/hooks.json"
    approved = path.read_bytes()
    path.write_bytes(approved + b" ")
    assert box.effect("ls") == "deny"
    path.write_bytes(approved)
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]


def test_what_was_put_there_after_the_check_is_not_remembered(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box("add", str(write(tmp_path / "plug", plugin())), "--yes")
    path = box.work / "hooks/hooks.json"
    approved = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("hookline.config.packs.is_changed", lambda *_: False)
        path.write_text('{"hooks": {}}')
        assert box("list", "--json").code == 0  # it is read
    path.write_bytes(approved)
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]


def test_code_that_appears_beside_the_hook_is_refused_and_data_is_not(box: Box, tmp_path: Path) -> None:
    box("add", str(write(tmp_path / "plug", plugin())), "--yes")
    (box.work / "hooks/state.json").write_text("{}")
    assert box.effect("ls") == "allow"
    write(box.work, {"hooks/more.sh": "#!/bin/sh\n"})
    assert box.effect("ls") == "deny"


def test_a_pack_without_its_approval_or_files_refuses(box: Box, tmp_path: Path) -> None:
    box("add", str(write(tmp_path / "plug", plugin())), "--yes")
    shutil.rmtree(box.work)
    assert box.effect("ls") == "deny"
    assert box("sync", "--yes").code == 0
    assert box.effect("ls") == "allow"
    shutil.rmtree(box.home / ".local/state/hookline/packs")
    (box.home / ".local/state/hookline/packs.json").unlink()
    answer = box("check", "--json")
    assert (answer.code, "is not approved" in answer.out) == (78, True)


def _emptied(state: Path) -> None:
    (state / "packs.json").write_text('{"version": 1, "packs": []}')


@pytest.mark.parametrize("remove", [lambda state: (state / "packs.json").unlink(), _emptied])
@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_guard_stays_in_force_without_its_line_and_the_list_of_approvals(
    box: Box, tmp_path: Path, scope: str, remove: Callable[[Path], None]
) -> None:
    repository(tmp_path / "repo", plugin())
    box("add", f"file://{tmp_path}/repo@v1", "--scope", scope, "--yes")
    remove(box.home / ".local/state/hookline")
    (box.config if scope == "user" else box.project / ".hookline/hookline.toml").write_text("")
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]
    assert box("remove", "guarded").code == 0
    assert box.effect() == "allow"


def test_an_approval_that_somebody_rewrote_is_noticed(box: Box, tmp_path: Path) -> None:
    box("add", str(write(tmp_path / "plug", plugin())), "--yes")
    path = box.home / ".local/state/hookline/packs.json"
    rows = json.loads(path.read_text())
    rows["packs"][0] |= {"guards": [], "definitions": []}
    path.write_text(json.dumps(rows))
    answer = box("check", "--json")
    assert (answer.code, "was changed" in answer.out) == (78, True)
    assert box.effect("ls") == "deny"
    path.write_text("{")
    assert box.effect("ls") == "deny"
    path.unlink()
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]


def test_a_guard_stays_in_force_when_its_line_is_taken_out(box: Box, tmp_path: Path) -> None:
    box("add", str(write(tmp_path / "plug", plugin())), "--yes")
    box.config.write_text("")
    assert box.effect() == "deny"
    assert "hookline remove guarded" in box("check").out
    assert box("remove", "guarded").code == 0
    assert box.effect() == "allow"


def test_settings_of_a_pack_are_approved_with_it(box: Box, tmp_path: Path) -> None:
    files = plugin() | {"hooks/guard.sh": '#!/bin/sh\nif grep -q "$WORD"; then echo no >&2; exit 2; fi\n'}
    assert box("add", str(write(tmp_path / "plug", files)), "--yes", "--env", "WORD=forbidden").code == 0
    assert 'env = { WORD = "forbidden" }' in box.config.read_text()
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]
    box.config.write_text(box.config.read_text().replace('"forbidden"', '"nothing"'))
    assert box.effect("forbidden") == "deny"  # as it was approved
    assert box("add", str(tmp_path / "plug"), "--yes", "--env", "LD_PRELOAD=./x.so").code == 64


# ── looking and changing ─────────────────────────────────────────────────────────────────────────────


def test_update_shows_what_would_change_before_it_asks(box: Box, tmp_path: Path) -> None:
    repository(tmp_path / "repo", plugin())
    box("add", f"file://{tmp_path}/repo", "--yes")
    more = {
        "PreToolUse": [
            {
                "matcher": "Bash|Write",
                "hooks": [json.loads('{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh"}')],
            }
        ]
    }
    second = repository(
        tmp_path / "repo", {"hooks/hooks.json": json.dumps({"hooks": more}), "hooks/guard.sh": GUARD + "# more\n"}, "v2"
    )
    before = box.config.read_text()
    shown = box("update", "--dry-run").out
    assert ("+# more" in shown, "- PreToolUse, tool_name is Bash" in shown, box.config.read_text()) == (
        True,
        True,
        before,
    )
    assert box("update", "--json").code == 64
    assert box("update", "--yes", "--json").json["packs"][0]["to"] == second
    assert (f'revision = "{second}"' in box.config.read_text(), box.config.read_text().count("[[pack]]")) == (True, 1)
    assert "is current" in box("update").out
    assert box("update", "guarded@v1", "--yes").code == 0
    assert second not in box.config.read_text()


def test_packs_shows_what_runs_and_what_failed(box: Box, tmp_path: Path) -> None:
    files = plugin() | {"hooks/guard.sh": "#!/bin/sh\necho broken >&2; exit 1\n"}
    box("add", str(write(tmp_path / "plug", files)), "--yes")
    box.fire("ls")
    (row,) = box("packs", "--json").json["packs"]
    kept = {key: row[key] for key in ("name", "state", "hooks", "fired", "failures")}
    assert kept == {"name": "guarded", "state": "approved", "hooks": 1, "fired": 1, "failures": 1}
    assert "broken" in row["last_failure"]
    assert "guarded" in box("packs").out


def test_a_hook_of_a_pack_is_written_in_a_file_whose_lines_nobody_looked_for(box: Box, tmp_path: Path) -> None:
    box("add", "hookline:secrets", "--yes")
    for words in (["list"], ["hooks", "list"]):
        told = box(*words).out
        assert "hooks.json" in told
        assert ":0" not in told


def test_remove_gives_back_the_bytes_of_the_file(box: Box, tmp_path: Path) -> None:
    before = '# mine\n[limits]\ntimeout = "9s"\n'
    write(box.home, {".config/hookline/hookline.toml": before})
    box("add", str(write(tmp_path / "plug", plugin())), "--yes")
    assert box("remove", "guarded").code == 0
    assert (box.config.read_text(), list((box.home / ".local/share/hookline/packs").glob("*/work"))) == (before, [])


def test_two_packs_keep_their_data_apart(box: Box, tmp_path: Path) -> None:
    files = plugin() | {"hooks/guard.sh": '#!/bin/sh\ncat >/dev/null; echo "$$" > "$CLAUDE_PLUGIN_DATA/mine"\n'}
    for name in ("one", "two"):
        box("add", str(write(tmp_path / name, files)), "--yes")
    box.fire("ls")
    assert len(list((box.home / ".local/share/hookline/packs/data").glob("*/mine"))) == 2


def test_a_wheel_that_carries_a_plugin_is_a_pack(box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {
        "METADATA": "Metadata-Version: 2.1\nName: hookpack\nVersion: 1.0\n",
        "RECORD": "",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    (tmp_path / "wheels").mkdir()
    with zipfile.ZipFile(tmp_path / "wheels/hookpack-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in {
            **{f"hookpack/plugin/{path}": text for path, text in plugin().items()},
            **{f"hookpack-1.0.dist-info/{path}": text for path, text in facts.items()},
        }.items():
            wheel.writestr(name, text)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    done = box("add", "pypi:hookpack", "--yes", "--json")
    assert (done.code, done.json["source"], done.json["revision"]) == (0, "pypi:hookpack/hookpack/plugin", "1.0")
    assert box.effect() == "deny"
    assert "cannot be fetched" in box("add", "pypi:no-such-pack", "--yes").err
