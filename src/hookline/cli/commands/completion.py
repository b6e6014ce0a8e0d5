"""Print a completion script for hookline and for its other name, lh.

bash:  eval "$(hookline completion bash)"
zsh:   eval "$(hookline completion zsh)"
fish:  hookline completion fish | source

It completes commands and their subcommands, options, agents, dialects, event names and hook names. Event names are
those of the dialect on the line, and the canonical ones. Hook names are those found here (hookline completion names
prints them): files are read, nothing is run, and names with characters that mean something to a shell are left out.
"""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace

#: zsh's own completion, which not everybody has switched on.
_ZSH_START = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }\n"
#: zsh completes file names itself, and quotes them better.
_ZSH_FILES = "_hookline() { _python_argcomplete_hookline || _files }\ncompdef _hookline hookline lh"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="bash|zsh|fish", choices=("bash", "zsh", "fish", "names"))


def run(args: Namespace) -> int:
    if args.shell == "names":
        from hookline.cli.complete import hook_names  # the scripts do without the configuration

        print("\n".join(hook_names()))
        return 0
    print(_script(args.shell))
    return 0


def _script(shell: str) -> str:
    from argcomplete.shell_integration import shellcode  # only the scripts need it

    # Not the program on the line: the working directory may have one of that name, and Tab must not start it.
    places = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)))
    program = shutil.which("hookline", path=places) or "hookline"
    if shell == "fish":
        return shellcode(["hookline", "lh"], True, "fish", None, program)
    script = shellcode(["hookline", "lh"], True, shell, None, "hookline")
    script = script.replace('local script="hookline"', f'local script="{program}"')
    return f"{_ZSH_START}{script}\n{_ZSH_FILES}" if shell == "zsh" else script
