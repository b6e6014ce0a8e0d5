"""Print the code that makes bash or zsh run your hooks. Add as the last line of ~/.bashrc or ~/.zshrc:

  eval "$(hookline shell-init bash)"
  eval "$(hookline shell-init zsh)"

Hooks can watch, change and refuse command lines before they run; exit codes and times are recorded; prompts and keys can
be hooked. One process stays beside each shell, so no event starts one. For limits, see docs/how-to/bash-and-zsh.md; for
every event, use xonsh: hookline shell
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="bash|zsh", choices=("bash", "zsh"))
    parser.add_argument("--serve", type=int, metavar="PID", help=SUPPRESS)
    parser.add_argument("--push", type=int, metavar="FD", default=-1, help=SUPPRESS)


def run(args: Namespace) -> int:
    from hookline.shell.engine_host import ShellOptions  # --help needs no engine

    if args.serve is None:
        from hookline.shell.bash_zsh.script import script

        sys.stdout.write(script(args.shell, _program(), strict=_strict()))
        return 0
    from hookline.shell.bash_zsh.serve import serve

    return serve(args.shell, args.serve, ShellOptions(), asks=0, answers=1, pushes=args.push)


def _program() -> list[str]:
    """This very hookline, whatever PATH says later."""
    beside = os.path.join(os.path.dirname(sys.executable), "hookline")
    return [beside] if os.access(beside, os.X_OK) else [sys.executable, "-m", "hookline"]


def _strict() -> bool:
    """As configured now; the process beside the shell updates it with every prompt."""
    from hookline.config import load
    from hookline.core.paths import find_paths
    from hookline.engine.build import project_gate
    from hookline.shell.bash_zsh.service import is_strict

    home = os.environ.get("HOME") or os.path.expanduser("~")
    here, paths = os.getcwd(), find_paths(os.environ, home)
    gate = project_gate(paths, here, home, os.environ)
    found = [
        load(cwd=here, home=home, environ=os.environ, paths=paths, dialect=dialect, gate=gate)
        for dialect in (None, "lash")
    ]
    return any(is_strict(one.specs) for one in found)
