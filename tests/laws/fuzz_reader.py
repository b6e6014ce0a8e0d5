"""Random commands, run by real bash and read by the guard: what bash starts must be among what the reader foresees.

Bash runs in a scratch folder, without a network where the system allows it, with a ``PATH`` that holds a few harmless
filters and nothing else. Every other name ends in ``command_not_found_handle``, which writes the words down.

    python tests/laws/fuzz_reader.py COUNT SEED [COMMAND]
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from hookline.guard.read import read
from hookline.guard.reading import Glob, Invocation, Reading, Word

_FILTERS = ("base64", "cat", "cut", "env", "head", "nice", "nohup", "rev", "sed", "tail", "tr", "xargs", "timeout")
_BATCH = 400
#: No network, and processes that end with the first one: a command that calls itself must not outlive its batch.
_APART = ("-rn", "-pf", "--kill-child")
#: Logs the words of whatever is not there, and of the filters; ``bash`` and ``sh`` inside a command get it as well.
_PREAMBLE = r"""
command_not_found_handle() { printf '%s\0' $'\2'"$FUZZ" "$@" $'\1end' >&9; return 0; }
"""
_RUN = r"""
source "$PREAMBLE"
export FUNCNEST=20
ulimit -t 20
exec 8<"$1"
shift
while IFS= read -r -d '' -u 8 FUZZ && IFS= read -r -d '' -u 8 TEXT; do
  ( exec 8<&-; export FUZZ; eval "unset TEXT; ${TEXT}" ) </dev/null >/dev/null 2>&1
