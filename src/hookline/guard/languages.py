"""Code in other languages, as far as its calls show what it does: Python by its syntax tree, others by a _scan."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import islice
from typing import Final

from hookline.guard.call import ProgramCall
from hookline.guard.effects import Effect
from hookline.guard.paths import expand_home
from hookline.guard.pattern import lazy_pattern
from hookline.guard.programs.deletion import deletion
from hookline.guard.programs.files import moving, permission_change
from hookline.guard.reading import Word
from hookline.guard.values import globs

_LONGEST = 20_000
#: Calls in one text that are judged.
_MOST_CALLS = 60


def language_effects(call: ProgramCall, language: str, code: str) -> Iterator[Effect]:
    call.scene.budget.spend(len(code) // 3)
    if len(code) > _LONGEST:
        yield call.effect("unknown", "medium", why="the code is too long to be read")
    elif language == "python":
        from hookline.guard.python_code import python_effects

        found = python_effects(call, code)
        yield from _scan_whole(call, code) if found is None else found
    else:
        yield from _scan_whole(call, code)


_QUOTED = r"""\(?\s*\[?\s*(?:glob\s*\(?\s*)?(["'`])((?:\\.|(?!\1).)*)\1"""
_SCANS: Final = tuple(
    (lazy_pattern(pattern, re.DOTALL), action)
    for pattern, action in (
        (
            r"\b(?:rmSync|rmdirSync|rm|rmdir|rimraf|rm_rf|rm_r|remove_tree|rmtree|remove_dir_all|removeSync|remove_entry|Deno\.remove|FileUtils\.rm\w*|deltree|remove_dir|delete-directory|remove_entry_secure|unlink_recursive)"
            + _QUOTED,
            "tree",
        ),
        (
            r"\b(?:unlinkSync|unlink|File\.delete|os\.remove|remove|File\.unlink|deleteFile|delete-file)" + _QUOTED,
            "delete",
        ),
        (
            r"(?:\b(?:execSync|execFileSync|spawnSync|exec|spawn|execFile|system|popen|passthru|shell_exec|proc_open|Open3\.\w+|os\.execute|io\.popen|do shell script|qx|IO\.popen|Deno\.run|Deno\.Command|run)|\$)\s*"
            + _QUOTED,
            "shell",
        ),
        (r"""\bopen\b[^;"']{0,80}["']\s*\|\s*([^"'|]+)["']|\bopen\b[^;"']{0,80}["']([^"'|]+)\|\s*["']""", "shell"),
        (r"(?:%x|\bqx)\s*(?:\(([^)]*)|\{([^}]*)|\[([^\]]*)|([/!|#])((?:(?!\4).)*))", "shell"),
        (r"\b(?:exec|system)\s*\(?\s*qw\s*(?:\(([^)]*)|\{([^}]*)|\[([^\]]*)|([/!|#])((?:(?!\4).)*))", "shell"),
        (
            r"\b(?:Dir\.glob|Dir\.children|Dir\.each_child|Dir\.entries|readdirSync|readdir|scandir)"
            + _QUOTED
            + r"(?=.{0,200}\b(?:delete|unlink|rm|remove))",
            "tree",
        ),
        (r"""["'](?:unlink|rmdir)["']\s*,\s*glob""" + _QUOTED, "tree"),
        (
            r"\b(?:writeFileSync|writeFile|appendFileSync|appendFile|file_put_contents|File\.write|createWriteStream|IO\.write|truncateSync)"
            + _QUOTED,
            "write",
        ),
        (
            r"\b(?:readFileSync|readFile|file_get_contents|File\.read|createReadStream|IO\.read|readfile|File\.open|open)"
            + _QUOTED,
            "read",
        ),
        (r"""\b(?:File\.(?:open|new)|fopen|open)\s*\(?\s*(["'])((?:(?!\1).)+)\1\s*,\s*["'](?:w|a|x|r\+)""", "write"),
        (
            r"""\bopen\b[^;"']{0,80}["']\s*\+?>>?\s*([^"'\s>]+)["']|\bopen\b[^;"']{0,80}["']\+?>>?["']\s*,\s*["']([^"']+)""",
            "write",
        ),
        (r"\b(?:renameSync|rename|File\.rename|FileUtils\.mv)" + _QUOTED, "move"),
        (
            r"\b(?:chmodSync|chmod|FileUtils\.chmod\w*)\s*\(?\s*(?:\S+?\s*,\s*)?" + r"""(["'])((?:\\.|(?!\1).)*)\1""",
            "mode",
        ),
    )
)
_STRING = lazy_pattern(r"""(["'])((?:\\.|(?!\1).)*)\1""")
_GLUED = re.compile(r"""(["'])((?:\\.|(?!\1)[^"\\])*)\1\s*[+.]\s*(["'])((?:\\.|(?!\3)[^"\\])*)\3""")
_MORE = lazy_pattern(r"""(?:\s*,\s*(?:\{\s*args\s*:\s*)?\[?\s*(["'])(?:\\.|(?!\1).)*\1)+""")
_HOME = r"""process\.env\.HOME\b|(?:os|require\(["'](?:node:)?os["']\))\.homedir\(\)|Dir\.home\b|ENV(?:\.fetch\(|\[)["']HOME["'][\])]|\$ENV\{["']?HOME["']?\}|getenv\(["']HOME["']\)|Deno\.env\.get\(["']HOME["']\)"""
_HOMES, _HOMES_INSIDE = lazy_pattern(_HOME), lazy_pattern(r"[#$]\{\s*(" + _HOME + r")\s*\}")
_STARTS = lazy_pattern(r"child_process|Open3|ProcessBuilder|getRuntime\(|[\"']\s*\|-?\s*(\S*/)?(ba|da|z)?sh\b")
_BACKTICKS = lazy_pattern(r"`([^`]+)`")
_FETCHES = lazy_pattern(
    r"(?i)\b(eval|exec|iex|invoke-expression|new Function|loadstring|load)\b.{0,200}(fetch|https?://|atob|base64|downloadstring|invoke-webrequest|iwr|curl|unpack)|(downloadstring|iwr|irm|invoke-webrequest).{0,200}\|\s*(iex|invoke-expression)|\b(fetch\s*\(|https?\.(get|request)\b).{0,200}\b(eval|new Function)\b|\b(system|exec|eval)\s*\(?\s*`\s*(curl|wget)\b|\b(system|popen|exec\w*|spawn\w*|shell_exec|passthru)\b[^;]{0,80}(atob|base64|unpack|fromcharcode|\bchr\()",
    re.DOTALL,
)
_POWERSHELL = lazy_pattern(
    r"(?i)\b(remove-item|ri|del|rd|rmdir|erase)\b(?=.{0,200}-(r|recurse)\b|.{0,200}-fo|.{0,200}/s\b)|\b(format-volume|clear-disk|clear-recyclebin|stop-computer|restart-computer|initialize-disk)\b|\bset-executionpolicy\b"
)
_CONNECTS = lazy_pattern(
    r"(?i)fsockopen|stream_socket_client|socket_create|\bsockaddr_in\b|IO::Socket|TCPSocket|net\.(connect|Socket|createConnection)|socket\.(tcp|connect)|Net\.Sockets|TCPClient|Deno\.connect|UDPSocket|require\([\"'](node:)?net[\"']\)|require\s*\(?[\"']socket|:connect\("
)
_RUNS = lazy_pattern(
    r"(?i)\b(exec|system|passthru|shell_exec|popen|proc_open|spawn\w*|child_process|os\.execute|io\.popen|iex|invoke-expression|Process\.Start|cmd\.exe)\b|/bin/(ba|z|da)?sh"
)
_SENDS = lazy_pattern(
    r"\bfetch\s*\(|\bhttps?\.(request|post)|\.post\s*\(|\baxios\b|XMLHttpRequest|Net::HTTP|HTTP::Tiny|LWP::|curl_exec|IO::Socket|TCPSocket|net\.connect"
)
_ENVIRONMENT = lazy_pattern(
    r"JSON\.stringify\(\s*process\.env\s*\)|\bENV\.(to_h|inspect|to_json)|%ENV\b|\bgetenv\(\)|\$_ENV\b"
)
_FORKS = lazy_pattern(r"\bfork\b.{0,200}\bwhile\b|\b(while|for|loop)\b.{0,200}\bfork\b", re.DOTALL)
_HIDDEN_CALL = lazy_pattern(
    r"[\"'](unlink|rmdir|system|exec|shell_exec|passthru|popen)[\"']\s*[,)]|\[['\"](exec|spawn|system)\w*['\"]\]\s*\(|\$\w+\s*\(\s*\$_|\bsend\s*\(?\s*:?['\"]?(system|exec|eval)"
)
_SHELLISH = lazy_pattern(r"\s*(sudo\s+)?(rm|git|dd|mkfs\S*|shred|chmod|chown|find|mv|curl|wget)\s+\S")


#: What stands for an escaped sign while strings are looked for, so that a long row of them takes no long time.
_BACKSLASH, _DOUBLE, _SINGLE = "\x01\x02\x03"


def _scan_whole(call: ProgramCall, code: str) -> Iterator[Effect]:
    """All calls, and what they do together: a secret is read, and something is sent."""
    secret = bool(_ENVIRONMENT.search(code))
    for effect in _scan(call, code):
        secret = secret or effect.kind == "secret"
        yield effect
    if secret and _SENDS.search(code):
        yield call.effect("send", "critical", why="a secret is read and data are sent in one program")


def _scan(call: ProgramCall, code: str) -> Iterator[Effect]:
    """Calls by their names, with the string that follows; enough for one-liners, and no more is promised."""
    code = code.replace("\\\\", _BACKSLASH).replace('\\"', _DOUBLE).replace("\\'", _SINGLE)
    code = _HOMES_INSIDE.sub(lambda _found: call.scene.places.home, code)
    code = _HOMES.sub(lambda _found: f'"{call.scene.places.home}"', code)
    for _ in range(8):  # "a" + 'b'
        code, count = _GLUED.subn(lambda found: f'"{found[2]}{found[4]}"', code)
        if not count:
            break
    calls = [(action, found) for pattern, action in _SCANS for found in islice(pattern.finditer(code), _MOST_CALLS)]
    if len(calls) >= _MOST_CALLS:
        yield call.effect("unknown", "high", code[:80], why="it has more calls than are judged")
    for action, found in calls[:_MOST_CALLS]:
        text = next((group for group in reversed(found.groups()) if group), "")
        if text:
            text = text.replace(_BACKSLASH, "\\").replace(_DOUBLE, '"').replace(_SINGLE, "'")
            rest = _MORE.match(code[found.end() :])
            if action == "shell" and rest:  # system("rm", "-rf", …), spawn("rm", ["-rf", …])
                text = shlex.join([text, *(one[2] for one in _STRING.finditer(rest[0]))])
            deep = action == "delete" and "recursive" in code[found.end() : found.end() + 30]
            yield from _scanned(call, "tree" if deep else action, text, found[0])
    if "perl" in call.name or "ruby" in call.name or "php" in call.name:
        for found in islice(_BACKTICKS.finditer(code), _MOST_CALLS):
            yield from call.shell(Word((found[1],), found[0]))
    if _STARTS.search(code):  # by whatever name it calls it
        for found in islice(_STRING.finditer(code), _MOST_CALLS):
            yield from call.shell(Word((found[2],), found[0])) if _SHELLISH.match(found[2]) else ()
    if _FETCHES.search(code):
        yield call.effect("remote-code", "high", why="it runs hidden or fetched code")
    if _CONNECTS.search(code) and _RUNS.search(code):
        yield call.effect("remote-code", "critical", why="another machine gets a shell here")
    if _FORKS.search(code):
        yield call.effect("exhaust", "critical", why="it starts processes without end")
    if _HIDDEN_CALL.search(code):
        yield call.effect("unknown", "medium", code[:80], why="which function it calls is hidden")
    if call.name in {"pwsh", "powershell", "cmd"} and _POWERSHELL.search(code):
        wide = re.search(r"(?i)[\s'\"](~|\$home|\$env:userprofile|[a-z]:|/)[\\/]?\*?(?=[\s'\"]|$)", code)
        yield call.effect(
            "delete", "critical" if wide else "medium", code[:80], why="PowerShell deletes without asking"
        )
    if _SHELLISH.match(code):
        yield from call.shell(Word((code,), code))


def _scanned(call: ProgramCall, action: str, text: str, source: str) -> Iterator[Effect]:
    path = expand_home(text, call.scene.places.home)
    word = Word(tuple(globs(path)) if "glob" in source else (path,), source)
    match action:
        case "tree" | "delete":
            yield from deletion(call, word, tree=action == "tree")
        case "shell":
            yield from call.shell(word)
        case "write":
            yield from call.write(word)
        case "read":
            yield from call.read(word)
        case "move":
            yield from moving(call, word, None)
        case _:
            yield from permission_change(call, word, "", tree=False)
