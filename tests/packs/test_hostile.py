"""Packs that mean harm: nothing of them runs before it is approved, leaves its folder, or takes what is another's."""

from __future__ import annotations

import io
import json
import os
import socket
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from tests.packs.conftest import GUARD, Box, git, plugin, repository, write

from hookline.core.errors import PackError, UsageError
from hookline.packs import download, tree
from hookline.packs.source import parse_source
from hookline.packs.tree import TreeBuilder, read_folder


def _tar(*members: tarfile.TarInfo, data: bytes = b"x") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for one in members:
            one.size = len(data) if one.isfile() else 0
            archive.addfile(one, io.BytesIO(data) if one.isfile() else None)
    return out.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname = kind, link
    return one


# ── paths, links and special files ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "path",
    [
        "../out",
        "a/../../out",
        "/etc/passwd",
        "a//b",
        "a/./b",
        "a\\..\\b",
        "a\nb",
        "a\x00b",
        "a\u202eb",
        "x" * 300,
        "/".join("a" * 40),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(PackError):
        TreeBuilder().add(path, b"x")


TRICKS = [
    _tar(_member("p/a"), _member("../../../tmp/evil")),
    _tar(_member("p/a"), _member("/tmp/evil")),
    _tar(_member("p/hooks", tarfile.SYMTYPE, "/etc"), _member("p/hooks/passwd")),
    _tar(_member("p/a", tarfile.SYMTYPE, "../../../etc/passwd"), _member("p/b")),
    _tar(_member("p/a", tarfile.LNKTYPE, "/etc/passwd"), _member("p/b")),
    _tar(_member("p/a", tarfile.FIFOTYPE), _member("p/b")),
    _tar(_member("p/a", tarfile.CHRTYPE), _member("p/b")),
    _tar(_member("p/a"), _member("p/a")),
    _tar(_member("p/a"), _member("p/A")),
    _tar(_member("p/a"), _member("p/a/b")),
    _tar(_member("p/a", tarfile.SYMTYPE, "b"), _member("p/b", tarfile.SYMTYPE, "a")),
    b"PK\x03\x04 nothing", b"", b"\x1f\x8b\x08 broken",
]  # fmt: skip


#: By number: what gzip writes depends on the time, and workers must agree on the names of tests.
@pytest.mark.parametrize("number", range(len(TRICKS)))
def test_an_archive_with_a_trick_is_refused(number: int) -> None:
    with pytest.raises(PackError):
        download.unpack(TRICKS[number]).tree()


def test_an_archive_that_grows_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p/a", b"\0" * (tree.LARGEST + 1))
    with pytest.raises(PackError, match="larger than"):
        download.unpack(out.getvalue())
    monkeypatch.setattr(tree, "MOST_FILES", 3)
    with pytest.raises(PackError, match="more than"):
        download.unpack(_tar(*(_member(f"p/{number}") for number in range(5))))


def test_a_zip_that_lies_about_its_sizes_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p/a", b"a" * 4096)
    data = out.getvalue().replace((4096).to_bytes(4, "little"), (16).to_bytes(4, "little"))
    with pytest.raises(PackError):
        download.unpack(data)


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret", "hooks/../../secret", "gone"])
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "secret").write_text("mine")
    folder = write(tmp_path / "plug", plugin())
    (folder / "hooks/link").symlink_to(target)
    with pytest.raises(PackError, match="link"):
        read_folder(str(folder))


def test_a_link_within_the_folder_is_what_it_leads_to(tmp_path: Path) -> None:
    folder = write(tmp_path / "plug", plugin())
    (folder / "again.sh").symlink_to("hooks/guard.sh")
    (folder / "more").symlink_to("hooks")
    found = read_folder(str(folder))
    assert found["again.sh"] == found["more/guard.sh"] == found["hooks/guard.sh"]


def test_a_socket_or_pipe_in_the_folder_is_refused_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "plug", plugin())
    os.mkfifo(folder / "pipe")
    with pytest.raises(PackError, match="not a file"):
        read_folder(str(folder))
    (folder / "pipe").unlink()
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("s")
        with pytest.raises(PackError, match="not a file"):
            read_folder(str(folder))


# ── repositories ─────────────────────────────────────────────────────────────────────────────────────


