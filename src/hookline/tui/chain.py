"""The chain of one recorded event, on the whole screen: the same as ``hookline log --chain``."""

from __future__ import annotations

import time

from hookline.engine.build import record_store
from hookline.state.record.chain import chain, chain_lines
from hookline.state.record.query import Row, load_runs
from hookline.tui.service import HookService


def chain_text(service: HookService, row: Row) -> str:
    runtime = service.runtime
    store = record_store(runtime.paths, runtime.loaded.settings.record)
    try:
        runs = load_runs(store, [row.number])[row.number]
    finally:
        store.close()
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.time))
    return "\n".join(chain_lines(chain(row, runs), when))
