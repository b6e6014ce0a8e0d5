"""SQL, awk and sed that only read, by the absence of every word that could do more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import ProgramCall
from hookline.guard.pattern import lazy_pattern, words

#: Letters of a text that is proved to read; longer ones would take too long.
_LONGEST: Final = 3_000
_READ_SQL: Final = lazy_pattern(r"(?is)\s*(select|show|describe|desc|explain|with|values|table)\b")
_WRITE_SQL: Final = lazy_pattern(
    r"(?i)\b(insert|update|delete|drop|alter|create|truncate|grant|revoke|merge|call|exec|execute|copy|load|attach|detach|vacuum|into|unload|msck|refresh|reindex|lock|replace|handler|set|begin|commit|do|import|export|install|pragma|pg_\w*(file|terminate|cancel|sleep|reload)\w*|lo_\w+|dblink\w*|nextval|setval|sys_exec|xp_\w+|sp_\w+|readfile|writefile|load_extension|edit)\b"
)
#: Comments, escapes and other quotes, which each database reads in its own way.
_UNCLEAR_SQL: Final = lazy_pattern(r"--|/\*|\$\w*\$|\\|\[[^\]]*['\"]")
_SQL_QUOTES: Final = lazy_pattern(r"""'[^']*'|"[^"]*"|`[^`]*`""")
_SQL_CALLS: Final = lazy_pattern(r"([\w.]+)\s*\(")
_SQL_PURE: Final = words(
    "select from where and or not in on as by join using values exists any all some between like over when then else with union case filter distinct limit having count sum avg min max coalesce nullif lower upper length substr substring trim ltrim rtrim round abs floor ceil cast date datetime time strftime now extract date_trunc to_char concat group_concat string_agg array_agg json_agg row_number rank dense_rank lag lead json_extract ifnull greatest least position left right year month day version current_database current_user database user typeof total hex instr printf pg_size_pretty pg_total_relation_size pg_relation_size pg_database_size unnest generate_series age varchar char decimal numeric"
)


def sql_reads(text: str) -> bool:
    """Every statement only reads, by its first word and by the absence of every word that changes something."""
    if len(text) > _LONGEST or _UNCLEAR_SQL.search(text):
        return False
    parts = [part for part in _SQL_QUOTES.sub("''", text).split(";") if part.strip()]
    return bool(parts) and all(
        _READ_SQL.match(part)
        and not _WRITE_SQL.search(part)
        and all(one[1].lower() in _SQL_PURE for one in _SQL_CALLS.finditer(part))
        for part in parts
    )


def _stands_here(call: ProgramCall) -> bool:
    """All that it is told stands in its words."""
    one = call.invocation
    return not (one.redirects or one.stdin is not None or one.upstream) and all(word.known for word in call.words)


def reads_sql(call: ProgramCall, _inner: bool) -> bool:
    options = call.options(_SQL_OPTIONS[call.name])
    more = options.unknown or options.any("file", "init", "output", "cmd", "tee", "init-command", "log-file")
    code = [word.text for word in options.values("command", "execute")]
    return bool(code) and not more and _stands_here(call) and all(sql_reads(text) for text in code)


_SQL_OPTIONS: Final[Mapping[str, str]] = MappingProxyType({
    "psql": "c:,command: f:,file: o:,output: L:,log-file: h:,host: p:,port: U:,username: d:,dbname: t,tuples-only A,no-align x,expanded q,quiet w,no-password W,password X,no-psqlrc v:,set: P:,pset: F:,field-separator: R: H,html e b E n s S l,list 1 z 0 a ,csv",
    "mysql": "e:,execute: h:,host: u:,user: p?,password? P:,port: D:,database: S:,socket: B,batch N,skip-column-names t,table H,html X,xml s,silent r,raw v,verbose E,vertical ,init-command: ,tee: ,protocol: ,default-character-set: C f n q",
    "mariadb": "e:,execute: h:,host: u:,user: p?,password? P:,port: D:,database: S:,socket: B,batch N t H X s r v E",
})  # fmt: skip


def reads_lite(call: ProgramCall, inner: bool) -> bool:
    """sqlite3 and duckdb: options with one dash, then the file, then statements."""
    texts = list(call.texts)
    if not _stands_here(call):
        return False
    values = {"-lookaside": 2} | dict.fromkeys(words("-separator -nullvalue -newline -c -s -vfs -mmap -maxsize"), 1)
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


#: Strings, comments, and regular expressions where no division can stand; one pass, so that none begins in another.
_AWK_QUOTED = lazy_pattern(r'"(?:\\.|[^"\\])*"|#[^\n]*|(?:^|(?<=[(,{};!~&|=?:\n]))[ \t]*/(?:\\.|[^/\\\n])+/')


def reads_awk(call: ProgramCall, _inner: bool) -> bool:
    options = call.options(
        "F:,field-separator: v:,assign: f:,file: i:,include: l: E:,exec: e:,source: W: o? p? d? D? L? n N r s S t V M b c C g O P",
        until_operand=True,
    )
    if options.unknown or options.any("file", "include", "l", "exec", "o", "p", "d", "D", "W"):
        return options.any("W") and call.texts == ("-W", "version")
    programs = [*options.values("source"), *(options.operands[:1] if "source" not in options else ())]
    return bool(programs) and all(word.known and _awk_reads(word.text) for word in programs)


_INNERMOST = lazy_pattern(r"\([^()]*\)")


def _awk_reads(program: str) -> bool:
    if len(program) > _LONGEST:
        return False
    plain = _AWK_QUOTED.sub(lambda found: "@" if found[0] == '"/dev/null"' else '""', program)
    if re.search(r"\b(system|getline|close|fflush)\b|(?<!\|)\|(?!\|)|@\s*\w", plain):
        return False
    while _INNERMOST.search(plain):
        plain = _INNERMOST.sub("", plain)
    if any(re.search(r">(?!\s*@)", statement) for statement in re.findall(r"\bprintf?\b[^;}\n]*", plain)):
        return False
    return ">>" not in plain


_SED_SUBSTITUTE = lazy_pattern(r"s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1([gpiIm\d]*)(?![ew])")


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
