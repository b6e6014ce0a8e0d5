"""What a process may be started without: its three streams, and a directory to work in."""

from __future__ import annotations

import os
import sys


def take_what_is_missing() -> None:
    _streams()
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