def test_nothing_of_a_repository_runs_while_it_is_fetched(box: Box, tmp_path: Path) -> None:
    """Hooks, filters, attributes, monitors, submodules, aliases and templates of the repository, all at once."""
    proof, repo = tmp_path / "proof", tmp_path / "repo"
    touch = f"#!/bin/sh\ntouch {proof}\n"
    repository(
        repo,
        plugin()
        | {".gitattributes": "* filter=evil export-subst\n", ".lfsconfig": "[lfs]\nurl = http://127.0.0.1:1/\n"},
    )
    for name in (
        "post-checkout",
        "post-merge",
        "pre-push",
        "fsmonitor-watchman",
        "post-index-change",
        "reference-transaction",
    ):
        write(repo, {f".git/hooks/{name}": touch})
    for key, value in {
        "filter.evil.smudge": f"touch {proof}", "filter.evil.process": f"touch {proof}", "core.fsmonitor": f"touch {proof}",
        "core.sshCommand": f"touch {proof}", "uploadpack.packObjectsHook": f"touch {proof}", "alias.fetch": f"!touch {proof}",
        "core.hooksPath": str(repo / ".git/hooks"), "diff.external": f"touch {proof}", "credential.helper": f"!touch {proof}",
    }.items():  # fmt: skip
        git(repo, "config", key, value)
    assert box("add", f"file://{repo}", "--yes").code == 0
    assert not proof.exists()
    assert (box.work / ".gitattributes").read_text() == "* filter=evil export-subst\n"


