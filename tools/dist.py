"""Builds every wheel and the sdist into dist/, twice, and tries each as far as this machine can.

Reproducible: a second build, from the sdist, in another folder and under another umask, must give the same bytes. A wheel
that fits this machine is installed into an empty environment without a compiler and refuses a call through what it
registered; the pure one does so with a compiler too. The client for ARM answers under qemu; the programs for macOS are only
looked at.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
sys.path.insert(0, str(ROOT / "src"))

from hookline.daemon.client.build import TARGETS, answers  # noqa: E402 - the tree is not installed where this runs

_CLIENT = "hookline/daemon/client/hookc"
_PAYLOAD = {
    "hook_event_name": "PreToolUse",
    "session_id": "dist",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf ~"},
}


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    sdist = build("--sdist", DIST, "")
    with tempfile.TemporaryDirectory(prefix="hookline dist ") as folder:
        elsewhere = unpack(sdist, Path(folder))
        built = {target: build_twice(target, elsewhere) for target in ("", *TARGETS)}
    run(sys.executable, "-m", "twine", "check", "--strict", *map(str, (*built.values(), sdist)))
    run(sys.executable, "-m", "check_wheel_contents", *map(str, built.values()))
    for target in TARGETS:
        check_client(target, built[target])
    native = "x86_64-linux-musl" if (sys.platform, platform.machine()) == ("linux", "x86_64") else ""
    tried = [(built[""], False, False), (sdist, False, False), (sdist, True, True)]
    for artifact, compiler, client in ((built[native], False, True), *tried) if native else tried:
        with tempfile.TemporaryDirectory(prefix="hookline-dist-") as folder:
            try_install(artifact, Path(folder), compiler=compiler, client=client)
    for path in sorted(DIST.iterdir()):
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}  {path.stat().st_size:,} bytes")


def unpack(sdist: Path, folder: Path) -> Path:
    shutil.unpack_archive(sdist, folder)
    (root,) = folder.iterdir()
    return root


def build_twice(target: str, elsewhere: Path) -> Path:
    """The wheel of a target, "" for the pure one. From the sdist, unpacked elsewhere, it has the same bytes."""
    first = build("--wheel", DIST, target)
    before = os.umask(0o077)
    try:
        second = build("--wheel", elsewhere / "dist", target, root=elsewhere)
    finally:
        os.umask(before)
    if first.read_bytes() != second.read_bytes():
        sys.exit(f"{first.name}: two builds differ")
    print(f"built {first.name}, twice, with equal bytes", flush=True)
    return first


def build(kind: str, folder: Path, target: str, *, root: Path = ROOT) -> Path:
    epoch = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    environ = {**os.environ, "SOURCE_DATE_EPOCH": epoch or "315532800", "HOOKLINE_WHEEL": target}
    before = set(folder.iterdir()) if folder.exists() else set()
    line = [sys.executable, "-m", "build", "--no-isolation", kind, "--outdir", str(folder), str(root)]
    done = subprocess.run(line, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(line)} failed:\n{done.stdout}{done.stderr}")
    (made,) = set(folder.iterdir()) - before
    return made


def check_client(target: str, wheel: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="hookline-dist-") as folder, zipfile.ZipFile(wheel) as archive:
        path = archive.extract(_CLIENT, folder)
        os.chmod(path, 0o700)
        kind = subprocess.run(["file", "-b", path], capture_output=True, text=True, check=False).stdout.strip()
        machine = target.partition("-")[0]
        linux = target.endswith("-linux-musl")
        expected = ("ELF" if linux else "Mach-O", machine if linux or machine == "x86_64" else "arm64")
        if not all(word.replace("_", "-") in kind.replace("_", "-") for word in expected):
            sys.exit(f"{wheel.name}: its client is {kind!r}, not for {target}")
        command = _runner(machine) if linux else None
        if command is None:
            print(f"{target}: {kind}; NOT RUN HERE{', which needs qemu-user-static' if linux else ''}", flush=True)
        elif answers([*command, path]):
            print(f"{target}: {kind}; it answers {'under ' + command[0] if command else 'here'}", flush=True)
        else:
            sys.exit(f"{target}: the client does not answer")


def _runner(machine: str) -> list[str] | None:
    """What runs a Linux program for a machine here; None if nothing does."""
    if platform.machine() == machine:
        return []
    emulator = shutil.which(f"qemu-{machine}-static") or shutil.which(f"qemu-{machine}")
    return [emulator] if emulator else None


def try_install(artifact: Path, folder: Path, *, compiler: bool, client: bool) -> None:
    """Install it where there is nothing else, guard an agent, and send the agent's own event."""
    run(sys.executable, "-m", "venv", str(folder / "env"))
    # An sdist builds its wheel with what is here: on a machine without a network nothing else could be fetched.
    build = ["--no-build-isolation"] if artifact.suffix == ".gz" else []
    if build:
        run(str(folder / "env/bin/pip"), "install", "--quiet", "--disable-pip-version-check", "hatchling", "editables")
    run(str(folder / "env/bin/pip"), "install", "--quiet", "--disable-pip-version-check", *build, str(artifact))
    home = folder / "home"
    (home / ".claude").mkdir(parents=True)
    tools = folder / "bin"
    tools.mkdir()
    for name in ("sh", "git", *(("cc", "as", "ld") if compiler else ())):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    environ = {"HOME": str(home), "PATH": f"{folder / 'env/bin'}:{tools}", "LANG": "C.UTF-8"}
    run("hookline", "init", "--yes", "--agent", "claude-code", env=environ, cwd=str(home))
    run("hookline", "help", "how-to/guard", env=environ, cwd=str(home))
    if not (folder / "env/share/man/man1/hookline.1").exists():
        sys.exit(f"{artifact.name}: it brings no man page")
    has_client = (home / ".local/share/hookline/bin/hookc").exists()
    if has_client != client:
        sys.exit(f"{artifact.name}: the native client is {'there' if has_client else 'missing'}")
    settings = json.loads((home / ".claude/settings.json").read_text())
    entry = settings["hooks"]["PreToolUse"][0]["hooks"][0]
    payload = json.dumps({**_PAYLOAD, "cwd": str(home)})
    done = subprocess.run(
        ["sh", "-c", entry["command"]],
        input=payload,
        env=environ,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    run("hookline", "daemon", "stop", env=environ, cwd=str(home))
    if '"deny"' not in done.stdout:
        sys.exit(f"{artifact.name}: rm -rf ~ was not refused: {done.returncode} {done.stdout}{done.stderr}")
    print(
        f"{artifact.name}: installed with{'' if compiler else 'out'} a compiler, guards Claude Code"
        f" with{'' if client else 'out'} the native client",
        flush=True,
    )


def run(*line: str, env: dict[str, str] | None = None, cwd: str | None = None) -> None:
    program = shutil.which(line[0], path=env["PATH"]) if env else line[0]
    done = subprocess.run(
        [program or line[0], *line[1:]], env=env, cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(line)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
