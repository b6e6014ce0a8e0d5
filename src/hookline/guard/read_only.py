"""Commands that provably only read: nothing is written, sent, started or changed, and no secret is shown.

The proof is by lists of what is known to read (``read_only_table``) and by small readers of the few programs whose
arguments are programs themselves. What is not on a list is not granted, however harmless it looks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from hookline.guard.call import Call, Scene
from hookline.guard.effects import Effect
from hookline.guard.pattern import Pattern, words
from hookline.guard.programs.network import curl_options, wget_options
from hookline.guard.read_only_table import LEAVES, SAME, TREES, VERSIONED
from hookline.guard.reading import Invocation, Reading, Word

#: Start another program, which is an invocation of its own; without one they are not granted.
_WRAPPERS: Final = words(
    "env xargs time nice timeout command builtin stdbuf ionice chrt bash sh zsh dash ksh fish eval"
)
_RISKY_VARIABLES: Final = Pattern(
    r"(PATH|LD_\w+|DYLD_\w+|\w*PAGER|\w*EDITOR|VISUAL|GIT_\w+|BASH_ENV|ENV|IFS|PROMPT_COMMAND|PYTHON\w+|NODE_OPTIONS|PERL5?\w+|RUBY\w+|LESS\w*|BROWSER|SHELLOPTS|PS4|\w+_COMMAND|TAR_OPTIONS|RIPGREP_CONFIG_PATH|KUBECTL_EXTERNAL_DIFF|CURL_HOME|GREP_OPTIONS|SHELL|HOME|FZF_\w+|MANOPT|DOCKER_\w+)$"
)
_HELP: Final = frozenset({"--help", "--version"})
_BUILTINS: Final = words(
    "cd pwd echo printf true false test [ : type hash export local declare typeset unset set shift read wait pushd popd dirs umask times"
)


def only_reads(reading: Reading, scene: Scene, effects: Iterable[Effect]) -> bool:
    """Every program that the command starts only reads, all of it is known, and no effect is worth a look."""
    if reading.doubts or reading.bombs or not reading.invocations:
        return False
    if any(one.harm != "low" or one.kind in {"overwrite", "delete", "move", "unknown"} for one in effects):
        return False
    return programs_read(reading.invocations, scene)


def programs_read(programs: Iterable[Invocation], scene: Scene) -> bool:
    """These programs only read, whatever started them."""
    known = tuple(programs)
    inner = {name for one in known for name in one.wrappers}
    return bool(known) and all(_reads(Call(invocation=one, scene=scene), inner) for one in known)


def _reads(call: Call, inner: set[str]) -> bool:
    one = call.invocation
    if not all(_harmless_redirect(redirect.operator, redirect.target) for redirect in one.redirects):
        return False
    if any(_RISKY_VARIABLES.fullmatch(name) for name, _ in one.environment):
        return False
    if not one.argv:
        return True
    if one.argv[0].sources:  # its name is printed by another program
        return False
    return bool(call.name) and _program_reads(call, inner)


def _harmless_redirect(operator: str, target: Word) -> bool:
    if operator == "<":
        return target.known and not target.prefix.startswith(("/dev/tcp", "/dev/udp"))
    return target.text in {"/dev/null", "/dev/stdout", "/dev/stderr"}


def _program_reads(call: Call, inner: set[str]) -> bool:
    name = SAME.get(call.name, call.name)
    texts = call.texts
    if call.name in VERSIONED and _only_shows(name, texts):
        return True
    if name in _BUILTINS:
        return _builtin(name, call)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(call, call.name in inner)
    if name in _WRAPPERS and call.name in inner:
        return True
    if name in LEAVES:
        return _leaf(call, LEAVES[name])
    return name in TREES and _tree(call, name)


def _only_shows(name: str, texts: tuple[str, ...]) -> bool:
    """``program --version``, and ``program group --help``; as words only where they are sub-commands."""
    if texts[:1] in {("--help",), ("--version",)} and len(texts) == 1:
        return True
    words = name in TREES or name in {"aws", "gcloud", "az", "docker-compose", "podman-compose", "deno", "rtk", "wget"}
    if len(texts) == 1:
        return (texts[0] in {"-V", "-h", "-version", "-help"} and name not in _OPEN) or (
            words and texts[0] in {"-v", "help", "version"}
        )
    plain = not any(text.startswith("-") for text in texts[:-1])
    return words and plain and 1 < len(texts) <= 4 and texts[-1] in {"--help", "-h"} and name != "uv"


#: Programs that do something else with a single short option.
_OPEN: Final = words(
    "bash zsh fish sh python python2 python3 vim nvim nano emacs code make pytest node nodejs deno bun java tar xargs env find awk sed"
)


def _builtin(name: str, call: Call) -> bool:
    if name in {"export", "declare", "typeset", "local", "unset", "read"}:
        return not any(_RISKY_VARIABLES.fullmatch(text.partition("=")[0]) for text in call.texts)
    return name != "hash" or "-p" not in call.texts


def _leaf(call: Call, row: str) -> bool:
    letters, _, names = row.partition("|")
    if not row:
        return True
    if call.invocation.more_arguments:
        return False
    return not any(_forbidden(word, letters, names.split()) for word in call.words)


def _forbidden(word: Word, letters: str, names: list[str]) -> bool:
    """The option, or what may turn out to be one: an unknown word, a pattern that a file called ``-o`` would match."""
    text = word.prefix
    if not text and (not word.known or word.globs):
        return True
    if "#" in letters and not text.startswith("-"):
        return True
    if text.startswith("--"):
        name = text[2:].partition("=")[0]
        return any(one.startswith(name) for one in names) if name else False
    return text.startswith("-") and any(letter in letters for letter in text[1:])


@lru_cache(maxsize=64)
def _paths(name: str) -> frozenset[tuple[str, ...]]:
    """All listed sub-commands, as tuples of words; a group alone stands as one word and an empty one."""
    found: set[tuple[str, ...]] = set()
    for item in TREES[name][1].split():
        group, colon, subs = item.partition(":")
        found.update((group, sub) for sub in subs.split(",")) if colon else found.add((group,))
    return frozenset(found)


def _tree(call: Call, name: str) -> bool:
    takes, _, never = TREES[name]
    if any(not word.known and not word.prefix for word in call.words) or call.invocation.more_arguments:
        return False
    never_words = never.split()
    if any(_matches(text, one) for text in call.texts for one in never_words):
        return False
    path = _command_path(list(call.texts), frozenset(takes.split()), name)
    return path is not None and _listed(path, _paths(name))


def _matches(text: str, option: str) -> bool:
    if option.startswith("--"):
        return text.partition("=")[0] == option or (
            text.startswith("--") and len(text) > 4 and option.startswith(text.partition("=")[0])
        )
    return (
        text == option
        or text.startswith(option + "=")
        or (len(option) == 2 and re.match(rf"-[a-zA-Z]*{option[1]}", text) is not None and not text.startswith("--"))
    )


def _command_path(texts: list[str], takes: frozenset[str], name: str) -> tuple[str, ...] | None:
    """The words before the first unknown option; options before the sub-command must be known to be skipped."""
    path: list[str] = []
    while texts:
        text = texts.pop(0)
        if not text.startswith("-") or any(path_[0] == text for path_ in _paths(name)):
            path.append(text)
        elif text in takes:
            if not texts:
                return None
            texts.pop(0)
        elif not path and "=" not in text and text not in _FLAGS:
            return None
    return tuple(path)


_FLAGS: Final = words(
    "-6 -4 -s -o -d -br -c -p -rc -h -a -t -l -j --brief --human-readable --no-pager -P --bare --debug --verbose -v --no-color --no-input --quiet -q --json --no-optional-locks -currentHost --literal-pathspecs --no-cli-pager -D --tls"
)


def _listed(path: tuple[str, ...], listed: frozenset[tuple[str, ...]]) -> bool:
    if path[:1] in listed:
        return True
    if len(path) == 1:
        return (path[0], "") in listed
    return path[:2] in listed


# ── programs whose arguments need a closer look ──

_READ_SQL: Final = Pattern(r"(?is)\s*(select|show|describe|desc|explain|with|values|table)\b")
_WRITE_SQL: Final = Pattern(
    r"(?i)\b(insert|update|delete|drop|alter|create|truncate|grant|revoke|merge|call|exec|execute|copy|load|attach|detach|vacuum|into|unload|msck|refresh|reindex|lock|replace|handler|set|begin|commit|do|import|export|install|pragma|pg_\w*(file|terminate|cancel|sleep|reload)\w*|lo_\w+|dblink\w*|nextval|setval|sys_exec|xp_\w+|sp_\w+|readfile|writefile|load_extension|edit)\b|\\"
)


def sql_reads(text: str) -> bool:
    """Every statement only reads, by its first word and by the absence of every word that changes something."""
    plain = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    parts = [part for part in plain.split(";") if part.strip()]
    return bool(parts) and all(
        _READ_SQL.match(part) and not _WRITE_SQL.search(re.sub(r"'[^']*'", "''", part)) for part in parts
    )


def _sql(call: Call, _inner: bool) -> bool:
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


def _lite(call: Call, inner: bool) -> bool:
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


_AWK_STRINGS = Pattern(r'"(?:\\.|[^"\\])*"')


def _awk(call: Call, _inner: bool) -> bool:
    options = call.options(
        "F:,field-separator: v:,assign: f:,file: i:,include: l: E:,exec: e:,source: W: o? p? d? D? L? n N r s S t V M b c C g O P",
        until_operand=True,
    )
    if options.unknown or options.any("file", "include", "l", "exec", "o", "p", "d", "D", "W"):
        return options.any("W") and call.texts == ("-W", "version")
    programs = [*options.values("source"), *(options.operands[:1] if "source" not in options else ())]
    return bool(programs) and all(word.known and _awk_reads(word.text) for word in programs)


_INNERMOST = Pattern(r"\([^()]*\)")


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


_SED_SUBSTITUTE = Pattern(r"s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1([gpiIm\d]*)(?![ew])")


def _sed(call: Call, _inner: bool) -> bool:
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


_CURL_NEVER: Final = words(
    "remote-name remote-name-all remote-header-name data data-binary data-raw data-urlencode json form form-string upload-file config dump-header cookie-jar trace trace-ascii stderr libcurl etag-save hsts alt-svc output-dir create-dirs mail-from mail-rcpt unix-socket append netrc-file key cert"
)


def _curl(call: Call, _inner: bool) -> bool:
    options = curl_options(call)
    if options.any(*_CURL_NEVER) or not all(word.known for word in call.words) or call.invocation.more_arguments:
        return False
    if any(
        not re.match(
            r"--(tls|http|ssl|proxy|fail|no-|ip|path-as-is|raw|styled|tcp|ca-|crlf|anyauth|disable|ftp-|post30|sasl|suppress|xattr_|junk|metalink_|cert-status|false-start|haproxy|krb|location|negotiate|ntlm)",
            text,
        )
        for text in options.unknown
    ):
        return False
    method = options.last("request")
    output = options.last("output")
    quotes = options.values("quote")
    return (
        bool(options.operands or options.values("url") or options.informs)
        and (method is None or method.text in {"GET", "HEAD", "OPTIONS"})
        and (output is None or output.text in {"/dev/null", "-"})
        and not any("%output" in word.text or word.prefix.startswith("@") for word in options.values("write-out"))
        and all(
            re.match(r"(?i)(noop|help|type|cdup|pwd|syst|stat|feat|cwd|list|nlst|size|mdtm)\b", word.text)
            for word in quotes
        )
        and not any(
            re.match(r"(?i)(file|scp|sftp|smb|ldap|dict|gopher|telnet):", word.text) for word in options.operands
        )
    )


def _wget(call: Call, _inner: bool) -> bool:
    options = wget_options(call)
    return (
        "spider" in options
        and not options.any(
            "recursive",
            "mirror",
            "post-data",
            "post-file",
            "body-data",
            "body-file",
            "method",
            "output-file",
            "a",
            "execute",
            "save-cookies",
            "background",
            "input-file",
        )
        and all(word.known for word in call.words)
    )


def _find(call: Call, inner: bool) -> bool:
    texts = call.texts
    if set(texts) & {"-delete", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"} or not all(
        word.known or word.prefix for word in call.words
    ):
        return False
    return not call.invocation.more_arguments and (inner or not set(texts) & {"-exec", "-execdir"})


def _fd(call: Call, inner: bool) -> bool:
    runs = any(re.match(r"-\w*[xX]|--exec", text) for text in call.texts)
    return not runs or (inner and not any(re.match(r"-\w*X|--exec-batch", text) for text in call.texts))


def _xargs(call: Call, inner: bool) -> bool:
    options = call.options(
        "0,null a:,arg-file: d:,delimiter: E: e? I: i?,replace? L:,max-lines? l? n:,max-args: P:,max-procs: p,interactive o,open-tty r,no-run-if-empty R: J: S: s:,max-chars: t,verbose x,exit ,process-slot-var: ,show-limits",
        until_operand=True,
    )
    return inner and not options.any("interactive", "open-tty") and bool(options.operands)


def _tar(call: Call, _inner: bool) -> bool:
    first = call.texts[0] if call.texts else ""
    letters = first.lstrip("-") if not first.startswith("--") else ""
    rest = " ".join(call.texts[1:])
    lists = "t" in letters or first == "--list"
    return (
        lists
        and not set(letters) & set("cxruAdFI")
        and re.search(
            r"(^|\s)(-\w*[cxruAdFIC]|--(?!list|file|verbose|gzip|bzip2|xz|zstd|exclude|wildcards|null)\S)", rest
        )
        is None
        and call.words[0].known
    )


def _packed(call: Call, _inner: bool) -> bool:
    """gzip and its like: to standard output, listing or testing."""
    texts = call.texts
    return any(re.fullmatch(r"-\w*[clt]\w*|--(stdout|to-stdout|list|test)", text) for text in texts) and not any(
        re.fullmatch(r"-\w*[rfS]\w*|--(recursive|force|suffix.*)", text) for text in texts
    )


def _unzip(call: Call, _inner: bool) -> bool:
    return (
        bool(call.texts)
        and re.fullmatch(r"-[qlvtZz1]*[lvtZz][qlvtZz1]*|-h+", call.texts[0]) is not None
        and not any(re.fullmatch(r"-\w*[oxdTjc]\w*", text) for text in call.texts)
    )


def _verbs(pattern: str, changes: str, takes: str) -> Callable[[Call, bool], bool]:
    """Clouds: groups of words, then a verb, then names. The first verb decides."""
    reads, writes, options = Pattern(pattern), Pattern(changes), frozenset(takes.split())

    def judge(call: Call, _inner: bool) -> bool:
        if any(not word.known and not word.prefix for word in call.words) or call.invocation.more_arguments:
            return False
        texts = list(call.texts)
        path: list[str] = []
        while texts and (not texts[0].startswith("-") or not path):
            text = texts.pop(0)
            if text in options and texts:
                texts.pop(0)
            elif not text.startswith("-"):
                path.append(text)
        for position, text in enumerate(path):
            if writes.fullmatch(text):
                return False
            if reads.fullmatch(text) and (position or len(path) == 1):
                return len(path) - position <= 3
        return False

    return judge


_CHANGES = r"(create|delete|update|set|add|remove|start|stop|restart|run|deploy|import|upload|download|purge|reset|revoke|grant|invoke|login|logout|enable|disable|attach|detach|apply|destroy|generate|regenerate|move|copy|sync|cp|mv|rm|write|publish|pull|push|submit|cancel|clear|upgrade|scale|activate|undelete|ssh|exec|build|init|configure|up|get-credentials|register|unregister|deallocate|suspend|resume|failover|promote|demote|rollback|restore|recover|migrate|export|clone|patch|replace|rename|rotate|renew|link|unlink|lock|unlock|trigger|abandon|resize|redeploy|reimage|swap|approve|reject|send|call|execute|destroy-\S+|access|connect|tunnel|serve|mount|snapshot|test|set-\S+|add-\S+|remove-\S+|create-\S+|delete-\S+|update-\S+|upload-\S+|generate-\S+|run-\S+|start-\S+|stop-\S+|reset-\S+|config-zip)"
_az = _verbs(
    r"(list|show|exists|query|url|logs|tail|get|version|list-\S+|show-\S+|get-(?!access-token|credentials)\S+|check-\S+)",
    _CHANGES,
    "-o --output --subscription -g --resource-group --query -p --project --organization --org",
)
_gcloud = _verbs(
    r"(list|describe|get|read|version|info|list-\S+|get-(iam-policy|server-config|ancestors\S*|value|effective\S*|config|health|status)|describe-\S+|search-\S+|lookup)",
    _CHANGES,
    "--project --format --account --configuration --verbosity --region --zone",
)
_AWS_READS: Final = Pattern(
    r"(describe|list|get|head|lookup|filter|batch-get|admin-list|admin-get|test|search|estimate|validate|simulate|preview|detect)-\S+|scan|query|ls|tail|help|download-db-log-file-portion"
)
_AWS_NOT: Final = Pattern(
    r"get-(token|object|object-torrent|package-version-asset|temporary-\S+|configuration|latest-configuration|thing-shadow|secret-value|random-password|session-token|federation-token|login-password|authorization-token|export|sdk|job-output|password-data|credentials\S*|id|open-id\S*|role-credentials|cluster-credentials\S*|media\S*|snapshot-block|download-url\S*|tape\S*)|get-\S*-(token|password|credentials)|test-(invoke\S*|role)|validate-and-\S+"
)
_AWS_TAKES: Final = words(
    "--profile --region --output --endpoint-url --query --cli-read-timeout --cli-connect-timeout --ca-bundle --color --cli-binary-format"
)
_AWS_FLAGS: Final = words("--no-cli-pager --no-paginate --debug --no-verify-ssl --no-sign-request --cli-auto-prompt_")


def _aws(call: Call, _inner: bool) -> bool:
    if any(not word.known and not word.prefix for word in call.words) or call.invocation.more_arguments:
        return False
    texts = list(call.texts)
    while texts and texts[0].startswith("-"):
        option = texts.pop(0)
        if option in _AWS_TAKES and texts:
            texts.pop(0)
        elif option not in _AWS_FLAGS and "=" not in option:
            return False
    if len(texts) < 2:
        return False
    service, operation = texts[:2]
    if texts[-1] == "help" or texts[-1] == "--help":
        return len(texts) <= 3
    if service == "configure":
        return operation in {"list", "list-profiles"}
    if service == "athena" and operation == "start-query-execution" and "--query-string" in texts[:-1]:
        return sql_reads(texts[texts.index("--query-string") + 1])
    return (
        _AWS_READS.fullmatch(operation) is not None
        and _AWS_NOT.fullmatch(operation) is None
        and "--with-decryption" not in texts
        and service != "s3"
    ) or texts[:2] == ["s3", "ls"]


def _gh_api(call: Call, _inner: bool) -> bool:
    if not call.texts or call.texts[0] != "api" or not all(word.known for word in call.words):
        return _tree(call, "gh")
    options = call.options(
        "X:,method: f:,raw-field: F:,field: H:,header: q:,jq: t:,template: i,include p:,preview: ,input: ,paginate ,cache: ,hostname: ,silent ,slurp ,verbose"
    )
    method = options.last("method")
    if options.unknown or "input" in options:
        return False
    if len(options.operands) > 1 and options.operands[1].text == "graphql":
        queries = [
            word.text.partition("=")[2].strip()
            for word in options.values("raw-field", "field")
            if word.text.startswith("query=")
        ]
        return (
            len(queries) == 1
            and re.match(r"(query\b|\{)", queries[0]) is not None
            and "mutation" not in queries[0]
            and method is None
        )
    return (method is not None and method.text.upper() in {"GET", "HEAD"}) or (
        method is None and not options.any("raw-field", "field")
    )


def _exec(call: Call, inner: bool) -> bool:
    """docker and kubectl: ``exec`` is as good as what it runs."""
    name = SAME.get(call.name, call.name)
    words = [text for text in call.texts if not text.startswith("-")]
    if words[:1] == ["exec"] or (len(words) > 2 and words[2:3] == ["exec"]):
        return inner and not call.invocation.more_arguments
    return _tree(call, name)


def _docker_compose(call: Call, _inner: bool) -> bool:
    return _command_path(
        list(call.texts),
        words("-f --file -p --project-name --profile --env-file --project-directory"),
        "docker",
    ) in {("ps",), ("logs",), ("config",), ("images",), ("version",), ("top",), ("ls",)} and not set(call.texts) & {
        "-o",
        "--output",
    }


def _helm(call: Call, _inner: bool) -> bool:
    if any(re.fullmatch(r"--dry-run(=client|=server)?", text) for text in call.texts):
        return (
            all(word.known for word in call.words)
            and any(text in {"install", "upgrade", "uninstall", "rollback"} for text in call.texts[:2])
            and "--post-renderer" not in call.texts
        )
    return _tree(call, "helm")


def _git(call: Call, _inner: bool) -> bool:
    """Branches, tags and settings are listed or changed by the same sub-commands."""
    options = call.options(
        "C: c: ,git-dir: ,work-tree: ,namespace: ,no-pager ,bare p P ,no-optional-locks ,literal-pathspecs",
        until_operand=True,
    )
    if options.unknown:
        return False
    if not options.operands or options.informs:
        return options.informs and not options.values("c")
    if (
        any(
            not re.match(
                r"(color|core\.(quotepath|abbrev|editor|pager=cat)|log|diff\.(noprefix|renames|algorithm)|user)\b",
                word.text,
            )
            for word in options.values("c")
        )
        or call.invocation.more_arguments
    ):
        return False
    name, rest = options.operands[0].text, [word.text for word in options.operands[1:]]
    if any(not word.known and not word.prefix for word in options.operands):
        return False
    if any("::" in text for text in rest):  # a transport that is a program
        return False
    if rest in (["--help"], ["-h"]):
        return True
    flags = [text for text in rest if text.startswith("-")]
    names = [text for text in rest if not text.startswith("-")]
    match name:
        case "branch":
            return all(
                re.fullmatch(
                    r"-[avrl]+|-vv|--(list|all|remotes|verbose|contains|no-contains|merged|no-merged|show-current|sort=\S+|format=.*|points-at|column\S*|color\S*|ignore-case)(=.*)?",
                    one,
                )
                for one in flags
            ) and (
                not names
                or bool(
                    {"-l", "--list", "--contains", "--merged", "--no-merged", "--no-contains", "--points-at"}
                    & set(flags)
                )
            )
        case "tag":
            return all(
                re.fullmatch(
                    r"-l|-n\d*|--(list|contains|no-contains|merged|no-merged|sort=\S+|format=.*|points-at|column\S*|verify)(=.*)?|-v|-i",
                    one,
                )
                for one in flags
            ) and (not names or bool({"-l", "--list", "--contains", "--merged", "--points-at"} & set(flags)))
        case "config":
            return (
                bool(
                    {"--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch", "--show-origin"}
                    & set(flags)
                )
                and not {"--add", "--unset", "--edit", "-e", "--replace-all", "--unset-all"} & set(flags)
                and len(names) <= 1
            )
        case "remote":
            return all(one in {"-v", "--verbose"} for one in flags) and (not names or names[0] in {"get-url", "show"})
        case "symbolic-ref":
            return len(names) == 1 and not {"-d", "--delete", "-m"} & set(flags)
        case "archive":
            return (
                not any(one.startswith(("-o", "--output", "--remote", "--exec")) for one in flags)
                and not call.invocation.redirects
            )
        case (
            "diff"
            | "log"
            | "show"
            | "whatchanged"
            | "stash"
            | "shortlog"
            | "diff-tree"
            | "diff-index"
            | "diff-files"
            | "range-diff"
            | "blame"
        ):
            bad = {"--ext-diff", "--textconv"}
            return (
                not bad & set(flags)
                and not any(one.startswith("--ou") for one in flags)
                and (name != "stash" or names[:1] in (["list"], ["show"]))
            )
        case "grep":
            return not any(re.match(r"-\w*O|--open-files", one) for one in flags)
        case "cat-file":
            return not {"--textconv", "--filters"} & set(flags)
        case "replace":
            return bool({"-l", "--list"} & set(flags))
        case "rev-parse" | "ls-remote":
            return not any(one.startswith(("--upload-pack", "--exec", "--parseopt")) for one in flags)
        case _:
            return _tree(call, "git")


def _fzf(call: Call, _inner: bool) -> bool:
    text = " ".join(call.texts)
    return not re.search(
        r"--listen|execute|become|reload|transform|--history|--preview|--bind|preview\(", text
    ) or bool(re.search(r"--query=\w+$", text))


def _pairs(allowed: str) -> Callable[[Call, bool], bool]:
    """Programs that read only with certain first options."""
    pattern = Pattern(allowed)

    def judge(call: Call, _inner: bool) -> bool:
        return (
            bool(call.texts)
            and all(word.known for word in call.words)
            and pattern.fullmatch(" ".join(call.texts)) is not None
        )

    return judge


def _interpreter(call: Call, inner: bool) -> bool:
    """A shell that runs a known line; other interpreters run what is not proved."""
    risky = any(text.startswith(("--rcfile", "--init", "-C")) for text in call.texts)
    return inner and not risky and any(re.fullmatch(r"-\w*c\w*", text) for text in call.texts)


def _env(call: Call, inner: bool) -> bool:
    names = [text.partition("=")[0] for text in call.texts if "=" in text and not text.startswith("-")]
    if any(_RISKY_VARIABLES.fullmatch(name) for name in names):
        return False
    return inner or not [text for text in call.texts if not text.startswith("-") and "=" not in text]


def _operands(call: Call, specification: str) -> list[str]:
    options = call.options(specification)
    return [*(word.text for word in options.operands), *options.unknown]


def _checks(flag: str) -> Callable[[Call, bool], bool]:
    def judge(call: Call, _inner: bool) -> bool:
        return bool(set(flag.split()) & set(call.texts)) and not set(call.texts) & {
            "--fix",
            "--in-place",
            "-i",
            "--write",
            "--output",
            "-o",
        }

    return judge


_SPECIAL: Final[Mapping[str, Callable[[Call, bool], bool]]] = MappingProxyType({
    **dict.fromkeys(("psql", "mysql", "mariadb"), _sql), "sqlite3": _lite, "duckdb": _lite, **dict.fromkeys(words("awk gawk mawk nawk"), _awk), "sed": _sed, "gsed": _sed,
    "curl": _curl, "wget": _wget, "find": _find, "gfind": _find, "fd": _fd, "xargs": _xargs, "tar": _tar, **dict.fromkeys(words("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd"), _packed), "unzip": _unzip,
    "az": _az, "gcloud": _gcloud, "aws": _aws, "gh": _gh_api, "docker": _exec, "kubectl": _exec, **dict.fromkeys(("docker-compose", "podman-compose"), _docker_compose), "helm": _helm, "git": _git, "fzf": _fzf, "env": _env,
    **dict.fromkeys(words("bash sh zsh dash ksh fish"), _interpreter),
    "ifconfig": _pairs(r"-[alsv]*|\w+|-[alsv]+ \w+"), "openssl": _pairs(r"version( -\w+)?|list( -\S+)*|ciphers.*|x509 (?=.*-noout)(?!.*-(out|signkey|req|CA|set_serial|days|clrext|addtrust)\b).*|s_client (?!.*-(keylogfile|sess_out|msgfile|early_data|proxy_pass)).*"),
    "isort": _checks("--check-only --check -c --diff"), "black": _checks("--check --diff"), "prettier": _checks("--check -c --list-different -l"), "xxd": lambda call, _inner: len(_operands(call, "a b C c: e E g: i l: n: o: p s: u")) <= 1, "mktemp": _pairs(r"(-u|--dry-run)( \S+)*"),
    "networksetup": _pairs(r"-(list|get|show|is|version|help|printcommands)\S*( \S+)*"), "scutil": _pairs(r"--get \w+|--dns|--proxy|-r( -W)? \S+|-w \S+( -t \d+)?|--nwi"), "sips": _pairs(r"(-g|--getProperty) \w+ [^-]\S*|--verify \S+"), "xattr": _pairs(r"[^-]\S*|-[plxvrs]+( \S+)+"),
    "codesign": _pairs(r"(-dv*|--display|-v+|--verify|--validate-constraint)( (-v+|--verbose(=\d)?|--deep|--strict|-r-|--entitlements -))*( [^-]\S*)+"), "spctl": _pairs(r"(--assess|-a)( -\S+)*( [^-]\S*)*|--status|--disable-status"), "pkgutil": _pairs(r"--(pkgs(-plist)?|packages|pkg-info(-plist)?|pkg-groups|groups(-plist)?|file-info(-plist)?|files|volumes|check-signature|export-plist|lsbom|only-files)(=?\S*)( \S+)*"),
    "lipo": _pairs(r"(-info|-detailed_info|-archs) \S+|\S+ (-info|-archs|-detailed_info|-verify_arch \S+( \S+)*)"), "plutil": _pairs(r"(-lint |-p )?[^-]\S*"), "textutil": _pairs(r"-info( \S+)+|-(convert|cat) \w+ -stdout( [^-]\S*)+"),
    "mdimport": _pairs(r"-[LAX]|-t -d\d \S+"), "script": lambda call, inner: inner and ("/dev/null" in call.texts), "yq": lambda call, _inner: not any(re.match(r"-\w*i|--inplace|--in-place|-s|--split|-\w*f|--from-file", text) for text in call.texts) and "env(" not in " ".join(call.texts),
    "ansible-playbook": lambda call, _inner: bool(set(call.texts) & {"--syntax-check", "--list-tasks", "--list-hosts", "--list-tags"}), "ansible": _pairs(r"\S+ --list-hosts"), "ansible-vault": _pairs(r"-h"), "ansible-console": _pairs(r"(\S+ )?--list-hosts"),
    "security": lambda call, _inner: _tree(call, "security"), "node": _pairs(r"--version|-v"), "python": _pairs(r"--version|-V"), "python3": _pairs(r"--version|-V"), "command": lambda call, inner: inner or call.texts[:1] in {("-v",), ("-V",)}, "say": lambda _call, _inner: False,
    "auth0": lambda call, _inner: _auth0(call), "rtk": lambda call, _inner: call.texts == ("gain",), "sqlcmd": _pairs(r"-\?|config (get-contexts|view|current-context).*"), "fmt_": _env, "date": lambda call, _inner: not any(re.match(r"-\w*s|--set|[^-+]", text) for text in _operands(call, "d:,date: r:,reference: f:,file: j v: I? R u z: n")),
    **dict.fromkeys(words("dig nslookup host ping ping6 whois traceroute tracepath"), lambda call, _inner: all(word.known for word in call.words) and not call.invocation.more_arguments), "nice": lambda _call, inner: inner, "timeout": lambda _call, inner: inner, "time": lambda call, inner: inner and not any(re.match(r"-\w*o|--output|-a", text) for text in call.texts[:2]), "stdbuf": lambda _call, inner: inner, "builtin": lambda _call, inner: inner,
    "caffeinate": lambda call, inner: inner or all(re.fullmatch(r"-[disu]+|-[tw]|\d+", text) for text in call.texts), "arch": lambda call, inner: inner or not call.texts,
    "terraform": lambda call, _inner: call.texts == ("fmt", "-check") or _tree(call, "terraform"), "packer": lambda call, _inner: (call.texts[:2] == ("fmt", "-check")) or _tree(call, "packer"),
})  # fmt: skip


def _auth0(call: Call) -> bool:
    words = [text for text in call.texts if not text.startswith("-")]
    if words[:1] == ["api"]:
        return words[1:2] == ["get"] and not set(call.texts) & {"-d", "--data"}
    if (
        words[:1] in (["protection"], ["ap"], ["email"], ["ul"], ["universal-login"], ["roles"], ["orgs"], ["apis"])
        and len(words) > 2
    ):
        return any(word in {"show", "list", "ls"} for word in words[2:4]) and not set(words) & {
            "update",
            "add",
            "remove",
            "delete",
            "rm",
            "create",
        }
    return _tree(call, "auth0")
