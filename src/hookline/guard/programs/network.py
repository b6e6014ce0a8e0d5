"""Programs that talk to other machines: what they fetch, where they save it, what they send."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.core._dataclass import dataclass, replace
from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect
from hookline.guard.options import GivenOptions
from hookline.guard.paths import expand_home
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.programs.files import rsync_options, sources_and_target, tar_options
from hookline.guard.reading import Word, cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What one program sends and gets."""

    #: Its standard output comes from another machine.
    prints: bool = False
    saves: tuple[Word, ...] = ()
    #: Files, and words, that it sends.
    files: tuple[Word, ...] = ()
    words: tuple[Word, ...] = ()
    #: Of the words, those that are not meant for credentials: a body, an address.
    body: tuple[Word, ...] = ()
    #: It sends its standard input.
    stdin: bool = False
    address: str = ""


_NONE: Final = Traffic()
_CURL = "0 1 2 3 4 6 a,append A:,user-agent: b:,cookie: B,use-ascii c:,cookie-jar: C:,continue-at: d:,data:,data-ascii: ,data-binary: ,data-raw: ,data-urlencode: ,json: D:,dump-header: e:,referer: E:,cert: ,key: ,cacert: ,capath: f,fail ,fail-with-body F:,form: ,form-string: g,globoff G,get h?,help? H:,header: i,include,show-headers I,head j k,insecure K:,config: l L,location ,location-trusted m:,max-time: M n,netrc ,netrc-file: N,no-buffer o:,output: O,remote-name ,remote-name-all J,remote-header-name ,output-dir: p,proxytunnel P:,ftp-port: q Q:,quote: r:,range: R s,silent S,show-error t: T:,upload-file: u:,user: U:,proxy-user: v,verbose V,version w:,write-out: x:,proxy: X:,request: y: Y: z:,time-cond: Z,parallel #,progress-bar ,url: ,url-query: ,resolve: ,connect-to: ,retry: ,retry-delay: ,retry-max-time: ,connect-timeout: ,max-redirs: ,no-clobber ,stderr: ,trace: ,trace-ascii: ,libcurl: ,oauth2-bearer: ,noproxy: ,unix-socket: ,interface: ,dns-servers: ,limit-rate: ,proto: ,tlsv1.2 ,tlsv1.3 ,create-dirs ,compressed ,mail-from: ,mail-rcpt: ,ciphers: ,cert-type: ,key-type: ,pass: ,etag-save: ,etag-compare: ,alt-svc: ,hsts: ,engine: ,doh-url: ,aws-sigv4: ,max-filesize: ,parallel-max: ,keepalive-time: ,socks5: ,socks5-hostname: ,no-progress-meter ,http1.0 ,http1.1 ,http2 ,http3 ,ipv4 ,ipv6 ,basic ,digest ,negotiate ,ntlm ,ssl ,ssl-reqd ,silent"


def curl_options(call: ProgramCall) -> GivenOptions:
    return call.options(_CURL)


def _curl(call: ProgramCall) -> Traffic:
    options = curl_options(call)
    urls = [*options.values("url"), *options.operands]
    if options.informs or not urls or all(word.prefix.startswith("file:") for word in urls):
        return _NONE
    data = options.values("data", "data-binary", "data-urlencode", "json")
    body = (*data, *options.values("data-raw", "form-string", "url-query", "form"), *urls)
    files = [cut(word, word.prefix.index("@") + 1) for word in data if re.match(r"[^=@]*@", word.prefix)]
    for word in options.values("form"):
        found = re.match(r"[^=]*=[@<]", word.prefix)
        if found:
            files += _parts(cut(word, len(found[0])))
    uploads = options.values("upload-file")
    stdin = any(word.text == "-" for word in (*files, *uploads))
    saves = list(options.values("output"))
    if options.any("remote-name", "remote-name-all") and "no-clobber" not in options:
        saves += [Word((_last(word.text),), word.source) for word in urls if _last(word.text)]
    return Traffic(
        prints=not options.any("output", "remote-name", "remote-name-all", "head")
        or any(word.text == "-" for word in saves),
        saves=tuple(saves),
        files=(*(word for word in (*files, *uploads) if word.text != "-"), *options.values("config")),
        words=(*body, *options.values("header", "user", "user-agent", "cookie", "referer")),
        body=body,
        stdin=stdin,
        address=urls[0].text,
    )


def _parts(word: Word) -> list[Word]:
    """``-F 'files=@a,b;type=…'`` names several files."""
    if not word.known:
        return [word]
    return [Word((part.strip('"'),), word.source) for part in word.text.partition(";")[0].split(",")]