done
wait
"""


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────


class Grammar:
    """Writes commands. Programs are named p0 to p9 and do not exist."""

    def __init__(self, random_: random.Random) -> None:
        self._r = random_
        self._depth = 0

    def command(self) -> str:
        self._depth = 0
        return self._list()

    def _pick(self, *choices: Callable[[], str]) -> str:
        self._depth += 1
        try:
            return self._r.choice(choices if self._depth < 12 else choices[:1])()
        finally:
            self._depth -= 1

    def _list(self) -> str:
        count = self._r.choice((1, 1, 1, 2, 3))
        text = self._statement()
        for _ in range(count - 1):
            text += self._r.choice(("; ", " && ", " || ", "\n", ";", " \\\n; ")) + self._statement()
        return text

    def _statement(self) -> str:
        return self._pick(
            self._simple, self._simple, self._simple, self._simple, self._assignment, self._assignment, self._pipeline,
            self._group, self._for, self._if, self._case, self._function, self._eval, self._inner_shell, self._while,
            self._here, self._wrapper, self._builtin, self._array, self._background, self._other,
        )  # fmt: skip

    def _program(self) -> str:
        name = f"p{self._r.randrange(10)}"
        return self._r.choice(
            (
                name,
                name,
                name,
                f"'{name}'",
                f'p""{name[1]}',
                f"\\{name}",
                f"$'\\x70'{name[1]}",
                f"{{,{name}}}",
                "$v",
                "${w:-" + name + "}",
                f"$(echo {name})",
            )
        )

    def _simple(self) -> str:
        words = [self._program(), *(self._word() for _ in range(self._r.randrange(4)))]
        if self._r.random() < 0.1:
            words.insert(
                self._r.randrange(len(words) + 1), self._r.choice((">/dev/null", "2>&1", "</dev/null", "2>/dev/null"))
            )
        if self._r.random() < 0.1:
            words.insert(0, f"{self._name()}={self._word()}")
        return self._r.choice((" ", "  ", "\t", " \\\n")).join(words)

    def _name(self) -> str:
        return self._r.choice("vwxyz")

    def _file(self) -> str:
        """Another one each time: commands of a batch share a folder."""
        return f"script{self._r.randrange(10**9)}"

    def _letters(self) -> str:
        return "".join(self._r.choice("abcAB01-./=+:,@%^") for _ in range(self._r.randrange(1, 5)))

    def _word(self) -> str:
        count = self._r.choice((1, 1, 1, 2, 3))
        return "".join(self._word_part() for _ in range(count))

    def _word_part(self) -> str:
        return self._pick(
            self._letters, self._letters, self._single, self._double, self._ansi, self._braces, self._escape,
            self._parameter, self._parameter, self._operator, self._substitution, self._arithmetic, self._sequence,
            self._special,
        )  # fmt: skip

    def _special(self) -> str:
        """Signs that mean something only in some places, and nested texts."""
        return self._r.choice((
            "~", "~/a", "x=~/b", "a:~", "*", "?", "[ab]", "[", "]", "#a", "a#", "!", "\\\n", "^", "%", "{", "}", "''", '""', "$", "$'\\0'", "~root",
            f"$(cat <<E\n{self._letters()} $v\nE\n)", "$(cat <<'E'\n$v `x`\nE\n)", f'"${{v:-"{self._letters()} {self._letters()}"}}"',
            f"${{v:-{self._letters()} {self._letters()}}}", "${w:-$'a\\tb'}", '"${x:-\'a b\'}"', '"$(echo "a  b")"', '"`echo \\`echo c\\``"',
            f"$( ( {self._echo()} ) )", f"$({{ {self._echo()}; }})", "${v@U}", "${v@L}", "${!n:-d}", "${a[@]:1}", "${a[*]/a/b}", "${@:1:1}", "${#@}", "$$'a'",
            '"${a[@]}"', '"$@"', '"$*"', '"a${a[@]}b"', '"${a[*]}"', "${a[@]#a}", '"${v//a/ }"', "${v:0:$((1+1))}", "$[1+2]", "\\\\",
            "${a[$#]}", '"${a[${#v}]}"', "${a[$(echo 0)]}", '"${a[$x]}"', "${a[x]}",
        ))  # fmt: skip

    def _odd(self) -> str:
        return "".join(self._r.choice('ab c;|&<>(){}$*?~#!"\\`=,.') for _ in range(self._r.randrange(5)))

    def _single(self) -> str:
        return f"'{self._odd()}'"

    def _double(self) -> str:
        plain = re.sub(r'["\\`$]', "", self._odd())
        return (
            '"'
            + plain
            + self._pick(str, self._parameter, self._operator, self._substitution, self._arithmetic)
            + plain[:1]
            + '"'
        )

    def _ansi(self) -> str:
        return (
            "$'"
            + "".join(
                self._r.choice(("a", "\\x41", "\\101", "\\n", "\\t", "\\'", "\\\\", "\\u0042", " ", ";", "\\e"))
                for _ in range(3)
            )
            + "'"
        )

    def _braces(self) -> str:
        parts = [
            self._r.choice(
                ("", self._letters(), self._letters(), self._pick(self._letters, self._braces, self._single))
            )
            for _ in range(self._r.randrange(1, 4))
        ]
        return "{" + ",".join(parts) + "}"

    def _sequence(self) -> str:
        return "{" + self._r.choice(("1..3", "a..c", "3..1", "01..03", "1..9..4", "c..a", "-1..1", "x..", "1..a")) + "}"

    def _escape(self) -> str:
        return "\\" + self._r.choice(" ;|&<>(){}$*?~#!\"'\\`=,ab")

    def _parameter(self) -> str:
        return self._r.choice(
            (
                "$v",
                "$w",
                "$x",
                "${y}",
                "${z}",
                "$1",
                "$2",
                "$@",
                "$*",
                "$#",
                "${a[0]}",
                "${a[@]}",
                "${a[-1]}",
                "${#v}",
                "${#a[@]}",
                "$nothing",
                "${!n}",
                "$IFS",
                "${a[*]}",
            )
        )

    def _operator(self) -> str:
        name, word = self._name(), self._pick(self._letters, self._single, self._double, self._parameter)
        operators = (
            f":-{word}", f"-{word}", f":+{word}", f"+{word}", f":={word}", ":1", ":1:2", ": -1", ":0:1", "#a", "##*a", "%a", "%%b*",
            "/a/b", "//a/", "/#a/x", "/%b/y", "^^", ",,", "^", ",", "//[ab]/-", "#?", "%?", "//a/$w", "##*[./]", ":$((1)):1",
        )  # fmt: skip
        return "${" + name + self._r.choice(operators) + "}"

    def _arithmetic(self) -> str:
        return (
            "$(("
            + self._r.choice(
                (
                    "1+2",
                    "2*3-1",
                    "7/2",
                    "-7%3",
                    "1<2",
                    "2**5",
                    "(1+2)*3",
                    "5&3|8",
                    "~1",
                    "!0",
                    "1?2:3",
                    "x+1",
                    "0x1f",
                    "010",
                    "1,2",
                    "3>2&&0",
                    "$v+1",
                    "${#w}",
                )
            )
            + "))"
        )

    def _substitution(self) -> str:
        inner = self._pick(self._echo, self._echo, self._filter, self._simple, self._echo_list)
        return f"$({inner})" if self._r.random() < 0.8 or "`" in inner or "\\" in inner else f"`{inner}`"

    def _echo(self) -> str:
        return self._r.choice(
            ("echo ", "echo -n ", "printf %s ", "printf '%s\\n' ", "echo -e ", "printf '%s-%s' ")
        ) + self._pick(self._letters, self._word)

    def _echo_list(self) -> str:
        return f"{self._echo()}; {self._echo()}"

    def _filter(self) -> str:
        filters = (
            "cat", "rev", "tr a-c A-C", "tr -d a", "cut -c1-2", "head -n1", "tail -n1", "sed s/a/b/", "sed 's/a/b/g'", "base64",
            "base64 | base64 -d", "tr ab ba", "cut -d. -f1", "cat | cat", "head -c3", "tr '[:lower:]' '[:upper:]'", "sed y/ab/ba/",
        )  # fmt: skip
        return f"{self._echo()} | {self._r.choice(filters)}"

    def _assignment(self) -> str:
        return f"{self._name()}{self._r.choice(('=', '=', '=', '+='))}{self._word()}"

    def _array(self) -> str:
        return self._r.choice((
            f"a=({self._word()} {self._word()})", f"a+=({self._word()})", f"a[1]={self._word()}", f"a[$#]={self._word()}", f"a[${{#a[@]}}]={self._word()}", f"set -- {self._word()} {self._word()}",
            "shift", "unset v", "n=v", f"IFS={self._r.choice((',', ':', '.', '', 'a'))}", "IFS=$' \\t\\n'", f"export {self._name()}={self._word()}",
        ))  # fmt: skip

    def _pipeline(self) -> str:
        return self._r.choice((
            f"{self._echo()} | {self._simple()}", f"{self._filter()} | xargs {self._simple_words()}", f"{self._echo_code()} | {self._r.choice(('sh', 'bash', 'bash -s x'))}",
            f"{self._simple()} | {self._simple()}", f"! {self._simple()}", f"{self._echo()} | {{ read v; {self._simple()}; }}",
            f"{self._echo()} | while read v; do {self._simple()}; done", f"{self._echo()} | xargs -n1 p1", f"{self._echo()} | xargs -I% p2 a%b",
        ))  # fmt: skip

    def _simple_words(self) -> str:
        return " ".join([f"p{self._r.randrange(9)}", self._letters()])

    def _quoted_code(self) -> str:
        code = self._pick(self._simple, self._statement)
        return "'" + code.replace("'", "'\\''") + "'"

    def _echo_code(self) -> str:
        return f"echo {self._quoted_code()}"

    def _group(self) -> str:
        inner = self._list()
        return self._r.choice((f"( {inner} )", f"{{ {inner}\n}}", f"({inner}\n)"))

    def _for(self) -> str:
        return f"for {self._name()} in {self._word()} {self._word()}; do {self._statement()}\ndone"

    def _while(self) -> str:
        return self._r.choice((
            f"while p1 || false; do {self._statement()}\nbreak; done", f"until true; do {self._statement()}\ndone",
            f"while read v w; do {self._simple()}\ndone <<< {self._word()}", f"while false; do {self._statement()}\ndone",
        ))  # fmt: skip

    def _if(self) -> str:
        condition = self._r.choice(
            ("true", "false", "p1", "[[ $v == a* ]]", '[ "$v" = "a" ]', "(( x > 1 ))", 'test -n "$w"')
        )
        return f"if {condition}; then {self._statement()}\nelse {self._statement()}\nfi"

    def _case(self) -> str:
        return f"case {self._word()} in a*|b) {self._statement()} ;; (*[0-9]) {self._statement()}\n;; *) {self._statement()}\nesac"

    def _function(self) -> str:
        return f"f() {{ {self._statement()}\n}}; f {self._word()} {self._word()}"

    def _eval(self) -> str:
        return self._r.choice(
            (f"eval {self._quoted_code()}", f"eval {self._simple()}", f'eval "{self._simple_words()} $v"')
        )

    def _inner_shell(self) -> str:
        shell = self._r.choice(("bash -c", "sh -c", "bash -ec", "bash +e -c", "bash --norc -c", "bash -c --"))
        return f"{shell} {self._quoted_code()} {self._word()} {self._word()}"

    def _wrapper(self) -> str:
        wrapper = self._r.choice(
            (
                "env",
                "env A=1",
                "env -u B",
                "nohup",
                "nice",
                "nice -n 5",
                "command",
                "timeout 5",
                "timeout -s KILL 5",
                "time",
                "env -C .",
                "exec",
                "builtin command",
            )
        )
        return f"{wrapper} {self._r.choice((self._simple_words(), 'bash -c ' + self._quoted_code()))}"

    def _here(self) -> str:
        return self._r.choice((
            f"bash <<< {self._quoted_code()}", f"bash <<'E'\n{self._simple()}\nE", f"cat <<E | bash\n{self._simple_words()} $v\nE",
            f"read v w <<< {self._word()}", f"sh <<-E\n\t{self._simple_words()}\n\tE", f"source <(echo {self._quoted_code()})",
        ))  # fmt: skip

    def _builtin(self) -> str:
        return self._r.choice((
            "cd .", "cd ..", ":", "true", "false", f"printf -v v %s {self._word()}", "trap p3 EXIT", f"let x={self._r.randrange(9)}+1", "(( x = 3 ))",
            f"declare v={self._word()}", f"echo {self._word()} > {(name := self._file())}; bash {name}", "cd - || true", f"[[ {self._word()} == {self._letters()} ]]", f"local v; {self._simple()}",
        ))  # fmt: skip

    def _other(self) -> str:
        """Forms that are rare, and where a parser may lose its way."""
        return self._r.choice((
            f"case {self._letters()} in esac; {self._simple()}", f"case a in (a) {self._simple()};; esac", f"case $v in *) case b in b) {self._simple()} ;; esac ;; esac",
            f"{self._simple()} # ' {self._simple()}\n{self._simple()}", f"f() ( {self._simple()} ); f", f"f() {{ g() {{ {self._simple()}; }}; g; }}; f; g",
            f"function f {{ {self._simple()}; }} >/dev/null; f", f"f() {{ {self._simple()}; }}; unset -f f; f", f"time {self._simple()}", f"{self._simple()} |& {self._simple()}",
            f"coproc {self._simple()}", f"[[ a =~ (a|b) && -n $(echo x) ]] && {self._simple()}", "for i; do p1 $i; done", f'for v in "$@"; do {self._simple()}; done',
            "for ((i=0;i<2;i++)); do p2 $i; done", f"if ! p1; then {self._simple()}; fi", f"{{ {self._simple()}; }} 2>&1 | {{ {self._simple()}; }}", f"((1)) && {self._simple()}",
            f"{self._simple()} <<E\n$(p1 {self._word()})\nE", f"{self._simple()} <<'E' && {self._simple()}\n$(p1)\nE", f"v={self._word()} w=$v p3 $v", f"v={self._word()} eval 'p4 $v'",
            f"v={self._word()} bash -c 'p5 \"$v\"'", f"printf '%b' {self._word()} | xargs -0 p6", f"printf '%d%s' 7 {self._word()} | xargs p7", f"while :; do {self._simple()}; break; done",
            f'echo {self._letters()} {self._letters()} | {{ read -r v w; p8 "$v" "$w"; }}', f'mapfile -t a <<< {self._word()}; p9 "${{a[@]}}"', f"alias p1=p2; {self._simple()}",
            f'declare -A a=([k]={self._word()}); p1 "${{a[k]}}"', f"set -f; {self._simple()}", f"v=({self._word()}); p1 $v", f'a[3]={self._word()}; p2 "${{a[@]}}" ${{#a[@]}} "${{!a[@]}}"',
            "x=5; p3 $((x*2)) $((x++)) $x", f"f() {{ local v={self._word()}; p4 $v; }}; f; p5 $v", f"f() {{ return; p1; }}; f && {self._simple()}", f"( exit; p1 ); {self._simple()}",
            f"echo {self._quoted_code()} > {(name := self._file())}; source ./{name} {self._word()}", f"{{ echo p1; echo {self._letters()}; }} | xargs -n2", f"bash -c 'f() {{ p1 \"$@\"; }}; f \"$0\" \"$@\"' {self._word()} {self._word()}",
            f'IFS=, read v w <<< {self._word()}; p1 "$v" "$w"', f"f() {{ w=$v; v=b; }}; v={self._word()} f; p2 $v $w", f"trap 'p3 $v' EXIT; v={self._word()}",
            f'read -a a <<< {self._word()}; p1 "${{a[@]}}"', f"v={self._word()} eval 'w=$v'; p2 $w", 'while (( $# )); do p1 "$1"; shift; done',
            f"[[ {self._letters()} =~ (a)(.*) ]] && p1 ${{BASH_REMATCH[2]}}", f"printf 'a b\\nc %s' {self._word()} | xargs -L1 p1", f'export "v={self._letters()}"; p2 $v',
            f"v={self._word()} w=$v eval 'p1 $w'", f"v=a; v+={self._word()} eval 'p2 $v'", f"f() {{ v={self._word()}; {self._leave('return')}; v=c; echo $v; }}; p1 $(f); f; p2 $v",
            f"p1 $(for v in a b {self._word()}; do echo $v; {self._leave('break')}; w=$v; done); p2 $w", f"for v in a b c; do {self._leave('continue')}; w=$v; done; p2 $w $v",
            f"for v in a b; do for w in c d; do {self._leave('break 2', 'continue 2', 'break')}; x=$w; done; y=$x; done; p1 $v $w $x $y", f"p1 $(echo a; {self._leave('exit')}; echo b)",
            f"while :; do {self._leave('break')}; x=$v; break; done; p1 $x", f"echo 'v=a; return; v=b' > {(name := self._file())}; . ./{name}; p1 $v",
            f"x=$(exit 1) || {self._simple()}", f"export v={self._word()}; bash -c 'p2 $v'", f"v={self._word()}; bash -c 'p2 $v'", f'eval "f() {{ p3 {self._letters()}; }}"; f',
        ))  # fmt: skip

    def _leave(self, *jumps: str) -> str:
        condition = self._r.choice(("true", "false", "p3", "[[ $v == a ]]", '[ "$w" = "d" ]', "cd .", "(( x > 1 ))"))
        return f"{condition} {self._r.choice(('&&', '||'))} {self._r.choice(jumps)}"

    def _background(self) -> str:
        return f"{self._simple()} &"


# ── bash ─────────────────────────────────────────────────────────────────────────────────────────────


class Bash:
    """Runs commands in batches and tells the words of what each of them started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        programs = folder / "bin"
        programs.mkdir()
        (folder / "preamble").write_text(_PREAMBLE)
        bash = shutil.which("bash") or "/bin/bash"
        recorder = f"""#!{bash}\nprintf '%s\\0' $'\\2'"$FUZZ" "${{0##*/}}" "$@" $'\\1end' >&9\n"""
        for name in _FILTERS:
            target = shutil.which(name)
            if target:
                os.symlink(target, programs / name)
        for shell in ("bash", "sh"):
            os.symlink(bash, programs / shell)
        for number in range(10):
            stub = programs / f"p{number}"
            stub.write_text(recorder)
            stub.chmod(0o755)
        self._offline = [shutil.which("unshare") or "", *_APART] if _can_unshare() else []
        self._bash = bash

    def run(self, commands: list[str]) -> list[list[list[str]]]:
        scratch = Path(tempfile.mkdtemp(dir=self._folder))
        log, texts = self._folder / "log", self._folder / "texts"
        texts.write_bytes(
            b"".join(f"{n}\0{text}\0".encode("utf-8", "surrogateescape") for n, text in enumerate(commands))
        )
        environment = {
            "PATH": str(self._folder / "bin"),
            "PREAMBLE": str(self._folder / "preamble"),
            "BASH_ENV": str(self._folder / "preamble"),
            "HOME": "/home/fuzz",
            "LC_ALL": "C.UTF-8",
        }
        with log.open("wb") as out, contextlib.suppress(subprocess.TimeoutExpired):
            # What a batch that hangs has started until then still counts.
            subprocess.run(
                [*self._offline, self._bash, "-c", f"exec 9>&{out.fileno()}; {_RUN}", "fuzz", str(texts)],
                pass_fds=(out.fileno(),), cwd=scratch, env=environment, timeout=300, check=False, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        shutil.rmtree(scratch, ignore_errors=True)
        return _records(log.read_bytes(), len(commands))


def _can_unshare() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", *_APART, "true"], capture_output=True, check=False).returncode == 0


def _records(log: bytes, count: int) -> list[list[list[str]]]:
    found: list[list[list[str]]] = [[] for _ in range(count)]
    current: int | None = None
    words = list[str]()
    for raw in log.split(b"\0")[:-1]:
        text = raw.decode("utf-8", "surrogateescape")
        if current is None:
            if text.startswith("\2"):  # two programs in the background may write at once, and tear a record
                current, words = int(text.removeprefix("\2")), []
        elif text == "\1end":
            if not any("\2" in word for word in words):
                found[current].append(words)
            current = None
        else:
            words.append(text)
    return found


# ── the law ──────────────────────────────────────────────────────────────────────────────────────────


def foreseen(argv: list[str], invocations: tuple[Invocation, ...]) -> bool:
    return any(_matches(argv, list(each.argv), more=each.more_arguments) for each in invocations)


def _matches(argv: list[str], words: list[Word], *, more: bool) -> bool:
    """Words with unknown parts or globs may be any number of arguments."""
    if not words:
        return more or not argv
    first, rest = words[0], words[1:]
    if first.known and not first.globs:
        return bool(argv) and argv[0] == first.text and _matches(argv[1:], rest, more=more)
    if first.known:
        return bool(argv) and any(
            _matches(argv[n:], rest, more=more) for n in range(1, len(argv) + 1) if _fits(argv[n - 1], first)
        )
    return any(
        _matches(argv[n:], rest, more=more) for n in range(len(argv) + 1) if n == 0 or argv[0].startswith(first.prefix)
    )


def _fits(text: str, pattern: Word) -> bool:
    """Files that match, or the pattern itself where none does."""
    if text == pattern.text:
        return True
    made = "".join(_as_glob(piece) if isinstance(piece, Glob) else glob.escape(str(piece)) for piece in pattern.pieces)
    return fnmatch.fnmatchcase(text, made + "*")


def _as_glob(piece: Glob) -> str:
    return piece.text if piece.text in {"*", "?", "["} else "*"


def wrong(reading: Reading, started: list[list[str]]) -> list[str] | None:
    """The first words that bash started and the reader did not foresee."""
    if any("fault" in each.reason for each in reading.doubts):
        return [each.reason for each in reading.doubts]
    if reading.doubts or reading.bombs:
        return None
    # "fuzz" is the shell itself: a recording program that was sourced, which the reader foresaw as a file.
    return next((argv for argv in started if argv[0] != "fuzz" and not foreseen(argv, reading.invocations)), None)


def _read(command: str) -> Reading:
    return read(command, home="/home/fuzz", environment={"PATH": "/bin"})


def main(count: int, seed: int) -> dict[str, object]:
    found, doubted, started_count = list[dict[str, object]](), 0, 0
    grammar = Grammar(random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        bash = Bash(Path(folder))
        for start in range(0, count, _BATCH):
            commands = [grammar.command() for _ in range(min(_BATCH, count - start))]
            for command, started in zip(commands, bash.run(commands), strict=True):
                started_count += len(started)
                reading = _read(command)
                doubted += bool(reading.doubts)
                if argv := wrong(reading, started):
                    foreseen_words = [[word.text for word in each.argv] for each in reading.invocations]
                    found.append({"command": command, "bash": argv, "reader": foreseen_words})
    return {"commands": count, "started": started_count, "doubted": doubted, "wrong": found}


if __name__ == "__main__":
    if len(sys.argv) > 3:
        with tempfile.TemporaryDirectory() as place:
            ran = Bash(Path(place)).run([sys.argv[3]])[0]
        sys.stdout.write(f"bash started {ran}\nnot foreseen: {wrong(_read(sys.argv[3]), ran)}\n")
    else:
        json.dump(main(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
