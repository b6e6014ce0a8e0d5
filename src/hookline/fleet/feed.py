"""Whose records a machine has: those of who runs the link, and where that is root, those of every account.

Root does not open files that belong to others: what reads them runs as their owner, and only answers questions.
"""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from hookline.core.errors import StateError
from hookline.core.isolation import MAIN
from hookline.core.settings import RecordSettings
from hookline.fleet.link import FleetLink
from hookline.fleet.records import Batch, Read, own_store, read_batch
from hookline.state.record.store import store_in

_PATIENCE, _LONGEST_LINE = 30.0, 64 << 20

_Find: TypeAlias = Callable[[], Awaitable[Mapping[str, Read]]]


@asynccontextmanager
async def sources(link: FleetLink) -> AsyncGenerator[_Find]:
    """Source -> how to read it; accounts that begin to use hookline are found later."""
    known = {f"u{os.geteuid()}": own_store(link.paths.state)}
    feeds: list[_Feed] = []

    async def find() -> Mapping[str, Read]:
        for account in pwd.getpwall() if os.geteuid() == 0 and link.joined.folder.startswith("/etc/") else ():
            name, state = f"u{account.pw_uid}", os.path.join(account.pw_dir, ".local/state/hookline")
            if name not in known and os.path.exists(os.path.join(state, "hookline.db")):  # noqa: ASYNC240  a local disk
                feeds.append(_Feed(account, state))
                known[name] = feeds[-1].read
        return known

    try:
        yield find
    finally:
        for one in feeds:
            await one.close()


class _Feed:
    """A process of another account that reads its record for us."""

    def __init__(self, account: pwd.struct_passwd, state: str) -> None:
        self._account, self._state = account, state
        self._process: asyncio.subprocess.Process | None = None

    async def read(self, after: int, most: int) -> Batch:
        """Raises StateError; the next call starts it anew."""
        try:
            process = self._process or await self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{after} {most}\n".encode())
            tree = json.loads(await asyncio.wait_for(process.stdout.readline(), _PATIENCE))
            return Batch(newest=int(tree["newest"]), rows=[(int(number), dict(one)) for number, one in tree["rows"]])
        except (OSError, TimeoutError, ValueError, KeyError, TypeError) as error:
            await self.close()
            raise StateError(f"the record of {self._account.pw_name} cannot be read: {error or 'no answer'}") from None

    async def _start(self) -> asyncio.subprocess.Process:
        one = self._account
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", MAIN, "fleet", "feed", "--directory", self._state,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, cwd="/",
            env={"HOME": one.pw_dir, "PATH": "/usr/bin:/bin"}, user=one.pw_uid, group=one.pw_gid, extra_groups=[],
            limit=_LONGEST_LINE,
        )  # fmt: skip
        return self._process

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()


def serve(state: str) -> None:
    """The other side: a question on each line of standard input, an answer on one of standard output."""
    store = store_in(state, RecordSettings())
    for line in sys.stdin:
        after, most = (int(word) for word in line.split())
        batch = read_batch(store, after, most)
        sys.stdout.write(json.dumps({"newest": batch.newest, "rows": batch.rows}, default=str) + "\n")
        sys.stdout.flush()
