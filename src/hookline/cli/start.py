"""What a process may be started without: its three streams, all signs there are, and a directory to work in."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper


def take_what_is_missing() -> None:
    _streams()
    _signs()
    _directory()


def _streams() -> None:
    """A stream that was closed is nobody: its number must not go to the next file, where a print would land in it."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                handle = os.open(os.devnull, os.O_RDWR)
                if handle != number:
                    os.dup2(handle, number)
                    os.close(handle)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  until we end


def _signs() -> None:
    """The terminal's encoding may lack a sign, and a file's name may be no text: it is written as an escape then."""
    if getattr(sys.stdout, "errors", "") == "strict" and isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _directory() -> None:
    """Where the working directory was deleted, the nearest one above it: its guards must not be off by that."""
    try:
        os.getcwd()
    except FileNotFoundError:
        place = os.path.abspath(os.environ.get("PWD") or "/") if os.path.isabs(os.environ.get("PWD", "")) else "/"
        while not os.path.isdir(place):
            place = os.path.dirname(place)
        os.chdir(place)
        print(f"hookline: the working directory is gone; working in {place}", file=sys.stderr)
