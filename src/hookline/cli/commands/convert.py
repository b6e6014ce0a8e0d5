"""Translate hooks from one dialect to another, as far as the other supports them.

What it does not support is reported on stderr with its file and line, and the exit code is 1. Without -o, the result
goes to standard output. D may be an agent's name. A hook's program stays as it is, and gets the other agent's input there;
to have it called as its own agent does: hookline deploy --move FROM=TO.

  hookline convert --from letta --to native .letta/settings.json -o .hookline/hookline.toml
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hookline.cli.loading import look, require_readable, tell_problems
from hookline.cli.stdio import use_utf8
from hookline.core.agents import find_agent
from hookline.core.errors import UsageError
from hookline.core.problem import Problem
from hookline.dialects import dialect_named
from hookline.dialects.tool_matchers import hides_server, translate_tools

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.core.hook import HookSpec


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="+", help="the files, lowest precedence first")
    parser.add_argument("--from", metavar="D", dest="source", required=True, help="the dialect of the files")
    parser.add_argument("--to", metavar="D", dest="target", required=True, help="the dialect to write")
    parser.add_argument("-o", "--output", metavar="FILE", help="write here; an existing file is not overwritten")


def run(args: Namespace) -> int:
    writer, source = dialect_named(args.target), find_agent(dialect_named(args.source).name)
    target = find_agent(writer.name)
    if source is not None and source.form == "plugin":
        raise UsageError(f"{source.title} has plugins and no file of hooks, so there is nothing to convert")
    if target is not None and target.form == "plugin":
        way = f"--move {source.name}={target.name}" if source is not None else f"--agent {target.name}"
        raise UsageError(
            f"{target.title} has plugins and no file of hooks; hookline can call them there: hookline deploy {way}"
        )
    runtime = look(config=args.file, dialect=args.source)
    require_readable(runtime, args.file)
    tell_problems(runtime)
    translated = [translate_tools(spec, writer.name) for spec in runtime.loaded.specs]
    rendered = writer.render([spec for spec, _ in translated])
    losses = [*rendered.losses, *(_costs(runtime.loaded.specs) if writer.name != "native" else ())]
    for spec, (_, unknown) in zip(runtime.loaded.specs, translated, strict=True):
        losses += _unknown_tools(spec, unknown, writer.name)
    for loss in losses:
        print(f"lost: {loss}", file=sys.stderr)
    if losses and source is not None and target is not None:
        print(
            f"To lose less, let hookline call them: hookline deploy --move {source.name}={target.name}", file=sys.stderr
        )
    if args.output:
        _write(args.output, rendered.text)
    else:
        use_utf8(sys.stdout)
        sys.stdout.write(rendered.text)
    broken = any(problem.severity == "error" for problem in runtime.loaded.problems)
    return 1 if losses or broken else 0


def _unknown_tools(spec: HookSpec, lost: Sequence[str], target: str) -> Iterator[Problem]:
    for name in lost:
        what = "tools of MCP servers" if (servers := name.startswith("mcp__")) else f"the tool {name}"
        finding = f"{spec.name!r}: {what}: hookline does not know what {target} calls {'them' if servers else 'it'}"
        yield spec.origin.problem(finding, "correct the matcher by hand")
    agent = find_agent(target)
    if agent is not None and hides_server(agent, spec):
        finding = (
            f"{spec.name!r}: {agent.title} does not tell which MCP server a tool belongs to: it runs for all of them"
        )
        yield spec.origin.problem(finding, "name the tools in the matcher")


def _costs(specs: Sequence[HookSpec]) -> Iterator[Problem]:
    """Budgets and caches, which only the native dialect supports."""
    for spec in specs:
        if spec.thrift is not None:
            at = spec.origin
            yield Problem(
                file=at.file, line=at.line, pointer=at.pointer, finding=f"{spec.name!r}: budget and cache are not supported",
                fix="keep this hook in its own dialect",
            )  # fmt: skip


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path!r} already exists; name another file with -o, or move it away") from None
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}") from None
