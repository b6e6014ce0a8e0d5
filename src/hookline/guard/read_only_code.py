"""SQL, awk and sed that only read, by the absence of every word that could do more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import ProgramCall
from hookline.guard.pattern import LazyPattern

_READ_SQL: Final = LazyPattern(r"(?is)\s*(select|show|describe|desc|explain|with|values|table)\b")
_WRITE_SQL: Final = LazyPattern(
    r"(?i)\b(insert|update|delete|drop|alter|create|truncate|grant|revoke|merge|call|exec|execute|copy|load|attach|detach|vacuum|into|unload|msck|refresh|reindex|lock|replace|handler|set|begin|commit|do|import|export|install|pragma|pg_\w*(file|terminate|cancel|sleep|reload)\w*|lo_\w+|dblink\w*|nextval|setval|sys_exec|xp_\w+|sp_\w+|readfile|writefile|load_extension|edit)\b|\\"
)


def sql_reads(text: str) -> bool:
    """Every statement only reads, by its first word and by the absence of every word that changes something."""
    plain = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    parts = [part for part in plain.split(";") if part.strip()]
    return bool(parts) and all(
        _READ_SQL.match(part) and not _WRITE_SQL.search(re.sub(r"'[^']*'", "''", part)) for part in parts
    )


def reads_sql(call: ProgramCall, _inner: bool) -> bool:
    if call.invocation.redirects or call.invocation.stdin is not None or call.invocation.upstream:
        return False
    options = call.options(_SQL_OPTIONS[call.name])
    if (
        options.unknown
        or options.any("file", "init", "output", "cmd", "tee", "init-command", "log-file")
        or not all(word.known for word in call.words)
    ):
        return False
    code = [word.text for word in options.values("command", "execute")]
    if call.name in {"sqlite3", "duckdb"}:
        code += [word.text for word in options.operands[1:]]
    return bool(code) and all(sql_reads(text) for text in code)


_SQL_OPTIONS: Final[Mapping[str, str]] = MappingProxyType({
    "psql": "c:,command: f:,file: o:,output: L:,log-file: h:,host: p:,port: U:,username: d:,dbname: t,tuples-only A,no-align x,expanded q,quiet w,no-password W,password X,no-psqlrc v:,set: P:,pset: F:,field-separator: R: H,html e b E n s S l,list 1 z 0 a ,csv",
    "mysql": "e:,execute: h:,host: u:,user: p?,password? P:,port: D:,database: S:,socket: B,batch N,skip-column-names t,table H,html X,xml s,silent r,raw v,verbose E,vertical ,init-command: ,tee: ,protocol: ,default-character-set: C f n q",
    "mariadb": "e:,execute: h:,host: u:,user: p?,password? P:,port: D:,database: S:,socket: B,batch N t H X s r v E",
    "sqlite3": "", "duckdb": "",
})  # fmt: skip


def reads_lite(call: ProgramCall, inner: bool) -> bool:
    """sqlite3 and duckdb: options with one dash, then the file, then statements."""
    texts = list(call.texts)
    if (
        call.invocation.redirects
        or call.invocation.stdin is not None
        or call.invocation.upstream
        or not all(word.known for word in call.words)
    ):
        return False
    values = {
        "-separator": 1,
        "-nullvalue": 1,
        "-newline": 1,
        "-lookaside": 2,
        "-c": 1,
        "-s": 1,
        "-vfs": 1,
        "-mmap": 1,
        "-maxsize": 1,
    }
    code: list[str] = []
    rest: list[str] = []
    while texts:
        text = texts.pop(0)
        option = "-" + text.lstrip("-")
        if not text.startswith("-"):
            rest.append(text)
        elif option in {"-c", "-s"} and texts:
            code.append(texts.pop(0))
        elif option in values:
            del texts[: values[option]]
        elif not re.fullmatch(
            r"-(json|csv|table|column|line|list|html|box|markdown|header|noheader|readonly|batch|bail|ascii|quote|tabs|stats|echo)",
            option,
        ):
            return False
    code += rest[1:]
    return bool(code) and all(sql_reads(text) for text in code)


_AWK_STRINGS = LazyPattern(r'"(?:\\.|[^"\\])*"')


def reads_awk(call: ProgramCall, _inner: bool) -> bool:
    options = call.options(
        "F:,field-separator: v:,assign: f:,file: i:,include: l: E:,exec: e:,source: W: o? p? d? D? L? n N r s S t V M b c C g O P",
        until_operand=True,
    )
    if options.unknown or options.any("file", "include", "l", "exec", "o", "p", "d", "D", "W"):
        return options.any("W") and call.texts == ("-W", "version")
    programs = [*options.values("source"), *(options.operands[:1] if "source" not in options else ())]
    return bool(programs) and all(word.known and _awk_reads(word.text) for word in programs)


_INNERMOST = LazyPattern(r"\([^()]*\)")


def _awk_reads(program: str) -> bool:
    plain = _AWK_STRINGS.sub('""', program.replace('"/dev/null"', "@"))
    plain = re.sub(r"/(?:\\.|[^/\\\n])+/", "//", plain)
    if re.search(r"\b(system|getline|close|fflush|@\w+)\b|(?<!\|)\|(?!\|)|@(load|include)", plain):
        return False
    while _INNERMOST.search(plain):
        plain = _INNERMOST.sub("", plain)
    if any(re.search(r">(?!\s*@)", statement) for statement in re.findall(r"\bprintf?\b[^;}\n]*", plain)):
        return False
    return ">>" not in plain


_SED_SUBSTITUTE = LazyPattern(r"s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1([gpiIm\d]*)(?![ew])")


def reads_sed(call: ProgramCall, _inner: bool) -> bool:
    options = call.options(
        "n,quiet,silent e:,expression: f:,file: i?,in-place? I? E,regexp-extended r l:,line-length: s,separate u z,null-data ,posix ,debug ,sandbox"
    )
    if options.unknown or options.any("in-place", "I", "file", "s") or call.invocation.more_arguments:
        return False
    scripts = options.values("expression") or options.operands[:1]
    return (
        bool(scripts)
        and all(word.known and _sed_reads(word.text) for word in scripts)
        and not any(word.globs and not word.prefix for word in options.operands)
    )


def _sed_reads(script: str) -> bool:
    rest = _SED_SUBSTITUTE.sub("", script)
    rest = re.sub(r"/(?:\\.|[^/\\\n])*/I?", "", rest)
    return re.fullmatch(
        r"[\s\d,;$!{}+~pPdDgGhHnNxlqQ=]*(:\w+|[tTb]\s*\w*|[\s\d,;$!{}+~pPdDgGhHnNxlqQ=])*", rest
    ) is not None and not re.search(r"[we]", rest)
