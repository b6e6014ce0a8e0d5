"""Builds the native client where there is a compiler: always the same bytes from the same source and compiler."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

import hookline
from hookline.core.errors import StateError
from hookline.core.isolation import MAIN
from hookline.core.paths import find_paths, private_dir

_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hookc.c")
TWIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wno-unused-result",
    "-ffile-prefix-map=/=",
)
#: Leave out what the linker would add; Apple's linker rejects these options.
_LEAN = ("-Wl,--build-id=none", "-s")

#: Without the C library on the way to the daemon and back; see the source.
_BARE = (
    "-static",
    "-DBARE",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-tree-loop-distribute-patterns",
    "-Wl,-e,bare_start",
)
_STATIC = ("-static",)
#: The best way first; the bare one knows one system.
_WAYS: tuple[tuple[str, ...], ...] = (
    *(((*_LEAN, *_BARE),) if sys.platform == "linux" and platform.machine() == "x86_64" else ()),
    (*_LEAN, *_STATIC),
    _LEAN,
    (),
)


def build_client(environ: Mapping[str, str]) -> str:
    """The path of the client, built into the data directory. Raises ``StateError`` where it cannot be built."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = private_dir(os.path.join(find_paths(environ, home).data, "bin"))
    path = os.path.join(folder, "hookc")
    compile_client(f"{path}.new")
    os.replace(f"{path}.new", path)
    return path


def compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def compile_client(path: str, *, extra: Sequence[str] = (), python: str = sys.executable) -> None:
    """Bare if possible, else static, else with the system's defaults."""
    program = compiler()
    if program is None:
        raise StateError(f"there is no C compiler; the client in Python does the same: {sys.executable} -I -S {TWIN}")
    names = [f'-DVERSION="{hookline.__version__}"', f'-DPYTHON="{_quoted(python)}"', f'-DMAIN="{_quoted(MAIN)}"']
    said = ""
    for way in _WAYS if not extra else ((),):
        line = [program, *_FLAGS, *way, *extra, *names, "-x", "c", _SOURCE, "-o", path]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        said = done.stderr
        if done.returncode == 0 and ("-DBARE" not in way or _works(path)):
            os.chmod(path, 0o700)
            return
    raise StateError(f"the client cannot be built: {said.strip()[-500:]}")


def _works(path: str) -> bool:
    """Whether a bare client returns what it receives: another compiler might call the C library where it must not."""
    with tempfile.TemporaryDirectory(prefix="hookline-") as folder, socket.socket(socket.AF_UNIX) as sock:
        os.mkdir(os.path.join(folder, "hookline"))
        sock.bind(os.path.join(folder, "hookline", "daemon.sock"))
        sock.listen(1)
        sock.settimeout(5)
        words = {"XDG_RUNTIME_DIR": folder}
        pipe = subprocess.PIPE
        with subprocess.Popen([path, "hook"], stdin=pipe, stdout=pipe, env=words) as client:
            assert client.stdin is not None
            assert client.stdout is not None
            try:
                client.stdin.write(b"input")
                client.stdin.close()
                asking, _ = sock.accept()
                with asking:
                    asking.settimeout(5)
                    heard = asking.recv(1 << 16)
                    asking.sendall(b"AR\0\0\0\7\0\0\0\5\0\0\0\0hello")
                said = client.stdout.read()
            except OSError:
                client.kill()
                return False
        return (client.returncode, said, heard[:4], heard[-5:]) == (7, b"hello", b"HKL1", b"input")


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')
