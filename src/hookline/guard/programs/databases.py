"""Programs that take SQL: what their statements destroy or run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import LONGEST_CODE, Handler, ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.reading import Word

_DROPS: Final = lazy_pattern(
    r"(?is)\b(drop\s+(database|schema|table|keyspace|index|view|user|role|owned|collection|tablespace)|truncate\s+(table\s+)?\w|delete\s+from\s+[\w.\"`\[\]]+\s*(;|$|'|\"|where\s+(1\s*=\s*1|true)\b)|alter\s+table\s+.*\bdrop\b|pg_(terminate_backend|reload_conf|rotate_logfile|switch_wal)\s*\(|drop\s+user|update\s+[\w.\"`]+\s+set\s+(?!.*\bwhere\b))"
)
_SELECTS: Final = lazy_pattern(r"(?i)\s*(select|show|explain)\b[^;]*;?\s*$")


_COMMENT: Final = lazy_pattern(r"(?s)/\*.*?\*/|--[^\n]*\n")
#: Names of files with statements.
_DROPPING: Final = lazy_pattern(r"(?i)(drop|wipe|destroy|truncate|reset|purge|nuke)\S*\.sql$")


def without_comments(text: str) -> str:
    return _COMMENT.sub(" ", text[:LONGEST_CODE])


def _sql(call: ProgramCall) -> Iterator[Effect]:
    code = [*call.words]
    if call.invocation.stdin is not None:
        code.append(call.invocation.stdin)
    files = [redirect.target for redirect in call.invocation.redirects if redirect.operator == "<"]
    for word in (*files, *call.words):
        if _DROPPING.search(word.text):
            yield call.effect("database", "medium", word.text, why="by its name, the file deletes data")
    for word in code:
        yield from call.legible(word)
        text = without_comments(word.text)
        found = _DROPS.search(re.sub(r"'[^']*'", "''", text) if _SELECTS.match(text) else text)
        if found:
            harm: Harm = "high" if not re.match(r"(?i)update|alter|pg_", found[0]) else "medium"
            yield call.effect(
                "database", harm, found[0].strip(), why="data are deleted for good", safer="make a dump first"
            )
        shell = re.search(
            r"\\!\s*(.+)|\\copy .* program '([^']+)'|(?i:copy .* (?:from|to) program '([^']+)')|^(?:\.shell|\.?system)\s+(.+)",
            text,
        )
        if shell:
            yield from call.shell(Word((next(group for group in shell.groups() if group),), shell[0]))


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType(dict.fromkeys(words("psql mysql mariadb sqlite3 duckdb sqlcmd cqlsh clickhouse-client clickhouse sqlplus cockroach usql mycli pgcli snowsql presto trino mssql-cli"), _sql))  # fmt: skip
