"""``python -m hookline.llm.scripted SCRIPT.json [--port N] [--port-file F] [--log F]``: serve until killed."""

from __future__ import annotations

import argparse
import signal
import sys
from types import FrameType

from hookline.core.files import replace_atomically
from hookline.llm.scripted.script import ScriptError, read_script
from hookline.llm.scripted.server import ModelServer


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m hookline.llm.scripted")
    parser.add_argument("script", help="a JSON file: a list of steps, or {'steps': [...], 'default': {...}}")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) lets the system choose")
    parser.add_argument("--port-file", help="the port is written here once the server listens")
    parser.add_argument("--log", help="every request is appended here as one JSON line")
    given = parser.parse_args(arguments)
    try:
        script = read_script(given.script)
    except ScriptError as error:
        sys.stderr.write(f"{error}\n")
        return 65
    with ModelServer(script, log=given.log, port=given.port) as server:
        if given.port_file:
            replace_atomically(given.port_file, str(server.port), durable=False)
        # Ends through the context manager, which releases hanging clients; who reads the address may end us at once.
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
            server.closing.wait()
        except KeyboardInterrupt:
            return 0
    return 0


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
