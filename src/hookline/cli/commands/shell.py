"""Open xonsh with your hooks in it, or run one command line in it.

Hooks come from hookline.toml as usual, and from ~/.lash/config and ~/.lash/plugins.conf. Arguments after -- go to xonsh.

  hookline shell
  hookline shell -c 'ls | wc -l'
  hookline shell --config guards.toml -- --no-rc
  hookline shell --list-plugins
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from hookline.cli.options import add_json, add_sources
from hookline.core.errors import ConfigError


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("-c", dest="command", metavar="TEXT", default=None, help="run this command line and exit")
    add_sources(parser)
    parser.add_argument("--list-plugins", action="store_true", help="ask every plugin to describe itself, and exit")
    add_json(parser)
    parser.add_argument("words", nargs="*", metavar="WORD", help="after --: arguments for xonsh")


def run(args: Namespace) -> int:
    from hookline.shell.engine_host import ShellOptions  # only this command needs a shell

    for path in args.config or ():
        if not os.path.exists(path):  # a shell without the guards that were named would fail open
            raise ConfigError(f"{path}: there is no such file; create it, or name another")
    options = ShellOptions(config=tuple(args.config or ()), dialect=args.dialect)
    if args.list_plugins:
        from hookline.shell.plugin_list import list_plugins

        return list_plugins(options, as_json=args.json)
    from hookline.shell.xonsh.start import start

    words = [*args.words, *(["-c", args.command] if args.command is not None else [])]
    return start(words, options, command="-c" in words)
