"""Guard many machines by one policy, over a NATS broker of your own.

  hookline fleet init fleet/ --server nats.example.com:4222      keys and the broker's configuration; keep fleet/ to yourself
  hookline fleet add laptop-7 --group developers                 writes laptop-7.creds, all that this machine needs
  sudo hookline fleet join laptop-7.creds                        on the machine
  hookline fleet publish policy.hkp --group developers --percent 10
  hookline fleet publish --group developers --percent 100        the same policy, for all
  hookline fleet publish --group developers --rollback --sign owner.key
  hookline fleet status                                          every machine, on one screen
  hookline fleet sink --to postgres DSN --credentials sink.creds   or: --to parquet DIR, --to stdout
  hookline fleet revoke laptop-7                                 the broker refuses it from now on
  hookline fleet members
  hookline fleet inbox                                           questions of all machines, for whoever is on call
  hookline fleet inbox 3f9a --deny --reason "not at night"

join, leave and status --local are for a machine, sink for whoever collects records. All others work on the folder of the
fleet's owner: --fleet DIR, or fleet/ in the current directory.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from hookline.cli.commands import fleet_inbox
from hookline.cli.commands.fleet_machine import configure_machine, fleet_paths, run_feed, run_join, run_leave, run_link
from hookline.cli.commands.fleet_owner import configure_owner, run_add, run_init, run_members, run_revoke
from hookline.cli.commands.fleet_team import configure_team, run_publish, run_sink, run_status
from hookline.core.extras import extra_needed


def configure(parser: ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    configure_owner(verbs.add_parser)
    configure_team(verbs.add_parser)
    configure_machine(verbs.add_parser)
    fleet_inbox.configure(verbs.add_parser("inbox", description="Answer what hooks on other machines ask; for whoever is on call."))  # fmt: skip


def run(args: Namespace) -> int:
    if args.verb in {"join", "link"}:
        os.umask(0o022)  # what the owner of a machine writes, everybody reads; secrets have a mode of their own
    with extra_needed("fleet", "cryptography", "nats", "nkeys"):
        return _VERBS[args.verb](args)


_VERBS: Mapping[str, Callable[[Namespace], int]] = {
    "init": run_init, "add": run_add, "revoke": run_revoke, "members": run_members, "publish": run_publish, "status": run_status, "sink": run_sink,
    "join": run_join, "leave": run_leave, "link": run_link, "feed": run_feed, "inbox": lambda args: fleet_inbox.run(args, fleet_paths(args)),
}  # fmt: skip
