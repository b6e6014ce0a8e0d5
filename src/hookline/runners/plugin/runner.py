"""Runs hooks that are long-lived plugins: started when first needed, kept running, and restarted when they die.

A plugin that hangs, crashes, floods, breaks its protocol or forks costs callers at most their deadline:
it is killed with its process group and restarted after a delay that doubles with every failure.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from hookline.core._dataclass import fast_constructor
from hookline.core.errors import StateError
from hookline.core.hook import Plugin
from hookline.core.result import RunResult
from hookline.core.settings import Settings
from hookline.runners.base import Job, Stop
from hookline.runners.environ import hook_environ
from hookline.runners.plugin import startup
from hookline.runners.plugin.link import LinkDown, LinkTimeout, PluginLink
from hookline.runners.plugin.requests import PendingRequest
from hookline.runners.plugin.sockets import SocketDirectory
from hookline.runners.plugin.startup import DEADLINE, ExitStatus, StartError, open_plugin
from hookline.runners.plugin.watch import PluginWatcher
from hookline.runners.programs import find_program
from hookline.runners.spawn import own_directory

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 30.0
#: A plugin that stayed up this long has its failures forgiven.
_PROVEN = 30.0
#: Events that wait for a plugin to start; the oldest are dropped.
_BACKLOG = 1000
#: Seconds an event that nobody waits for may take to be sent.
_POST = 1.0
#: Seconds a plugin has between the terminate message and force.
_GRACE = 1.0
#: Milliseconds within which an answer counts as quick.
_QUICK = 1.0

_make_raw = fast_constructor(RunResult)


class _PluginSlot:
    """The place of one plugin, filled by one link after the other."""

    __slots__ = ("backlog", "failures", "link", "lock", "not_before", "starter", "trouble")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.link: PluginLink | None = None
        self.failures = 0
        self.not_before = 0.0
        self.trouble = ""
        self.backlog: deque[bytes] = deque(maxlen=_BACKLOG)
        self.starter: threading.Thread | None = None

    def live(self) -> PluginLink | None:
        link = self.link
        return link if link is not None and not link.down else None

    def failed(self, trouble: str) -> None:
        self.failures += 1
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(self.failures - 1, 20))
        self.trouble, self.not_before = trouble, time.monotonic() + pause


class PluginRunner:
    """``on_event`` receives plugin.load, plugin.unload and plugin.message; set it before the first run."""

    __slots__ = ("_closed", "_lock", "_slots", "_sockets", "_watch", "on_event")

    def __init__(self) -> None:
        self.on_event: Callable[[str, Mapping[str, Any]], None] | None = None
        self._slots: dict[tuple[str, str], _PluginSlot] = {}
        self._lock = threading.Lock()
        self._sockets = SocketDirectory()
        self._watch = PluginWatcher(self._notify)
        self._closed = False

    # ── the Runner protocol ────────────────────────────────────────────────────────────────────────────

    def run(self, job: Job) -> RunResult:
        """Send and wait for the answer; for a hook that only observes, send and return."""
        if job.spec.mode in {"background", "detached"}:
            return self.start(job)
        began = time.perf_counter()
        plugin = _plugin(job)
        link = self._slot(plugin).live() or self._up(plugin, job.settings, _environ(job), job.stop)
        if isinstance(link, str):
            return RunResult(error=link, ms=_since(began))
        return _await_answer(link, began, lambda: link.call(job.call.stdin, job.timeout, job.stop))

    async def arun(self, job: Job) -> RunResult:
        """The same under a running loop: a plugin that answers quickly is waited for right here, since waking a
        thread would take longer; for any other a thread waits."""
        import asyncio  # loaded already where this is awaited

        began = time.perf_counter()
        link = self._slot(_plugin(job)).live()
        request = link.ask_at_once(job.call.stdin, job.timeout) if link is not None and link.quick else None
        if link is None or request is None:
            return await asyncio.to_thread(self.run, job)
        if link.glance(request):
            return _await_answer(link, began, lambda: request)
        return await asyncio.to_thread(_await_answer, link, began, lambda: link.wait(request, job.stop))

    def start(self, job: Job) -> RunResult:
        """Send without waiting. A plugin that is not running is started in the background."""
        began = time.perf_counter()
        plugin = _plugin(job)
        slot = self._slot(plugin)
        link = slot.live()
        if link is None:
            return RunResult(error=self._post_later(plugin, slot, job), ms=_since(began))
        try:
            link.post(job.call.stdin, _POST, job.stop)
        except LinkTimeout:
            return RunResult(error=f"plugin {plugin.name}: it does not read its socket", ms=_since(began))
        except LinkDown as down:
            return RunResult(error=f"plugin {plugin.name}: {down}", ms=_since(began))
        return RunResult(exit_code=0, ms=_since(began))

    def discard(self, job: Job) -> None:
        """End a plugin that was started, or answered, while its files were not as approved."""
        link = self._slot(_plugin(job)).live()
        if link is not None:
            link.bring_down("its files changed while it ran", "changed")

    def close(self) -> None:
        """Ask every plugin to end, and kill those that have not ended after a moment."""
        with self._lock:
            self._closed = True
            slots = list(self._slots.values())
        for slot in slots:
            if (starter := slot.starter) is not None:
                starter.join(DEADLINE + 1)
        links = [link for slot in slots if (link := slot.live()) is not None]
        for link in links:
            link.terminate()
        until = time.monotonic() + _GRACE
        for link in links:
            link.bring_down("it was stopped", "terminate", max(0.01, until - time.monotonic()))
        self._watch.close()
        self._watch.flush()
        self._sockets.remove()

    def handshake(
        self, plugin: Plugin, settings: Settings, environ: Mapping[str, str], *, fresh: bool = False
    ) -> Mapping[str, Any] | str:
        """The plugin's handshake, cached by the content of its executable; a string is an error.

        A plugin that had to be started for it keeps running for later calls.
        """
        live = self._slot(plugin).live()
        if live is not None:
            return live.handshake
        program = find_program(plugin.path, environ.get("PATH", os.defpath), (own_directory(),))
        known = None if fresh else startup.recall(settings.state_dir, startup.digest(program))
        if known is not None:
            return known
        link = self._up(plugin, settings, environ, Stop())
        return link if isinstance(link, str) else link.handshake

    # ── starting and stopping ──────────────────────────────────────────────────────────────────────────────────

    def _slot(self, plugin: Plugin) -> _PluginSlot:
        key = (plugin.name, plugin.path)
        slot = self._slots.get(key)
        if slot is None:
            with self._lock:
                slot = self._slots.setdefault(key, _PluginSlot())
        return slot

    def _up(self, plugin: Plugin, settings: Settings, environ: Mapping[str, str], stop: Stop) -> PluginLink | str:
        """The plugin's live link, started if necessary; or why there is none."""
        slot = self._slot(plugin)
        with slot.lock:
            if (live := slot.live()) is not None:
                return live
            if self._closed:
                return f"plugin {plugin.name}: hookline is closing"
            if (left := slot.not_before - time.monotonic()) > 0:
                return f"plugin {plugin.name} is down, next start in {left:.1f} s: {slot.trouble}"
            link = self._opened(plugin, slot, settings, environ, stop)
        # Reported without the lock, since a listener may call this very plugin; and by the thread that
        # sends the first hook, so that plugin.load comes before it.
        if isinstance(link, str):
            self._notify("plugin.unload", {"name": plugin.name, "reason": "handshake"})
        else:
            self._notify("plugin.load", {"name": plugin.name, "pid": link.child.pid, "path": plugin.path})
            self._watch.add(link)
            link.take_held()
        return link

    def _opened(
        self, plugin: Plugin, slot: _PluginSlot, settings: Settings, environ: Mapping[str, str], stop: Stop
    ) -> PluginLink | str:
        try:
            slot.link = self._open(plugin, slot, settings, environ, stop)
        except (StartError, StateError, OSError) as error:
            slot.failed(str(error))
            return f"plugin {plugin.name}: {error}"
        return slot.link

    def _open(
        self, plugin: Plugin, slot: _PluginSlot, settings: Settings, environ: Mapping[str, str], stop: Stop
    ) -> PluginLink:
        opened = open_plugin(
            plugin.path, self._sockets.name(settings.state_dir, environ), environ, settings.state_dir, stop,
            interpreter=plugin.interpreter,
        )  # fmt: skip
        program = find_program(plugin.path, environ.get("PATH", os.defpath), (own_directory(),))
        startup.remember(settings.state_dir, startup.digest(program), opened.handshake)
        return PluginLink(
            name=plugin.name,
            child=opened.child,
            sock=opened.sock,
            lines=opened.lines,
            handshake=opened.handshake,
            on_message=lambda name, data: self._watch.happened("plugin.message", {"name": name, "data": data}),
            on_down=lambda link, ended: self._went_down(slot, link, ended),
        )

    def _went_down(self, slot: _PluginSlot, link: PluginLink, ended: ExitStatus) -> None:
        if time.monotonic() - link.since > _PROVEN:
            slot.failures = 0
        slot.failed(link.down)
        data: dict[str, Any] = {"name": link.name, "pid": link.child.pid, "reason": link.reason}
        if ended.exit_code is not None:
            data["exit_code"] = ended.exit_code
        self._watch.happened("plugin.unload", data)
        self._watch.discard(link)

    def _post_later(self, plugin: Plugin, slot: _PluginSlot, job: Job) -> str:
        """Queue the event for the plugin that is being started; "" or the reason why not."""
        left = slot.not_before - time.monotonic()
        if left > 0 and slot.starter is None:
            return f"plugin {plugin.name} is down, next start in {left:.1f} s: {slot.trouble}"
        settings, environ, stop = job.settings, _environ(job), job.stop

        def work() -> None:
            link = self._up(plugin, settings, environ, Stop())
            while True:
                with self._lock:
                    if isinstance(link, str) or not slot.backlog:
                        slot.backlog.clear()
                        slot.starter = None
                        return
                    body = slot.backlog.popleft()
                try:
                    link.post(body, _POST, stop)
                except (LinkDown, LinkTimeout) as error:
                    link = str(error)

        with self._lock:
            slot.backlog.append(job.call.stdin)
            if slot.starter is None:
                slot.starter = threading.Thread(target=work, name=f"start {plugin.name}", daemon=True)
                slot.starter.start()
        return ""

    def _notify(self, event: str, data: Mapping[str, Any]) -> None:
        listener = self.on_event
        if listener is not None:
            with suppress(Exception):  # a failing listener must not end the watcher or a call
                listener(event, data)


def handshake(plugin: Plugin, settings: Settings, environ: Mapping[str, str]) -> Mapping[str, Any] | str:
    """The plugin's handshake, cached or by starting it once; for callers without a runner."""
    runner = PluginRunner()
    try:
        return runner.handshake(plugin, settings, environ)
    finally:
        runner.close()


def _plugin(job: Job) -> Plugin:
    assert isinstance(job.spec.action, Plugin), "the table of runners says so"
    return job.spec.action


def _await_answer(link: PluginLink, began: float, wait: Callable[[], PendingRequest]) -> RunResult:
    """The result of a request: an answer, or why there is none."""
    try:
        answer = wait()
    except LinkTimeout:
        link.quick = False
        return RunResult(timed_out=True, ms=_since(began))
    except LinkDown as down:
        return RunResult(error=f"plugin {link.name}: {down}", ms=_since(began))
    ms = _since(began)
    link.quick = ms < _QUICK
    return _make_raw(exit_code=0, stdout=answer.text, value=answer.message, ms=ms)


def _environ(job: Job) -> Mapping[str, str]:
    return {**hook_environ(job, job.event.environ or os.environ)[0], **job.spec.environ}


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
