"""Answer a conversation file (.lec): one turn, with its hooks and tools.

Without -f the conversation is read from standard input and printed with the answer, like a filter. With -f, piped input
is added to the conversation. -i writes the answer into the file, completely or not at all: after an error the file is
unchanged.

  hookline run -f talk.lec -i --format none
  hookline run < talk.lec > talk.new
  echo "And in French?" | hookline run -if talk.lec --format clean

Formats: full (the input and the answer's block), block, raw (the block's content), clean (the text only), none.
Exit codes: 0, 1 after an error, 129, 130 and 143 after SIGHUP, SIGINT and SIGTERM.
"""

from __future__ import annotations

import os
import shlex
import sys
from argparse import SUPPRESS
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.agent.lectic_run import RunRequest


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("-f", "--file", metavar="FILE", help="the conversation; without it, standard input")
    parser.add_argument("-i", "--inplace", action="store_true", help="write the answer into the file too")
    parser.add_argument("--format", metavar="MODE", default="full", help="full, block, raw, clean or none")
    parser.add_argument(
        "-l", "--log", metavar="PATH", help="append requests and replies here, one JSON object per line"
    )
    parser.add_argument("--model", metavar="M", default="", help="ask this model: provider:name, or script:FILE")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="approve the lectic.yaml found here as it is now: hooks, tools, addresses, files",
    )
    parser.add_argument("stray", nargs="*", help=SUPPRESS)


def run(args: Namespace) -> int:
    from hookline.agent.output import Format  # --help must not wait for it
    from hookline.core.errors import UsageError

    if args.stray:
        raise UsageError(f"the conversation is named after -f: hookline run -f {shlex.quote(args.stray[0])}")
    if args.inplace and not args.file:
        print("You can't use --inplace without --file")
        return 1
    form = args.format.lower()
    if form not in get_args(Format):
        print(f"Unsupported --format value: {args.format}. Use one of: {', '.join(get_args(Format))}")
        return 1
    from hookline.core.errors import HooklineError

    try:
        return _run_locked(args, form)
    except HooklineError as error:
        _print_error(str(error))
        return 1


def _run_locked(args: Namespace, form: Any) -> int:
    """Only one run at a time may rewrite a file."""
    if not args.inplace:
        return _run(args, form)
    from hookline.agent.output import lock_conversation

    with lock_conversation(args.file):
        return _run(args, form)


def _run(args: Namespace, form: Any) -> int:
    import asyncio

    from hookline.agent.lectic_run import ConversationRun, Streams
    from hookline.cli.stdio import use_utf8  # who asks for help needs none

    environ = dict(os.environ)
    request = _request(args, form, environ)
    use_utf8(sys.stdout)
    out = _Out(dos=request.dos)
    streams = Streams(out=out, tell=_print_each_once(), log=_logger(args.log, environ))
    return asyncio.run(ConversationRun(request=request, streams=streams).perform()) or int(out.failed)


def _request(args: Namespace, form: Any, environ: dict[str, str]) -> RunRequest:
    from hookline.agent.lectic_config import Where
    from hookline.agent.lectic_run import RunRequest
    from hookline.cli.stdio import decode_text
    from hookline.core.paths import find_paths, home_directory

    home = home_directory(environ)
    before = _read_bytes(args.file) if args.file else b""
    written = decode_text(before, args.file) if args.file else _piped(None)
    # Every line ends with CR LF, which the records inside must not contain.
    dos = "\r\n" in written and written.count("\n") == written.count("\r\n")
    return RunRequest(
        text=(written.replace("\r\n", "\n") if dos else written) + (_piped(args.file) if args.file else ""),
        where=Where(
            file=os.path.abspath(args.file) if args.file else "",
            cwd=os.getcwd(),
            home=home,
            environ=environ,
            paths=find_paths(environ, home),
        ),
        file=args.file or "",
        inplace=args.inplace,
        before=before,
        dos=dos,
        form=form,
        model=args.model,
        trust_all=environ.get("HOOKLINE_TRUST") == "all",
        approve=args.trust,
    )


def _read_bytes(path: str) -> bytes:
    from hookline.core.errors import DataError

    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None


def _piped(file: str | None) -> str:
    """Standard input: the conversation itself, or what is added to the file's. A terminal adds nothing."""
    if sys.stdin is None or (file and sys.stdin.isatty()):
        return ""
    from hookline.cli.stdio import decode_text

    text = decode_text(sys.stdin.buffer.read())
    return text if not file else f"\n\n{text}" if text.strip() else ""


class _Out:
    """Standard output, chunk by chunk. A reader that closed the pipe, or a full disk, must not lose the conversation's
    answer; a write error is reported."""

    def __init__(self, *, dos: bool) -> None:
        self._end = "\r\n" if dos else "\n"
        self._gone = False
        self.failed = False

    def __call__(self, text: str) -> None:
        if self._gone or not text:
            return
        try:
            sys.stdout.write(text.encode("utf-8", "replace").decode().replace("\n", self._end))
            sys.stdout.flush()
        except (BrokenPipeError, ValueError):
            self._disconnect()
        except OSError as error:
            self._disconnect()
            self.failed = True
            _print_error(f"cannot write to standard output: {error.strerror}")

    def _disconnect(self) -> None:
        self._gone = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(line: str) -> None:
    try:
        print(f"hookline: {line}", file=sys.stderr, flush=True)
    except OSError:
        return


def _print_each_once() -> Callable[[str], None]:
    printed: set[str] = set()

    def tell(line: str) -> None:
        if line not in printed:
            printed.add(line)
            _print_error(line)

    return tell


def _logger(path: str | None, environ: dict[str, str]) -> Callable[[str, Any], None]:
    """One JSON object per line, redacted, in a private file."""
    if not path:
        return lambda _kind, _value: None
    import json
    import time
    from dataclasses import asdict, is_dataclass

    from hookline.state.record.redact import Redactor

    clean = Redactor(environ, ()).text
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def plain(value: Any) -> Any:
        return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)

    def log(kind: str, value: Any) -> None:
        line = json.dumps({"time": time.time(), "kind": kind, "value": value}, ensure_ascii=False, default=plain)
        os.write(handle, (clean(line) + "\n").encode("utf-8", "replace"))

    return log
