"""The addresses of the view: pages, what they show, and what a person does there."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hookline import __version__
from hookline.core._dataclass import dataclass
from hookline.core.agents import all_agents
from hookline.core.errors import DataError, HooklineError
from hookline.core.paths import Paths, why_unusable
from hookline.core.settings import RecordSettings
from hookline.state import inbox
from hookline.state.record.chain import chain
from hookline.state.record.query import Row, find, load_runs
from hookline.state.record.store import store_in
from hookline.web import events, hooks, metrics, sessions, waiting
from hookline.web.access import Access, Browser
from hookline.web.feed import Feed, Follower
from hookline.web.pages import Pages
from hookline.web.security import Security

#: Pages that one browser may have open at a time.
_STREAMS = 8
_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What layers above this one know: how to replay, what an agent can do, what hooks missed."""

    replay: Callable[[str, str], Mapping[str, Any]]
    able: Callable[[str, str, Mapping[str, Any]], Any]
    missed: Callable[[], list[str]]
    deployments: Callable[[], list[str]]
    #: ``fleet.view.FleetView``, with ``--fleet``.
    fleet: Any = None


class View:
    """Answers requests. Every method runs in a thread of its own, so a slow query holds nobody else."""

    def __init__(
        self, paths: Paths, cwd: str, access: Access, services: Services, *, with_metrics: bool = False
    ) -> None:
        self._paths, self._cwd, self._access, self._services = paths, cwd, access, services
        self._store = store_in(paths.state, RecordSettings())
        self.with_metrics = with_metrics
        self.feed = Feed(
            lambda: Follower(store_in(paths.state, RecordSettings()), os.path.join(paths.state, inbox.FOLDER))
        )

    def close(self) -> None:
        self.feed.close()
        self._store.close()

    def routes(self) -> list[Route]:
        reading: dict[str, Callable[[Request], Any]] = {
            "/api/state": self._state, "/api/choices": lambda _request: events.choices(self._store), "/api/events": self._events, "/api/event/{id}": self._event,
            "/api/event/{id}/others": self._others, "/api/sessions": lambda _request: {"sessions": sessions.sessions(self._store)}, "/api/session/{id:path}": self._session,
            "/api/hooks": self._hooks, "/api/hook/{id}": self._hook, "/api/inbox": self._inbox, "/api/costs": self._costs,
            "/api/fleet": self._fleet,
        }  # fmt: skip
        acting: dict[str, Callable[[Request, Mapping[str, Any]], Any]] = {
            "/api/unlock": self._unlock, "/api/what-if": self._what_if, "/api/replay": self._replay,
            "/api/hook/switch": self._switch, "/api/hook/try": self._try, "/api/hook/trust": self._trust,
            "/api/hook/save": self._save, "/api/inbox/answer": self._answer, "/api/inbox/keep": self._keep,
        }  # fmt: skip
        files = Pages(self._first)
        pages = ("/", "/live", "/event/{id}", "/session/{id:path}", "/sessions", "/hooks", "/hook/{id}", "/inbox",
                 "/what-if", "/costs", "/fleet")  # fmt: skip
        return [
            *(Route(path, files.page) for path in pages),
            Route("/static/{version}/{name}", files.static),
            Route("/api/live", self._live),
            Route("/metrics", self._metrics),
            *(Route(path, _reading(function)) for path, function in reading.items()),
            *(Route(path, _acting(function), methods=["POST"]) for path, function in acting.items()),
            Route("/{rest:path}", files.missing),
        ]

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────

    def _state(self, request: Request) -> dict[str, Any]:
        browser: Browser = request.state.browser
        newest = events.newest(self._store)
        return {
            "version": __version__, "cwd": self._cwd, "read_only": self._access.read_only, "may_act": browser.may_act,
            "newest": newest, "recorded": newest > 0, "note": self._note(), "state_dir": self._paths.state,
            "agents": [{"name": name, "title": row.title} for name, row in all_agents().items()],
            "waiting": sum(1 for _ in inbox.questions(self._paths.state)) + sum(not one["settled"] for one in self._afar()),
            "fleet": self._services.fleet is not None,
        }  # fmt: skip

    def _first(self, request: Request) -> dict[str, Any]:
        """What a page asks for at once; of events only the newest, since filters are made in the page."""
        live = request.url.path in {"/", "/live"} and not request.url.query
        return {"state": self._state(request), "events": self._events(request) if live else None}

    def _note(self) -> str:
        why = why_unusable(self._paths.state)
        return f"nothing is recorded: {why}" if why else self._store.note

    def _events(self, request: Request) -> dict[str, Any]:
        filters = dict(request.query_params)
        filters["upto"] = filters.get("upto") or str(events.newest(self._store))
        offset, limit = _whole(filters.get("offset"), 0), _whole(filters.get("limit"), 200)
        rows = events.page(self._store, filters, offset, limit)
        total = events.count(self._store, filters) if not offset else None
        return {
            "rows": rows,
            "upto": _whole(filters["upto"], 0),
            "offset": offset,
            "total": total,
            "note": self._note(),
        }

    def _row(self, request: Request) -> Row:
        found = find(self._store, request.path_params["id"])
        if len(found) != 1:
            raise DataError("no recorded event has this id; it may have been removed since, or the id is too short")
        return found[0]

    def _event(self, request: Request) -> dict[str, Any]:
        row = self._row(request)
        whole = chain(row, load_runs(self._store, [row.number])[row.number])
        around = {
            name: [found[0] for found in self._store.read(
                f"SELECT id FROM firings WHERE session = ? AND number {sign} ? ORDER BY number {order} LIMIT 1",
                (row.session, row.number),
            )]
            for name, sign, order in (("previous", "<", "DESC"), ("next", ">", "ASC"))
        }  # fmt: skip
        return {
            **whole,
            "project": events.project_name(row.cwd),
            **{name: next(iter(one), None) for name, one in around.items()},
        }

    def _others(self, request: Request) -> dict[str, Any]:
        """Hooks that listen to this event and had no part in it, by today's files."""
        row = self._row(request)
        whole = chain(row, load_runs(self._store, [row.number])[row.number])
        ran = {step["hook"] for step in whole["steps"]}
        project = row.cwd if os.path.isdir(row.cwd) else self._cwd
        data = whole["data"] if isinstance(whole["data"], dict) else {}
        found = hooks.what_if(project, row.agent, row.event, data, lambda *_: None)["hooks"]
        return {"hooks": [one for one in found if one["hook"] not in ran]}

    def _session(self, request: Request) -> dict[str, Any]:
        return sessions.session(self._store, request.path_params["id"])

    def _project(self, given: Any) -> str:
        """Only folders that events happened in: a page does not make us look anywhere else."""
        return given if given in events.projects(self._store) and os.path.isdir(given) else self._cwd

    def _hooks(self, request: Request) -> dict[str, Any]:
        found = hooks.hooks(self._project(request.query_params.get("project")))
        return {**found, "projects": list(dict.fromkeys([self._cwd, *events.projects(self._store)]))}

    def _hook(self, request: Request) -> dict[str, Any]:
        return hooks.details(self._project(request.query_params.get("project")), request.path_params["id"])

    def _inbox(self, request: Request) -> dict[str, Any]:
        found = waiting.inbox(self._paths, self._cwd, events.projects(self._store))
        return {**found, "questions": [*found["questions"], *self._afar()], "deployments": self._services.deployments()}

    def _afar(self) -> list[dict[str, Any]]:
        asked = self._services.fleet.questions() if self._services.fleet is not None else []
        return [{**one, "deadline": time.time() + one["left"]} for one in asked if one["left"] or one["settled"]]

    def _fleet(self, request: Request) -> dict[str, Any]:
        if self._services.fleet is None:
            raise DataError("this view shows one machine; for all of them: hookline web --fleet")
        return dict(self._services.fleet.overview(_days(request)))

    def _costs(self, request: Request) -> dict[str, Any]:
        found = sessions.costs(self._store, _days(request))
        fired = {one["name"] for one in found["by_hook"] if one["runs"]}
        here = [one for one in hooks.hooks(self._cwd)["hooks"] if one["state"] == "on"]
        never = [{"id": one["id"], "name": one["name"]} for one in here if one["name"] not in fired]
        return {**found, "never": never, "silent": self._services.missed()}

    async def _live(self, request: Request) -> Response:
        browser: Browser = request.state.browser
        if browser.streams >= _STREAMS:
            return JSONResponse({"error": "too many pages are open in this browser"}, 429)

        browser.streams += 1  # at once: several requests may come before the first stream begins
        return _Stream(browser, self.feed.listen())

    def _metrics(self, request: Request) -> Response:
        if not self.with_metrics:
            return PlainTextResponse("Start it with --metrics.", 404)
        return PlainTextResponse(metrics.text(self._store), media_type="text/plain; version=0.0.4")

    # ── acting ───────────────────────────────────────────────────────────────────────────────────────

    def _unlock(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        why = self._access.unlock(request.state.browser, str(given.get("code", "")))
        if why:
            raise DataError(why)
        return {"may_act": True}

    def _what_if(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        data = given.get("data")
        return hooks.what_if(
            self._project(given.get("project")), str(given.get("agent", "")), str(given.get("event") or "PreToolUse"),
            data if isinstance(data, dict) else {}, self._services.able,
        )  # fmt: skip

    def _replay(self, request: Request, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._services.replay(str(given.get("id", "")), str(given.get("agent", "")))

    def _switch(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        seconds = given.get("seconds")
        hooks.switch(
            self._project(given.get("project")), str(given.get("id")), on=bool(given.get("on")),
            seconds=float(seconds) if isinstance(seconds, int | float) else None,
        )  # fmt: skip
        return {"done": True}

    def _try(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        return hooks.try_hook(self._project(given.get("project")), str(given.get("id")), str(given.get("event", "")))

    def _trust(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        hooks.trust(self._project(given.get("project")), str(given.get("id")), str(given.get("seal")))
        return {"done": True}

    def _save(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        copy = hooks.save(self._project(given.get("project")), str(given.get("id")), str(given.get("table", "")))
        return {"backup": copy}

    def _answer(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        word, reason = str(given.get("answer")), str(given.get("reason", ""))
        name = str(given.get("id"))
        if self._services.fleet is not None and any(one["id"] == name for one in self._afar()):
            if word not in {"allow", "deny"}:
                raise DataError("from afar the answer is allow or deny")
            return {"done": True, "result": self._services.fleet.answer(name, word, reason)}
        if not inbox.answer(self._paths.state, name, word, reason):
            raise DataError("nobody waits for this answer any more; the call was refused")
        return {"done": True}

    def _keep(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        waiting.keep(self._paths, str(given.get("path")), str(given.get("seal")))
        return {"done": True}


class _Stream(StreamingResponse):
    """What happens, as long as the page is open."""

    def __init__(self, browser: Browser, texts: AsyncIterator[str]) -> None:
        super().__init__(texts, media_type="text/event-stream", headers={"x-accel-buffering": "no"})
        self._browser = browser

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._browser.streams -= 1


def make_app(view: View, access: Access, port: int) -> Security:
    return Security(Starlette(routes=view.routes()), access, port, with_metrics=view.with_metrics)


def _whole(text: Any, default: int) -> int:
    """A number that a database takes."""
    try:
        return max(-_LARGEST, min(int(text), _LARGEST))
    except (TypeError, ValueError):
        return default


def _days(request: Request) -> int:
    return max(1, min(_whole(request.query_params.get("days"), 7), 365))


def _reading(function: Callable[[Request], Any]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return _answering(lambda: function(request))

    return endpoint


def _acting(function: Callable[[Request, Mapping[str, Any]], Any]) -> Any:
    async def endpoint(request: Request) -> Response:
        try:
            given = json.loads(await request.body())
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return JSONResponse({"error": "the body must be one JSON object"}, 400)
        values: dict[str, Any] = given
        return await run_in_threadpool(_answering, lambda: function(request, values))

    return endpoint


def _answering(work: Callable[[], Any]) -> Response:
    """A mistake is an answer that says what is wrong, never a page of errors."""
    try:
        return Response(json.dumps(work(), default=str), media_type="application/json")
    except HooklineError as error:
        return JSONResponse({"error": str(error)}, 400)
    except (ValueError, OSError) as error:
        return JSONResponse({"error": f"{type(error).__name__}: {error}"}, 400)
