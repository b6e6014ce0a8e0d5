"""Open xonsh with your hooks in it, or run one command line in it.

Hooks come from hookline.toml as usual, and from ~/.lash/config and ~/.lash/plugins.conf. Arguments after -- go to xonsh.

  hookline shell
  hookline shell -c 'ls | wc -l'
  hookline shell --config guards.toml -- --no-rc
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from hookline.cli.parser import add_sources


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("-c", dest="command", metavar="TEXT", default=None, help="run this command line and exit")
    add_sources(parser)
    parser.add_argument("words", nargs="*", metavar="WORD", help="after --: arguments for xonsh")


def run(args: Namespace) -> int:
    from hookline.shell.engine_host import ShellOptions  # only this command needs a shell
    from hookline.shell.xonsh.start import start

    words = [*args.words, *(["-c", args.command] if args.command is not None else [])]
    options = ShellOptions(config=tuple(args.config or ()), dialect=args.dialect)
    return start(words, options, command="-c" in words)
