"""Programs that read or change by their arguments: when each of them only reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import ProgramCall
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.programs.network import curl_options
from hookline.guard.read_only_code import reads_awk, reads_lite, reads_sed, reads_sql, sql_reads
from hookline.guard.read_only_lists import gives_option, is_listed, listing, matches
from hookline.guard.sensitive import RISKY_VARIABLES

_CURL_NEVER: Final = words(
    "remote-name remote-name-all remote-header-name data data-binary data-raw data-urlencode json form form-string upload-file config dump-header cookie-jar trace trace-ascii stderr libcurl etag-save hsts alt-svc output-dir create-dirs mail-from mail-rcpt unix-socket append netrc-file key cert engine"
)


def _curl(call: ProgramCall, _inner: bool) -> bool:
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
        and not any("@" in word.text for word in options.values("url-query"))
        and not any(word.prefix.startswith("@") for word in options.values("header"))
        and not any("%output" in word.text or word.prefix.startswith("@") for word in options.values("write-out"))
        and all(
            re.match(r"(?i)(noop|help|type|cdup|pwd|syst|stat|feat|cwd|list|nlst|size|mdtm)\b", word.text)
            for word in quotes
        )
        and not any(
            re.match(r"(?i)(file|scp|sftp|smb|ldap|dict|gopher|telnet):", word.text) for word in options.operands
        )
    )


def _find(call: ProgramCall, inner: bool) -> bool:
    texts = call.texts
    if set(texts) & {"-delete", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"} or not all(
        word.known or word.prefix for word in call.words
    ):
        return False
    return not call.invocation.more_arguments and (inner or not set(texts) & {"-exec", "-execdir"})


def _fd(call: ProgramCall, inner: bool) -> bool:
    runs = [text for text in call.texts if re.match(r"-\w*[xX]|--exec", text)]
    return not runs or (inner and len(runs) == 1 and not re.match(r"-\w*X|--exec-batch", runs[0]))


def _xargs(call: ProgramCall, inner: bool) -> bool:
    options = call.options(
        "0,null a:,arg-file: d:,delimiter: E: e? I: i?,replace? L:,max-lines? l? n:,max-args: P:,max-procs: p,interactive o,open-tty r,no-run-if-empty R: J: S: s:,max-chars: t,verbose x,exit ,process-slot-var: ,show-limits",
        until_operand=True,
    )
    return inner and not options.any("interactive", "open-tty") and bool(options.operands)


def _verbs(pattern: str, changes: str, takes: str) -> Callable[[ProgramCall, bool], bool]:
    """Clouds: groups of words, then a verb, then names. The first verb decides."""
    reads, writes, options = lazy_pattern(pattern), lazy_pattern(changes), frozenset(takes.split())

    def judge(call: ProgramCall, _inner: bool) -> bool:
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
        path = path[1:] if path[:1] in (["beta"], ["alpha"]) else path
        if any(_CREDENTIALS.fullmatch(text) for text in path[1:-1]):
            return False
        for position, text in enumerate(path):
            if position and writes.fullmatch(text):
                return False
            if reads.fullmatch(text) and (position or len(path) == 1):
                return len(path) - position <= 3
        return False

    return judge


#: Groups that print a credential where they show something.
_CREDENTIALS = lazy_pattern(r"(admin-|query-)?keys?|credential|connection-string|secret")
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
_AWS_READS: Final = lazy_pattern(
    r"(describe|list|get|head|lookup|filter|batch-get|admin-list|admin-get|test|search|estimate|validate|simulate|preview|detect)-\S+|scan|query|ls|tail|help|download-db-log-file-portion"
)
_AWS_NOT: Final = lazy_pattern(
    r"get-(token|object|object-torrent|package-version-asset|temporary-\S+|configuration|latest-configuration|thing-shadow|secret-value|random-password|session-token|federation-token|login-password|authorization-token|export|sdk|job-output|password-data|credentials\S*|id|open-id\S*|role-credentials|cluster-credentials\S*|media\S*|snapshot-block|raw-message-content|\S*-access(-details)?|download-url\S*|tape\S*)|get-\S*-(token|password|credentials)|test-(invoke\S*|role)|validate-and-\S+"
)
_AWS_TAKES: Final = words(
    "--profile --region --output --endpoint-url --query --cli-read-timeout --cli-connect-timeout --ca-bundle --color --cli-binary-format"
)
_AWS_FLAGS: Final = words("--no-cli-pager --no-paginate --debug --no-verify-ssl --no-sign-request --cli-auto-prompt_")


def _aws(call: ProgramCall, _inner: bool) -> bool:
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


def _gh_api(call: ProgramCall, _inner: bool) -> bool:
    if not call.texts or call.texts[0] != "api" or not all(word.known for word in call.words):
        return is_listed(call, "gh", inner=False)
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


def _exec(call: ProgramCall, inner: bool) -> bool:
    """docker and kubectl: ``exec`` is as good as what it runs."""
    words = [text for text in call.texts if not text.startswith("-")]
    if words[:1] == ["exec"] or (len(words) > 2 and words[2:3] == ["exec"]):
        return inner and not call.invocation.more_arguments
    return is_listed(call, call.name, inner=False)


#: Options that write a file or start a program, and sub-commands that only read without them.
_GIT_RUNS: Final = words(
    "--output --open-files-in-pager --ext-diff --textconv --upload-pack --exec --filters --parseopt"
)
_GIT_SHOWS: Final = words(
    "diff log show whatchanged shortlog diff-tree diff-index diff-files range-diff blame cat-file rev-parse ls-remote"
)
_GIT_SETTINGS: Final = lazy_pattern(
    r"(color\.|core\.(quotepath|abbrev)=|core\.(editor=vim|pager=cat)$|log\.|diff\.(noprefix|renames|algorithm)=|user\.)"
)


def _git(call: ProgramCall, _inner: bool) -> bool:
    """Branches, tags and settings are listed or changed by the same sub-commands."""
    options = call.options(
        "C: c: ,git-dir: ,work-tree: ,namespace: ,no-pager ,bare p P ,no-optional-locks ,literal-pathspecs",
        until_operand=True,
    )
    settings, elsewhere = options.values("c"), options.values("C", "git-dir", "work-tree")
    if options.unknown or call.invocation.more_arguments or not all(_GIT_SETTINGS.match(one.text) for one in settings):
        return False
    if not options.operands or options.informs:
        return options.informs and not settings
    if any(call.place(word).name == "temp" for word in elsewhere):  # its settings may be anybody's
        return False
    if any(not word.known and not word.prefix for word in options.operands):
        return False
    name, rest = options.operands[0].text, tuple(word.text for word in options.operands[1:])
    if any("::" in text for text in rest):  # a transport that is a program
        return False
    if rest in {("--help",), ("-h",)}:
        return True
    if any(gives_option(text, one) for text in rest if text.startswith("-") for one in _GIT_RUNS):
        return False
    found = listing(f"git: {name}")
    if found is not None and found.line is not None:
        return matches(found.line, rest)
    match name:
        case "archive":
            writes = any(one.startswith(("-o", "--output", "--remote", "--exec")) for one in rest)
            return not writes and not call.invocation.redirects
        case "grep":
            return not any(re.match(r"-\w*O", one) for one in rest)
        case _:
            return name in _GIT_SHOWS or is_listed(call, "git", inner=False)


def _given(call: ProgramCall) -> bool:
    """Something that is not empty comes by its standard input."""
    one = call.invocation
    known = one.stdin is not None and one.stdin.known and not one.stdin.text.strip()
    sources = [redirect for redirect in one.redirects if redirect.operator == "<"]
    return not known and (
        bool(one.upstream) or one.stdin is not None or any(r.target.text != "/dev/null" for r in sources)
    )


def _interpreter(call: ProgramCall, inner: bool) -> bool:
    """A shell that runs a known line; other interpreters run what is not proved."""
    risky = any(text.startswith(("--rcfile", "--init", "-C")) for text in call.texts)
    return inner and not risky and any(re.fullmatch(r"-[a-hj-z]*c[a-hj-z]*", text) for text in call.texts)


def _env(call: ProgramCall, inner: bool) -> bool:
    names = [text.partition("=")[0] for text in call.texts if "=" in text and not text.startswith("-")]
    if any(RISKY_VARIABLES.fullmatch(name) for name in names):
        return False
    return inner or not [text for text in call.texts if not text.startswith("-") and "=" not in text]


def _openssl(call: ProgramCall, _inner: bool) -> bool:
    """It sends what it is given, so nothing may be."""
    sends = "s_client" in call.texts and _given(call)
    return not sends and all(word.known for word in call.words) and matches(_OPENSSL, call.texts)


_OPENSSL: Final = re.compile(
    r"version( -\w+)?|list( -\S+)*|ciphers.*|x509 (?=.*-noout)(?!.*-(out|signkey|req|CA|set_serial|days|clrext|addtrust)\b).*|s_client (?!.*-(keylogfile|sess_out|msgfile|early_data|proxy_pass)).*"
)


def _script(call: ProgramCall, inner: bool) -> bool:
    return inner and "/dev/null" in call.texts


def _time(call: ProgramCall, inner: bool) -> bool:
    return inner and not any(re.match(r"-\w*[oa]|--output|--append", text) for text in call.texts[:2])


def _yq(call: ProgramCall, _inner: bool) -> bool:
    return "env(" not in " ".join(call.texts) and is_listed(call, "yq", inner=False)


SPECIAL: Final[Mapping[str, Callable[[ProgramCall, bool], bool]]] = MappingProxyType({
    **dict.fromkeys(words("psql mysql mariadb"), reads_sql), **dict.fromkeys(words("sqlite3 duckdb"), reads_lite), **dict.fromkeys(words("awk gawk mawk nawk"), reads_awk), **dict.fromkeys(words("sed gsed"), reads_sed),
    "curl": _curl, **dict.fromkeys(words("find gfind"), _find), **dict.fromkeys(words("fd fdfind"), _fd), "xargs": _xargs,
    "az": _az, "gcloud": _gcloud, "aws": _aws, "gh": _gh_api, **dict.fromkeys(words("docker podman nerdctl kubectl oc kubecolor"), _exec), "git": _git, "env": _env,
    **dict.fromkeys(words("bash sh zsh dash ksh fish"), _interpreter),
    "openssl": _openssl, "script": _script, "time": _time, "yq": _yq,
})  # fmt: skip
