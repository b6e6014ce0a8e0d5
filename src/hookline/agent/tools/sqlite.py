"""The ``sqlite`` tool: the model's queries, all statements of one call in one transaction.

Always refused: other files (ATTACH, DETACH, VACUUM), PRAGMA, explicit transactions, and loading code. A cancelled
call is interrupted and rolled back.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from hookline.agent.message import ToolOutput, ToolSpec
from hookline.agent.tools.base import ICONS, AgentTool, ToolContext, ToolError, object_schema, string
from hookline.runners.base import Stop

LIMIT = 10_000
#: Virtual machine instructions between two checks of the stop flag.
_STEPS = 10_000

_PARAMETERS = object_schema("query", query={**string("One or more SQL statements."), "contentMediaType": "text/sql"})
_REFUSED = re.compile(r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*(ATTACH|DETACH|PRAGMA|VACUUM)\b", re.IGNORECASE | re.DOTALL)
_FORBIDDEN = {
    sqlite3.SQLITE_ATTACH: "ATTACH", sqlite3.SQLITE_DETACH: "DETACH", sqlite3.SQLITE_PRAGMA: "PRAGMA",
    sqlite3.SQLITE_TRANSACTION: "an explicit transaction", sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT",
}  # fmt: skip
_WRITES = frozenset({
    sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_ALTER_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_DROP_INDEX,
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _SqliteTool:
    path: str
    readonly: bool
    limit: int
    extensions: tuple[str, ...]
    init_sql: str

    async def use(self, arguments: Mapping[str, Any], context: ToolContext) -> tuple[ToolOutput, ...]:
        stop = Stop()
        try:
            return await asyncio.to_thread(self._query, arguments["query"], context.cwd, stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def _query(self, query: str, cwd: str, stop: Stop) -> tuple[ToolOutput, ...]:
        try:
            with closing(self._connect(cwd)) as database:
                return self._transaction(database, query, stop)
        except sqlite3.Error as error:
            raise ToolError(str(error)) from error

    def _connect(self, cwd: str) -> sqlite3.Connection:
        path = os.path.join(cwd, self.path)
        fresh = not os.path.exists(path)
        if fresh and self.readonly:
            raise ToolError(f"the database {self.path} does not exist")
        mode = "ro" if self.readonly else "rwc"
        database = sqlite3.connect(f"file:{_quoted(path)}?mode={mode}", uri=True, isolation_level=None, timeout=10)
        try:
            database.execute("PRAGMA foreign_keys = ON")
            if self.extensions:
                database.enable_load_extension(True)
                for extension in self.extensions:
                    database.load_extension(os.path.join(cwd, extension))
                database.enable_load_extension(False)
            if fresh and self.init_sql:
                database.executescript(self.init_sql)
        except BaseException:
            database.close()
            raise
        return database

    def _transaction(self, database: sqlite3.Connection, query: str, stop: Stop) -> tuple[ToolOutput, ...]:
        database.set_progress_handler(lambda: int(stop.is_set()), _STEPS)
        database.execute("BEGIN")
        try:
            refusals: list[str] = []
            database.set_authorizer(self._authorizer(refusals))
            results = [self._statement(database, one, refusals) for one in _statements(query)]
            database.set_authorizer(None)
        except BaseException:
            database.set_authorizer(None)
            database.set_progress_handler(None, 0)
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
        return tuple(results)

    def _authorizer(self, refusals: list[str]) -> Any:
        def judge(action: int, first: str | None, second: str | None, *_rest: str | None) -> int:
            if action in _FORBIDDEN:
                refusals.append(_FORBIDDEN[action])
            elif action == sqlite3.SQLITE_FUNCTION and (second or "").lower() == "load_extension":
                refusals.append("load_extension")
            elif self.readonly and action in _WRITES and first != "sqlite_master":
                refusals.append("a change (the database is read-only)")
            else:
                return sqlite3.SQLITE_OK
            return sqlite3.SQLITE_DENY

        return judge

    def _statement(self, database: sqlite3.Connection, statement: str, refusals: list[str]) -> ToolOutput:
        word = _REFUSED.match(statement)
        if word is not None:
            raise ToolError(f"{word[1].upper()} is not allowed.")
        try:
            cursor = database.execute(statement)
            rows = [dict(zip(_columns(cursor), row, strict=True)) for row in cursor]
        except sqlite3.DatabaseError as error:
            raise ToolError(f"{refusals[-1]} is not allowed." if refusals else str(error)) from error
        if any(isinstance(value, bytes) for row in rows for value in row.values()):
            raise ToolError("BLOB columns cannot be shown; select other columns, or use hex().")
        import yaml  # only queries need it

        text = yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=1000)
        if len(text) > self.limit:
            raise ToolError("result was too large, try a more selective query.")
        return ToolOutput(mimetype="text/yaml", content=text)


def sqlite_tool(
    name: str,
    path: str,
    *,
    description: str = "",
    readonly: bool = False,
    limit: int = LIMIT,
    extensions: tuple[str, ...] = (),
    init_sql: str = "",
    icon: str = ICONS["sqlite"],
) -> AgentTool:
    tool = _SqliteTool(path=path, readonly=readonly, limit=limit, extensions=extensions, init_sql=init_sql)
    only = " It is read-only." if readonly else ""
    about = f"Queries the SQLite database {os.path.basename(path)}.{only} {description}".strip()
    spec = ToolSpec(name=name, description=about, parameters=_PARAMETERS)
    return AgentTool(spec=spec, use=tool.use, kind="sqlite", icon=icon)


def _columns(cursor: sqlite3.Cursor) -> list[str]:
    """Columns with the same name are numbered, so that both are kept."""
    names: list[str] = []
    for column in cursor.description or ():
        name, number = str(column[0]), 2
        while name in names:
            name, number = f"{column[0]}_{number}", number + 1
        names.append(name)
    return names


def _statements(query: str) -> Iterator[str]:
    """Split into statements; a semicolon inside a string or a trigger does not end one."""
    pending = ""
    for piece in re.split(r"(?<=;)", query):
        pending += piece
        if pending.strip() and sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if re.sub(r"--[^\n]*|/\*.*?\*/", "", pending, flags=re.DOTALL).strip(" \t\r\n;"):
        yield pending


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