def test_the_project_that_one_stands_in_does_not_configure_git(box: Box, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    repository(tmp_path / "repo", plugin())
    (box.project / ".git").rmdir()
    git(box.project, "init", "-q")
    git(box.project, "config", f"url.ext::sh -c touch% {proof} .insteadOf", "file://")
    git(box.project, "config", "protocol.ext.allow", "always")
    assert box("add", f"file://{tmp_path}/repo", "--yes").code == 0
    assert not proof.exists()


def test_the_persons_own_git_configuration_counts(box: Box, tmp_path: Path) -> None:
    repository(tmp_path / "mirror/owner/repo.git", plugin())
    write(box.home, {".gitconfig": f'[url "file://{tmp_path}/mirror/"]\n\tinsteadOf = https://github.com/\n'})
    assert box("add", "github:owner/repo@v1", "--yes").code == 0
    assert 'source = "github:owner/repo"' in box.config.read_text()


def test_a_submodule_is_told_and_not_fetched(box: Box, tmp_path: Path) -> None:
    repository(tmp_path / "inner", {"a": "x"})
    repository(tmp_path / "repo", plugin())
    git(tmp_path / "repo", "submodule", "--quiet", "add", f"file://{tmp_path}/inner", "inner")
    git(tmp_path / "repo", "commit", "-qam", "more")
    done = box("add", f"file://{tmp_path}/repo", "--yes")
    assert (done.code, "inner is a submodule" in done.out, (box.work / "inner").exists()) == (0, True, False)


@pytest.mark.parametrize("source", [
    "ext::sh -c 'touch x'", "--upload-pack=touch", "-oProxyCommand=touch", "file://x@--upload-pack=touch", "github:a/b@--exec=touch",
    "github:a/b/../../c", "https://host/x.git#path=../..", "fd::17", "github:a/b@v1..v2", "github:a/b@$(touch x)", "npm:../x", "pypi:-r",
])  # fmt: skip
def test_a_source_that_is_an_option_or_a_program_is_refused(box: Box, source: str) -> None:
    with pytest.raises(UsageError):
        parse_source(source, str(box.project), str(box.home))
    assert box("add", source, "--yes").code == 64


def test_a_commit_with_tricks_in_its_tree_is_refused(box: Box, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repository(repo, plugin())
    (repo / "out").symlink_to("/etc")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "link")
    done = box("add", f"file://{repo}", "--yes")
    assert (done.code, "leaves the folder" in done.err) == (78, True)


# ── what it may do once it is there ──────────────────────────────────────────────────────────────────


def test_no_script_runs_while_a_pack_is_added(box: Box, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    touch = f"#!/bin/sh\ntouch {proof}\n"
    scripts = dict.fromkeys(("preinstall", "install", "postinstall", "prepare"), f"touch {proof}")
    files = plugin() | {
        "hooks/guard.sh": touch,
        "package.json": json.dumps({"scripts": scripts}),
        "setup.py": f"open({str(proof)!r}, 'w')\n",
        "install.sh": touch,
        "Makefile": f"all:\n\ttouch {proof}\n",
    }
    for verb in (
        ("add", str(write(tmp_path / "plug", files)), "--yes"),
        ("packs",),
        ("sync", "--check"),
        ("update", "--dry-run"),
        ("check",),
        ("list",),
    ):
        box(*verb)
    assert not proof.exists()


def test_a_name_cannot_lead_its_data_elsewhere(box: Box, tmp_path: Path) -> None:
    files = plugin("../../../../evil") | {"hooks/guard.sh": '#!/bin/sh\necho x > "$CLAUDE_PLUGIN_DATA/here"\n'}
    assert box("add", str(write(tmp_path / "plug", files)), "--yes").code == 0
    box.fire("ls")
    (found,) = tmp_path.rglob("here")
    assert (box.home / ".local/share/hookline/packs/data") in found.parents


def test_two_packs_of_one_name_do_not_replace_each_other(box: Box, tmp_path: Path) -> None:
    box("add", str(write(tmp_path / "a", plugin())), "--yes")
    box("add", str(write(tmp_path / "b", plugin() | {"hooks/guard.sh": "#!/bin/sh\nexit 0\n"})), "--yes")
    assert (box.effect(), len(box("packs", "--json").json["packs"])) == ("deny", 2)


def test_a_projects_file_of_the_same_name_is_not_run_for_the_packs(box: Box, tmp_path: Path) -> None:
    hook = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./hooks/guard.sh"}]}]}
    box("add", str(write(tmp_path / "plug", plugin() | {"hooks/hooks.json": json.dumps({"hooks": hook})})), "--yes")
    write(box.project, {"hooks/guard.sh": "#!/bin/sh\nexit 0\n"})
    assert box.effect() == "deny"


def test_a_pack_cannot_name_packs_or_files_of_the_person(box: Box, tmp_path: Path) -> None:
    text = '[[pack]]\nsource = "github:a/b"\ndigest = "sha256:0"\n[[source]]\ndialect = "claude"\n[limits]\ntimeout = "1s"\n[[hook]]\nname = "g"\non = "PreToolUse"\nrun = "./hooks/guard.sh"\n'
    assert (
        box(
            "add", str(write(tmp_path / "plug", {".hookline/hookline.toml": text, "hooks/guard.sh": GUARD})), "--yes"
        ).code
        == 0
    )
    write(
        box.home,
        {
            ".claude/settings.json": json.dumps(
                {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}
            )
        },
    )
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]


def test_a_text_in_a_manifest_cannot_move_the_cursor(box: Box, tmp_path: Path) -> None:
    files = plugin() | {
        ".claude-plugin/plugin.json": json.dumps(
            {"name": "x\x1b[2J", "version": "\x1b]0;x\x07", "description": "\r\x1b[Aharmless"}
        )
    }
    done = box("add", str(write(tmp_path / "plug", files)), "--yes")
    assert (done.code, "\x1b" in done.out, "\x07" in done.out) == (0, False, False)


def test_a_damaged_store_is_noticed_before_it_is_used(box: Box, tmp_path: Path) -> None:
    folder = write(tmp_path / "plug", plugin())
    box("add", str(folder), "--yes")
    published = box.work.parent / "published/hooks/guard.sh"
    for path in (published, box.work / "hooks/guard.sh"):
        path.chmod(0o700)
        path.write_text("#!/bin/sh\nexit 0\n")
    assert box.effect("ls") == "deny"
    write(folder, {"hooks/guard.sh": "#!/bin/sh\nexit 0\n"})
    done = box("sync", "--yes")
    assert (done.code, "not what was pinned" in done.out, box.effect("ls")) == (1, True, "deny")


def test_an_approval_for_one_project_does_not_count_in_another(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box("add", str(write(tmp_path / "plug", plugin())), "--yes", "--scope", "project")
    other = tmp_path / "other"
    write(other, {".git/HEAD": "", ".hookline/hookline.toml": (box.project / ".hookline/hookline.toml").read_text()})
    monkeypatch.chdir(other)
    assert box.effect() == "allow"


def test_archives_are_fetched_over_plain_http_from_this_machine_only(box: Box) -> None:
    done = box("add", f"http://example.org/x.zip#sha256={sha256(b'').hexdigest()}", "--yes")
    assert (done.code, "plain http" in done.err) == (78, True)