def _last(address: str) -> str:
    return (
        re.sub(r"[?#].*", "", address).rstrip("/").rpartition("/")[2]
        if "/" in (address.partition("://")[2] or address)
        else ""
    )


_WGET = "O:,output-document: o:,output-file: a: i:,input-file: P:,directory-prefix: U:,user-agent: q,quiet v nv c,continue N,timestamping r,recursive l: k p,page-requisites m,mirror e:,execute: t:,tries: T:,timeout: w: Q: S b,background ,post-data: ,post-file: ,body-data: ,body-file: ,method: ,header: ,spider ,no-check-certificate ,user: ,password: ,load-cookies: ,save-cookies: ,referer: ,content-disposition n: x H D: A: R: I: X: E K B: 4 6 d h V ,ca-certificate: ,certificate: ,private-key: ,limit-rate: ,bind-address: ,use-askpass:"


def _wget_options(call: ProgramCall) -> GivenOptions:
    return call.options(_WGET)


def _wget(call: ProgramCall) -> Traffic:
    options = _wget_options(call)
    if options.informs or (not options.operands and "input-file" not in options):
        return _NONE
    target, prefix = options.last("output-document"), options.last("directory-prefix")
    folder = prefix.text.rstrip("/") + "/" if prefix else ""
    saves = (
        (target,)
        if target is not None
        else tuple(Word((folder + (_last(word.text) or "index.html"),), word.source) for word in options.operands)
    )
    stdout = target is not None and target.text in {"-", "/dev/stdout"}
    return Traffic(
        prints=stdout,
        saves=() if stdout or "spider" in options else saves,
        files=options.values("post-file", "body-file"),
        words=(*options.values("post-data", "body-data", "header"), *options.operands),
        body=(*options.values("post-data", "body-data"), *options.operands),
        address=options.operands[0].text if options.operands else "",
    )


def _http(call: ProgramCall) -> Traffic:
    """httpie and xh: ``http POST host name=value file@path``."""
    options = call.options(
        "o:,output: d,download a:,auth: j f h v b ,offline s:,style: p: ,session: ,timeout: ,verify: ,body ,headers ,raw:"
    )
    if options.informs or "offline" in options or not options.operands:
        return _NONE
    files = [
        cut(word, word.prefix.index("@") + 1)
        for word in options.operands
        if "@" in word.prefix and "://" not in word.prefix
    ]
    return Traffic(
        prints="output" not in options and "download" not in options,
        saves=options.values("output"),
        files=tuple(files),
        words=options.operands,
        stdin=True,
        address=options.operands[-1].text,
    )


_NC = "l,listen k p:,source-port: e:,exec: c:,sh-exec: z u,udp v n w:,wait: i: q: s: x: X: N C d D U 4 6 r t b: I: O: T: P: V: g: G: m: o: ,ssl ,proxy: ,lua-exec: ,keep-open ,allow: ,send-only ,recv-only"


def _nc(call: ProgramCall) -> Traffic:
    options = call.options(_NC)
    if options.informs or not (options.operands or "listen" in options) or "z" in options:
        return _NONE
    return Traffic(
        prints=True,
        stdin=True,
        words=options.operands,
        address=options.operands[0].text if options.operands else "listen",
    )


_SHELLS = lazy_pattern(r"(^|[\s/,:])(ba|da|z|k|a|mk|fi|c|tc)?sh\b|powershell|cmd(\.exe)?\b|python|perl")


def _nc_effects(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_NC)
    program = options.last("exec", "sh-exec", "lua-exec")
    if program is None or not (options.operands or "listen" in options):
        return
    if _SHELLS.search(program.text) or not program.known:
        yield call.effect("remote-code", "critical", program.text, why="another machine gets a shell here")
    else:
        yield from call.shell(program)


_SOCAT_REMOTE = lazy_pattern(
    r"(?i)(tcp\w*|udp\w*|openssl\w*|ssl\w*|sctp\w*|socks\w*|proxy\w*|vsock\w*|unix-?connect|ip4?6?\w*)(-connect|-listen|-sendto|-recv\w*)?:"
)


