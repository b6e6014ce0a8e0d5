"""Makes the native client: the one that came with the wheel, or one built here, always the same bytes from one source.

The program does not depend on where hookline is installed: the paths it needs are written into it afterwards.
"""

from __future__ import annotations

import hashlib
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
from hookline.core.paths import find_paths, private_dir, short_tmp

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_SOURCE = os.path.join(_FOLDER, "hookc.c")
#: What a wheel for one platform brings along (hatch_build.py).
SHIPPED = os.path.join(_FOLDER, "hookc")
TWIN = os.path.join(_FOLDER, "start.py")
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
_BARE = ("-static", "-DBARE", "-fno-builtin", "-fno-stack-protector", "-Wl,-e,bare_start")
_GCC_BARE = (*_BARE, "-fno-tree-loop-distribute-patterns")
_STATIC = ("-static",)
#: The best way first; the bare one knows one system.
_WAYS: tuple[tuple[str, ...], ...] = (
    *(((*_LEAN, *_GCC_BARE),) if sys.platform == "linux" and platform.machine() == "x86_64" else ()),
    (*_LEAN, *_STATIC),
    _LEAN,
    (),
)
#: How zig is told for which system; without the C library's start where the source knows how.
TARGETS: Mapping[str, tuple[str, ...]] = {
    "x86_64-linux-musl": (*_LEAN, *_BARE),
    "aarch64-linux-musl": (*_LEAN, *_STATIC),
    "x86_64-macos": ("-s",),
    "aarch64-macos": ("-s",),
}
_PATH_ROOM = 1024


def build_client(environ: Mapping[str, str]) -> str:
    """The path of the client, in the data directory. Raises ``StateError`` where there is none and none can be built."""
    folder = private_dir(os.path.join(find_paths(environ).data, "bin"))
    path = os.path.join(folder, "hookc")
    if not (_has_shipped() and _copy_shipped(f"{path}.new")):
        compile_client(f"{path}.new")
    os.replace(f"{path}.new", path)
    return path


def can_build() -> bool:
    return _has_shipped() or compiler() is not None


def _has_shipped() -> bool:
    """Whether a program came with the package, built from the source beside it."""
    try:
        with open(SHIPPED, "rb") as file:
            return f"hookline: source {_source_digest()}".encode() + b"\0" in file.read()
    except OSError:
        return False


def _copy_shipped(path: str) -> bool:
    """Whether it runs on this machine."""
    shutil.copyfile(SHIPPED, path)
    _write_paths(path, sys.executable)
    return answers([path])


def compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def compile_client(path: str, *, extra: Sequence[str] = (), python: str = sys.executable) -> None:
    """Bare if possible, else static, else with the system's defaults."""
    compile_program(path, extra=extra)
    _write_paths(path, python)


def compile_program(path: str, *, extra: Sequence[str] = ()) -> None:
    """The program alone; it has no paths yet."""
    program = compiler()
    if program is None:
        raise StateError(f"there is no C compiler; the client in Python does the same: {sys.executable} -I -S {TWIN}")
    errors = ""
    for way in _WAYS if not extra else (tuple(extra),):
        errors = _compile([program], way, path)
        if not errors and ("-DBARE" not in way or answers([path])):
            return
    raise StateError(f"the client cannot be built: {errors[-500:]}")


def cross_compile(path: str, target: str) -> None:
    """The program that a wheel for ``target`` brings along. It has no paths yet."""
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-mcpu=baseline"]
    if errors := _compile(zig, TARGETS[target], path):
        raise StateError(f"the client for {target} cannot be built: {errors[-500:]}")


def _compile(program: Sequence[str], flags: Sequence[str], path: str) -> str:
    """What went wrong, or ""."""
    names = [f'-DVERSION="{hookline.__version__}"', f'-DSOURCE="{_source_digest()}"']
    line = [*program, *_FLAGS, *flags, *names, "-x", "c", _SOURCE, "-o", path]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"{program[0]} ended with {done.returncode}"


def _source_digest() -> str:
    with open(_SOURCE, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:32]


def _write_paths(path: str, python: str) -> None:
    """Write into the program where Python and hookline are."""
    with open(path, "rb") as file:
        program = file.read()
    for name, value in (("python_path", python), ("main_path", MAIN)):
        place, room = f"hookline: {name}".encode(), os.fsencode(value)
        if len(room) >= _PATH_ROOM:
            raise StateError(f"{value} is too long for the native client; use instead: hookline deploy --door command")
        if program.count(place.ljust(_PATH_ROOM, b"\0")) != 1:
            raise StateError(f"{path} is not a client of this version of hookline")
        program = program.replace(place.ljust(_PATH_ROOM, b"\0"), room.ljust(_PATH_ROOM, b"\0"))
    with open(path, "wb") as file:
        file.write(program)
    os.chmod(path, 0o700)
    if sys.platform == "darwin":  # the signature covers the paths
        _sign(path)


def _sign(path: str) -> None:
    """Without a signature macOS kills it: then the client in Python is registered."""
    try:
        subprocess.run(["/usr/bin/codesign", "--force", "--sign", "-", path], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise StateError(f"{path} cannot be signed: {error}") from error


def answers(command: Sequence[str]) -> bool:
    """Whether a client returns what it receives: for another machine it does not start, and another compiler might call the C library where a bare one must not."""
    with tempfile.TemporaryDirectory(dir=short_tmp()) as folder, socket.socket(socket.AF_UNIX) as sock:
        os.mkdir(os.path.join(folder, "hookline"))
        sock.bind(os.path.join(folder, "hookline", "daemon.sock"))
        sock.listen(1)
        sock.settimeout(5)
        words = {"XDG_RUNTIME_DIR": folder}
        pipe = subprocess.PIPE
        try:
            client = subprocess.Popen([*command, "hook"], stdin=pipe, stdout=pipe, env=words)
        except OSError:  # made for another machine
            return False
        with client:
            assert client.stdin is not None
            assert client.stdout is not None
            try:
                client.stdin.write(b"input")
                client.stdin.close()
                connection, _ = sock.accept()
                with connection:
                    connection.settimeout(5)
                    request = connection.recv(1 << 16)
                    connection.sendall(b"AR\0\0\0\7\0\0\0\5\0\0\0\0hello")
                output = client.stdout.read()
            except OSError:
                client.kill()
                return False
        return (client.returncode, output, request[:4], request[-5:]) == (7, b"hello", b"HKL1", b"input")
