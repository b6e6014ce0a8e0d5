"""What to type to get an optional part of hookline: the packages that it needs, by their own names."""

from __future__ import annotations

import shlex
from collections.abc import Generator
from contextlib import contextmanager

from hookline.core.errors import ConfigError


@contextmanager
def extra_needed(extra: str, *modules: str) -> Generator[None]:
    """A missing module of an extra is no bug: raises ConfigError with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in modules:
            raise
        raise ConfigError(f"this needs the extra {extra!r}: {install_command(extra)}") from None


def install_command(extra: str) -> str:
    """The packages themselves: whatever an index may have under hookline's name is not ours."""
    from importlib.metadata import PackageNotFoundError, requires  # only a message pays for it

    try:
        wanted = _wanted(requires("hookline") or [], extra)
    except PackageNotFoundError:
        wanted = []
    return f"pip install {shlex.join(wanted)}" if wanted else f"pip install '.[{extra}]' in a clone of hookline"


def _wanted(lines: list[str], extra: str) -> list[str]:
    """An extra may be part of another one: ``hookline[models]; extra == "chat"``."""
    found: list[str] = []
    for line in lines:
        package, _, condition = line.partition(";")
        if extra not in condition.replace("'", '"').split('"'):
            continue
        inner = package.strip().removeprefix("hookline[").removesuffix("]")
        found += [package.strip()] if inner == package.strip() else _wanted(lines, inner)
    return found
