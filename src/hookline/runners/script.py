"""An inline script in a configuration file: source text that begins with a shebang."""

from __future__ import annotations

import os

from hookline.runners.environ import Workspace

_DEFAULT_INTERPRETER = ("/bin/sh",)


def parse_shebang(source: str) -> tuple[str, ...]:
    """The words of the first line: the interpreter and its arguments.

    The kernel would pass everything after the interpreter as one argument and would stumble over a carriage
    return. People mean words, so words they get; ``env -S`` then has nothing left to split.
    """
    first = source.lstrip("\ufeff").split("\n", 1)[0]
    words = tuple(first[2:].split()) if first.startswith("#!") else ()
    if len(words) > 1 and os.path.basename(words[0]) == "env":
        return (words[0], *_env_arguments(words[1:]))
    return words or _DEFAULT_INTERPRETER


def _env_arguments(words: tuple[str, ...]) -> tuple[str, ...]:
    """``-S`` and ``-vS`` only ask for what has been done already: splitting."""
    first, rest = words[0], words[1:]
    if first in {"-S", "--split-string"}:
        return rest
    if first.startswith("-S"):
        return (first[2:], *rest)
    return words


def script_argv(argv: tuple[str, ...], source: str, workspace: Workspace) -> tuple[str, ...]:
    """Write ``source`` to a private file and give the whole command line.

    ``argv`` of the caller goes before the file where there is one; the shebang says it otherwise.
    """
    words = argv or parse_shebang(source)
    # A carriage return at the end of each line would be part of every command.
    text = source.replace("\r\n", "\n").lstrip("\ufeff")
    path = workspace.file("script", text.encode("utf-8", "surrogateescape"), mode=0o700)
    return (*words, path)