def _socat(call: ProgramCall) -> Traffic:
    ends = [word for word in call.words if not word.prefix.startswith("-") or word.text == "-"]
    opened = [redirect.target for redirect in call.invocation.redirects]  # FD:3, where exec 3>/dev/tcp/… leads to
    remote = [word for word in ends if _SOCAT_REMOTE.match(word.prefix)]
    remote += [word for word in opened if word.prefix.startswith(("/dev/tcp/", "/dev/udp/"))]
    if not remote:
        return _NONE
    files = [
        Word((word.text.partition(":")[2].partition(",")[0].strip('"'),), word.source)
        for word in ends
        if re.match(r"(?i)(open|file|gopen|rdonly|create|pipe):", word.prefix)
    ]
    bare = [word for word in ends if ":" not in word.text and word.text not in {"-", "STDIN", "STDIO"}]
    return Traffic(
        prints=True,
        stdin=any(word.text.upper() in {"-", "STDIN", "STDIO"} for word in ends),
        files=(*files, *bare),
        address=remote[0].text,
    )


def _socat_effects(call: ProgramCall) -> Iterator[Effect]:
    ends = [word for word in call.words if not word.prefix.startswith("-")]
    if not any(_SOCAT_REMOTE.match(word.prefix) for word in ends):
        return
    for word in ends:
        kind, colon, program = word.text.partition(":")
        if not colon or kind.lower() not in {"exec", "system", "shell"}:
            continue
        program = re.sub(r"\\(.)", r"\1", program.partition(",")[0])
        if _SHELLS.search(program):
            yield call.effect("remote-code", "critical", program, why="another machine gets a shell here")
        else:
            yield from call.shell(Word((program,), word.source))


_SSH = "1 2 4 6 A a C f G g K k M N n q s T t V v X x Y y B: b: c: D: E: e: F: I: i: J: L: l: m: O: o: P: p: Q: R: S: W: w:"
_SCP = "1 2 3 4 6 A B C O p q R r s T v c: D: F: i: J: l: o: P: S: X:"
_RUNS = lazy_pattern(
    r"(?i)\s*(proxycommand|localcommand|knownhostscommand|match\s+exec|pkcs11provider|securitykeyprovider)\s*[= ]\s*"
)


def _ssh_effects(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_SSH if call.name == "ssh" else _SCP, until_operand=call.name == "ssh")
    for word in options.values("o"):
        found = _RUNS.match(word.prefix)
        if found and word.text[len(found[0]) :].lower() != "none":
            yield from call.shell(cut(word, len(found[0])))
    if call.name != "ssh":
        for word in options.values("S"):
            yield from call.shell(word)
    if "R" in options and call.name == "ssh":
        yield call.effect("persistence", "medium", why="another machine can reach this one through it")


def _ssh(call: ProgramCall) -> Traffic:
    options = call.options(_SSH, until_operand=True)
    if options.informs or not options.operands:
        return _NONE
    return Traffic(prints=True, stdin="n" not in options, words=options.operands[1:], address=options.operands[0].text)


def _elsewhere(word: Word) -> bool:
    head = word.prefix.partition("/")[0]
    return (":" in head and len(head.partition(":")[0]) > 1) or word.prefix.startswith(
        ("scp://", "sftp://", "rsync://")
    )


def _copying(call: ProgramCall) -> Traffic:
    options = rsync_options(call) if call.name == "rsync" else call.options(_SCP)
    if options.informs or len(options.operands) < 2 or options.any("dry-run"):
        return _NONE
    sources, target = sources_and_target(options)
    if target is not None and _elsewhere(target):
        flat = call.name == "rsync" and "no-recursive" in options
        return Traffic(
            files=tuple(word for word in sources if not (flat and word.text.endswith("/"))), address=target.text
        )
    remote = [word for word in sources if _elsewhere(word)]
    saves = () if target is None or not remote else (target, *(_under(target, word) for word in remote))
    return Traffic(saves=saves, address=remote[0].text if remote else "")


def _under(folder: Word, source: Word) -> Word:
    """The file that a remote one becomes in a directory."""
    name = source.text.rpartition(":")[2].rpartition("/")[2]
    return Word((f"{folder.text.rstrip('/')}/{name}",), source.source)


def _tar(call: ProgramCall) -> Traffic:
    options = tar_options(call)
    target = options.last("file") or next(
        (value for name, value in call.invocation.environment if name == "TAPE"), None
    )
    if target is None or not _elsewhere(target) or not options.any("create", "append", "update"):
        return _NONE
    return Traffic(files=options.operands, address=target.text)


def _mail(call: ProgramCall) -> Traffic:
    options = call.options("s:,subject: a:,attach: A: c: b: r: S: q: E n v i t f:")
    return Traffic(
        stdin=True,
        files=options.values("attach", "A"),
        words=options.operands,
        address=" ".join(word.text for word in options.operands),
    )


_PUTS = lazy_pattern(r"(?:^|[\n;])\s*(?:m?put|send|append)\s+(?:-\w+\s+)*(\S+)")


