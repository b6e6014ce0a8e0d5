"""Guard every agent on a machine, for everybody on it: a signed policy that only the machine's owner changes.

  hookline policy keygen owner.key                       once: owner.key signs, owner.key.pub is given to machines
  hookline policy build policy/ -o policy.hkp --sign owner.key
  sudo hookline policy install policy.hkp --key owner.key.pub       --key only the first time
  hookline policy show | verify
  sudo hookline policy remove

A policy is a folder with policy.toml (name, version, agents) and hookline.toml (hooks, [guard], packs), and the files
that its hooks run. Its hooks come after all others, so they see what those made of a call, and neither a person nor a
repository can change them or switch them off. Both can add hooks of their own.

verify: exit code 1 if anything is not as it was signed. --json prints {"policy", "agents", "findings"}.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hookline.cli.options import add_json
from hookline.cli.output import paint, plural, print_json, safe
from hookline.config.managed import find_stranger
from hookline.core.errors import ConfigError, UsageError
from hookline.core.extras import extra_needed
from hookline.core.hook import HookSpec
from hookline.core.paths import Paths, find_paths
from hookline.fleet import agent_files, keys, machine
from hookline.fleet.agent_files import Machine
from hookline.fleet.build import Built, build_policy, check_tree, reseal
from hookline.fleet.bundle import Bundle, read_bundle
from hookline.fleet.install import PolicyFolder, readable_by_all

_PRINTS = ("files", "ansible", "dockerfile")


def configure(parser: ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("keygen", description="A pair of keys: NAME signs policies, NAME.pub is given to machines.")
    one.add_argument("name", metavar="NAME", help="the file of the private key; keep it off the machines")
    one.add_argument("--previous", metavar="OLD", default="", help="the private key that it follows, which signs it")
    one = verbs.add_parser("build", description="Make one signed file of a folder.")
    one.add_argument(
        "folder", metavar="FOLDER", help="the policy, or an older .hkp file to take again (with --version)"
    )
    one.add_argument(
        "-o", "--output", metavar="FILE", default="policy.hkp", help="where to write it (default: policy.hkp)"
    )
    one.add_argument("--sign", metavar="KEY", required=True, help="the private key of the owner")
    one.add_argument("--version", metavar="N", type=int, default=0, help="instead of the version in policy.toml")
    one = verbs.add_parser(
        "install", description="Put a policy in force on this machine, and in its agents' managed files."
    )
    one.add_argument("file", metavar="FILE", help="the policy")
    one.add_argument(
        "--key", metavar="KEY.pub", default="", help="whose policies this machine accepts; needed only the first time"
    )
    one.add_argument(
        "--program", metavar="PATH", default="", help="what agents call (default: a client in /etc/hookline)"
    )
    one.add_argument("--root", metavar="DIR", default="", help="the root of another system's disk; needs --program")
    one.add_argument("--print", dest="shown", choices=_PRINTS, nargs="?", const="files", default="",
                     help="write nothing; print what agents' files would say, for MDM, Ansible or a Dockerfile")  # fmt: skip
    for verb, about in (("show", "Show what is in force."), ("verify", "Check every file against the signature.")):
        one = verbs.add_parser(verb, description=about)
        one.add_argument("--root", metavar="DIR", default="", help="the root of another system's disk")
        add_json(one)
    one = verbs.add_parser("remove", description="Remove the policy, and restore the agents' files.")
    one.add_argument("--root", metavar="DIR", default="", help="the root of another system's disk")
    one.add_argument("--forget", action="store_true", help="forget the trusted key and the highest version too")


def run(args: Namespace) -> int:
    verbs = {"keygen": _keygen, "build": _build, "install": _install, "show": _show, "verify": _show, "remove": _remove}
    with readable_by_all(), extra_needed("fleet", "cryptography"):
        return verbs[args.verb](args)


def _paths(root: str = "") -> Paths:
    return find_paths(os.environ, root=root)


def _keygen(args: Namespace) -> int:
    made = keys.generate(args.name, args.previous)
    print(
        f"{args.name} signs policies: keep it secret, and off the machines\n{args.name}.pub is for machines: {made.short}…"
    )
    return 0


def _build(args: Namespace) -> int:
    if os.path.isfile(args.folder):
        if not args.version:
            raise UsageError("an older policy needs a higher version to be taken again: --version N")
        built = reseal(_read(args.folder), args.sign, _paths(), args.version)
    else:
        built = build_policy(args.folder, args.sign, _paths(), version=args.version)
    with open(args.output, "wb") as file:
        file.write(built.data)
    _warn(built)
    manifest = built.manifest
    print(
        f"{args.output}: {safe(manifest.name)} version {manifest.version}, {plural(len(_names(built.loaded.specs)), 'hook')}, {len(built.data)} bytes"
    )
    return 0


def _warn(built: Built) -> None:
    for problem in built.loaded.problems:
        print(f"{paint(problem.severity, 'yellow')}: {safe(str(problem))}", file=sys.stderr)


def _names(specs: Sequence[HookSpec]) -> list[str]:
    return list(dict.fromkeys(spec.name for spec in specs if spec.enabled))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None


# ── install ──────────────────────────────────────────────────────────────────────────────────────────


def _install(args: Namespace) -> int:
    paths = _paths(args.root)
    folder, data = PolicyFolder(paths), _read(args.file)
    if args.root and not args.program:
        raise UsageError("--root prepares another disk: name what agents call there: --program /usr/local/bin/hookline")
    given = read_bundle(data, args.file)
    if args.shown:
        return _print(args, given, paths)
    key = keys.read_public_key(args.key) if args.key else None
    done = machine.put_in_force(paths, data, key, program=args.program, root=_root(args))
    bundle, new, written, made = done.bundle, done.new, done.written, done.plans
    print(f"{safe(bundle.manifest.name)} version {bundle.manifest.version} is {'now' if new else 'already'} in force")
    for path in written:
        print(f"  wrote {path}")
    for one in made:
        if one.gap:
            print(f"  {one.agent.title}: {one.gap}")
    _warn_about_program(args.program or os.path.join(folder.folder, "bin", "hookline"), args.root)
    return 0


def _root(args: Namespace) -> str:
    return os.path.abspath(args.root).rstrip("/") if args.root else ""


def _warn_about_program(program: str, root: str) -> None:
    """Who can replace the program that agents call can answer for it."""
    for path in (program, sys.executable) if not root else ():
        if os.path.exists(path) and (why := find_stranger(path)):
            print(
                f"{paint('warning', 'yellow')}: {why}, so they can replace what decides; install hookline as root",
                file=sys.stderr,
            )


def _print(args: Namespace, bundle: Bundle, paths: Paths) -> int:
    program = args.program or "/usr/local/bin/hookline"
    specs = check_tree(bundle.tree, paths, args.file).specs
    plans = list(Machine(program=program).plans(bundle.manifest, specs, fresh=True))
    if args.shown == "dockerfile":
        print(agent_files.as_dockerfile(plans, args.file, args.key or "owner.key.pub"), end="")
    else:
        print({"files": agent_files.as_text, "ansible": agent_files.as_ansible}[args.shown](plans), end="")
    return 0


# ── show, verify, remove ─────────────────────────────────────────────────────────────────────────────


def _show(args: Namespace) -> int:
    paths = _paths(args.root)
    folder = PolicyFolder(paths)
    bundle = folder.bundle()
    verify = args.verb == "verify"
    agents, findings = machine.inspect(paths, root=_root(args))
    findings = findings if verify else []
    if args.json:
        kept = {} if bundle is None else {"digest": bundle.digest, "key": bundle.key.key, "folder": os.path.realpath(folder.current)}  # fmt: skip
        policy = None if bundle is None else {**asdict(bundle.manifest), **kept}
        print_json({"policy": policy, "agents": agents, "findings": findings})
    elif bundle is None:
        print(f"no policy is in force on this machine ({folder.folder})")
    else:
        _describe(bundle, agents, paths)
        for finding in findings:
            print(f"{paint('wrong', 'red')}: {safe(finding)}")
        if verify and not findings:
            print("every file is as it was signed")
    return int(bool(findings))


def _describe(bundle: Bundle, agents: Sequence[dict[str, Any]], paths: Paths) -> None:
    manifest = bundle.manifest
    loaded = check_tree(bundle.tree, paths, "the policy")
    print(f"{paint(safe(manifest.name), 'bold')} version {manifest.version}, signed by {bundle.key.short}…")
    print(f"hooks: {', '.join(map(safe, _names(loaded.specs))) or 'none'}")
    print(f"records that leave the machine: {manifest.records.send}")
    for row in agents:
        gap = f" ({row['gap']})" if row["gap"] else ""
        print(f"  {row['agent']:<14} {row['state']:<16} {row['file'] or ''}{gap}")


def _remove(args: Namespace) -> int:
    folder = PolicyFolder(_paths(args.root))
    if folder.bundle() is None and not args.forget:
        print(f"no policy is in force on this machine ({folder.folder})")
        return 0
    folder.require_writable()
    for path in agent_files.remove_files(machine.ledger(folder)):
        print(f"  restored {path}")
    folder.remove(forget=args.forget)
    print("the policy is removed")
    return 0
