"""Print the code that makes bash or zsh run your hooks, and do nothing else while there are none.

  hookline shell-init bash --save         once; it prints the line for the end of ~/.bashrc
  hookline shell-init zsh --save          the same for ~/.zshrc

The saved file starts in a few milliseconds and is kept up to date. Or, at the price of a Python start per shell:

  eval "$(hookline shell-init bash)"

Hooks can watch, change and refuse command lines before they run; prompts and keys can be hooked. One process stays
beside each shell, so no event starts one. For limits, see docs/how-to/bash-and-zsh.md; for every event, use xonsh:
hookline shell
"""

from __future__ import annotations

import os
import shlex
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="bash|zsh", choices=("bash", "zsh"))
    parser.add_argument("--save", action="store_true", help="write it to a file, and print the line that reads it")
    parser.add_argument("--serve", type=int, metavar="PID", help=SUPPRESS)
    parser.add_argument("--room", metavar="DIR", default="", help=SUPPRESS)
    parser.add_argument("--reason", default="exec", help=SUPPRESS)


def run(args: Namespace) -> int:
    from hookline.shell.engine_host import ShellOptions  # --help needs no engine

    if args.serve is not None:
        from hookline.shell.bash_zsh.serve import serve

        _refresh(args.shell)
        return serve(args.shell, args.serve, args.room, ShellOptions(), reason=args.reason)
    if args.save:
        sys.stdout.write(f". {shlex.quote(_save(args.shell))}\n")
    else:
        sys.stdout.write(_script(args.shell))
    return 0


def _save(shell: str) -> str:
    from hookline.core.files import read_text, replace_atomically
    from hookline.core.paths import private_dir
    from hookline.shell.bash_zsh.script import rooms, script_path

    path, text = script_path(_state(), shell), _script(shell)
    private_dir(rooms(_state()))
    if read_text(path) != text:
        replace_atomically(path, text)
    return path


def _refresh(shell: str) -> None:
    """The saved file follows this version of hookline and what is configured now."""
    from contextlib import suppress

    from hookline.core.errors import HooklineError
    from hookline.shell.bash_zsh.script import script_path

    if os.path.exists(script_path(_state(), shell)):
        with suppress(OSError, HooklineError):
            _save(shell)


def _script(shell: str) -> str:
    from hookline.shell.bash_zsh.script import script

    return script(shell, _program(), _state(), strict=_strict())


def _state() -> str:
    from hookline.core.paths import find_paths

    return find_paths(os.environ).state


def _program() -> list[str]:
    """This very hookline, whatever PATH says later."""
    beside = os.path.join(os.path.dirname(sys.executable), "hookline")
    return [beside] if os.access(beside, os.X_OK) else [sys.executable, "-m", "hookline"]


def _strict() -> bool:
    """As configured now; the process beside the shell updates it with every prompt."""
    from hookline.config.load import load
    from hookline.core.paths import find_paths, home_directory
    from hookline.engine.load import project_gate
    from hookline.shell.bash_zsh.service import is_strict

    home = home_directory(os.environ)
    here, paths = os.getcwd(), find_paths(os.environ, home)
    gate = project_gate(paths, here, home, os.environ)
    found = [
        load(cwd=here, home=home, environ=os.environ, paths=paths, dialect=dialect, gate=gate)
        for dialect in (None, "lash")
    ]
    return any(is_strict(one.specs) for one in found)