def _ftp(call: ProgramCall) -> Traffic:
    texts = [*call.texts, call.invocation.stdin.text if call.invocation.stdin else ""]
    names = [expand_home(found[1], call.scene.places.home) for text in texts for found in _PUTS.finditer(text)]
    files = tuple(Word((name,), name) for name in names)
    if call.name == "sftp":
        return replace(_copying(call), files=files, address=" ".join(call.texts[-1:])) if files else _copying(call)
    return Traffic(prints=True, stdin=True, files=files, words=call.words, address=" ".join(call.texts[-1:]))


def _browser(call: ProgramCall) -> Traffic:
    """Browsers that print a page, and downloaders that save it under its own name or another."""
    options = call.options("o:,out:,output: d:,dir: O: s: j: x: k ,source ,dump ,dump_source", dashes=1)
    urls = [word for word in call.words if not word.prefix.startswith("-") and re.search(r"[.:/]", word.text)]
    saves = call.name in {"aria2c", "axel"}
    names = options.values("out", "o") or tuple(Word((_last(word.text),), word.source) for word in urls)
    return Traffic(prints=not saves, saves=names if saves else (), address=" ".join(word.text for word in urls[:1]))


def _lookup(call: ProgramCall) -> Traffic:
    """dig and nslookup carry data in names, and print what the other side chose."""
    return Traffic(prints=True, words=call.words, body=call.words, address=" ".join(call.texts[-1:]))


def _openssl(call: ProgramCall) -> Traffic:
    return Traffic(prints=True, stdin=True, address=" ".join(call.texts)) if "s_client" in call.texts else _NONE


def _cloud_copy(call: ProgramCall) -> Traffic:
    texts = [word for word in call.words if not word.prefix.startswith("-")]
    remote = lazy_pattern(r"(s3|gs|https?|r2|b2)://|[\w-]+:")
    fetched = next((word for word in texts[1:] if remote.match(word.prefix)), None)
    if fetched and ("-" in call.texts[-1:] or texts[0].text == "cat"):
        return Traffic(prints=True, address=fetched.text)
    if (
        not texts
        or not remote.match(texts[-1].prefix)
        or not {"cp", "sync", "mv", "copy", "rsync"} & {word.text for word in texts[:3]}
    ):
        return _NONE
    return Traffic(
        files=tuple(word for word in texts[:-1] if not remote.match(word.prefix)),
        stdin=any(word.text == "-" for word in call.words),
        address=texts[-1].text,
    )


def _gist(call: ProgramCall) -> Traffic:
    if call.texts[:2] == ("gist", "create") or call.texts[:2] == ("release", "upload"):
        return Traffic(files=call.words[2:], stdin=True, address="github.com")
    return Traffic(prints=call.texts[:1] == ("api",) or call.texts[:2] == ("gist", "view"))


_TRAFFIC: Final[Mapping[str, Callable[[ProgramCall], Traffic]]] = MappingProxyType({
    "curl": _curl, "wget": _wget, **dict.fromkeys(words("http https xh httpie"), _http),
    **dict.fromkeys(words("nc ncat netcat nc.traditional nc.openbsd telnet"), _nc), "socat": _socat, "ssh": _ssh,
    **dict.fromkeys(words("scp rsync pscp"), _copying), **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    **dict.fromkeys(words("mail mailx mutt sendmail msmtp swaks"), _mail), **dict.fromkeys(words("ftp sftp lftp tftp ftpput fetch"), _ftp),
    **dict.fromkeys(words("lynx w3m links elinks aria2c axel lwp-request"), _browser),
    **dict.fromkeys(words("dig nslookup host whois ping"), _lookup), "openssl": _openssl,
    **dict.fromkeys(words("aws gsutil rclone azcopy s3cmd mc gcloud"), _cloud_copy), "gh": _gist,
})  # fmt: skip


def traffic(call: ProgramCall) -> Traffic:
    found = _TRAFFIC.get(call.name)
    return found(call) if found is not None else _NONE


def is_network(name: str) -> bool:
    return name in _TRAFFIC


def _saving(call: ProgramCall) -> Iterator[Effect]:
    """Fetched files are written like others."""
    for word in traffic(call).saves:
        if word.text not in {"-", "/dev/stdout"}:
            yield from call.write(word)


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType({
    **dict.fromkeys(words("curl wget http https xh aria2c axel"), _saving),
    **dict.fromkeys(words("nc ncat netcat nc.traditional nc.openbsd"), _nc_effects),
    "socat": _socat_effects, **dict.fromkeys(("ssh", "scp", "sftp"), _ssh_effects),
})  # fmt: skip
