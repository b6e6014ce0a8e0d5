"""What bash would start, command by command. Each row: a command, and the programs it starts, as ``a b | c`` lines.

Unknown parts are ``…``. The shell's own words (``sudo``, ``bash -c …``) are programs, too; where a row is about what
they start, ``inside`` looks at the innermost ones only.
"""

from __future__ import annotations

import pytest

from hookline.guard.read import read, simple_commands


def _programs(command: str, **given: object) -> list[str]:
    return [" ".join(argv) for argv in simple_commands(command)] if not given else [
        " ".join(word.text for word in each.argv) for each in read(command, **given).invocations if each.argv  # type: ignore[arg-type]
    ]  # fmt: skip


WORDS = [
    # quotes and escapes
    ("git pu''sh --for\"\"ce", "git push --force"),
    (r"\rm -rf /", "rm -rf /"),
    (r"r\m -r\f /", "rm -rf /"),
    ("'rm' \"-rf\" /", "rm -rf /"),
    ("r\\\nm -rf /", "rm -rf /"),
    (r"$'\x72\x6d' -rf /", "rm -rf /"),
    (r"$'\162m' $'-\u0072f' /", "rm -rf /"),
    ('$"rm" x', "rm x"),
    ("rm 'a b' \"c  d\"", "rm a b c  d"),
    ('rm "a\\"b\\$c\\d"', 'rm a"b$c\\d'),
    ("rm a#b # c", "rm a#b"),
    # braces
    ("{,rm} -rf /", "rm -rf /"),
    ("{rm,-rf,/}", "rm -rf /"),
    ("rm a{1..3}b", "rm a1b a2b a3b"),
    ("rm {a,b{c,d}}e", "rm ae bce bde"),
    ("rm {01..03} {c..a} {1..9..4}", "rm 01 02 03 c b a 1 5 9"),
    ("rm {a} {} {a,b '{c,d}' \\{e,f}", "rm {a} {} {a,b {c,d} {e,f}"),
    ("rm x{$a,b}", "rm x… xb"),
    # parameters
    ("rm${IFS}-rf${IFS}/", "rm -rf /"),
    ("r$@m -rf /", "rm -rf /"),
    ("x=rm y='-rf /'; $x $y", "rm -rf /"),
    ("x='a b'; rm \"$x\" $x", "rm a b a b"),
    ("x=rm; ${x} ${x:0:1}", "rm r"),
    ("x=xrmx; ${x:1:2} ${x: -1} ${x#x} ${x%x} ${#x}", "rm x rmx xrm 4"),
    ("x=a.b.c; rm ${x#*.} ${x##*.} ${x%.*} ${x%%.*}", "rm b.c c a.b a"),
    ("x=rXm; ${x/X/} ${x//[rm]/-}", "rm -X-"),
    ("x=RM; ${x,,} -rf ${x^}", "rm -rf RM"),
    ("${nothing:-rm} -rf /", "rm -rf /"),
    ("x=; ${x:-rm} ${x-no} a", "rm a"),
    ("x=1; ${x:+rm} -rf /", "rm -rf /"),
    ("x=rm; y=x; ${!y} -rf /", "rm -rf /"),
    ('a=(rm -rf /); ${a[@]}; "${a[0]}" ${a[-1]}', "rm -rf / | rm /"),
    ('set -- rm -rf /; "$@"; $1 ${@:2}', "set -- rm -rf / | rm -rf / | rm -rf /"),
    ("x=r; x+=m; $x -rf /", "rm -rf /"),
    ("IFS=,; x=rm,-rf,/; $x", "rm -rf /"),
    ("rm $((1+2*3)) $((2**3)) $((0x10)) $((5>3?7:8))", "rm 7 8 16 7"),
    ("rm $x ${y}z", "rm … …z"),
    ("printf -v x %s rm; $x -rf /", "printf -v x %s rm | rm -rf /"),
    ("read x <<< rm; $x -rf /", "read x | rm -rf /"),
    ("export X=rm; $X a; unset X; ${X:-ls} b", "export X=rm | rm a | unset X | ls b"),
    ("x=rm; x=ls true; $x a", "true | rm a"),
    ("${PATH:0:1}bin${PATH:0:1}rm -rf ${HOME:0:1}", "/bin/rm -rf ~"),
    # tilde and globs
    ("rm ~ ~/x '~' a~", "rm ~ ~/x ~ a~"),
    ("x=~/y; rm $x", "rm ~/y"),
    ("rm *.txt '*' [ab]", "rm *.txt * [ab]"),
    # substitutions
    ("$(echo rm) -rf /", "echo rm | rm -rf /"),
    ("`echo rm` -rf /", "echo rm | rm -rf /"),
    ('"$(echo rm)" $(echo -rf /)', "echo rm | echo -rf / | rm -rf /"),
    (r"$(printf '\162\155') -rf /", r"printf \162\155 | rm -rf /"),
    (r"$(printf '%s%s' r m) x", "printf %s%s r m | rm x"),
    ("$(echo mr | rev) x", "echo mr | rev | rm x"),
    ("$(echo sn | tr ns mr) x", "echo sn | tr ns mr | rm x".replace("rm x", "rm x")),
    ("$(echo RM | tr A-Z a-z) x", "echo RM | tr A-Z a-z | rm x"),
    ("$(echo xrm | cut -c2-3) x", "echo xrm | cut -c2-3 | rm x"),
    ("$(echo rXm | sed s/X//) x", "echo rXm | sed s/X// | rm x"),
    ("$(which rm) x", "which rm | /usr/bin/rm x"),
    ("rm $(ls)", "ls | rm …"),
    ("echo $((1+$(rm x)))", "rm x | echo …"),
    ("echo ${x:-$(rm y)}", "rm y | echo …"),
    ("echo >$(rm x)", "rm x | echo".replace("echo", "echo")),
    ("wh$()oami", "whoami"),
    ('echo "a `echo \\`rm x\\``"', "rm x | echo … | echo a …"),
    ("x=$(echo rm); $x y", "echo rm | rm y"),
]


@pytest.mark.parametrize(("command", "programs"), WORDS, ids=[row[0] for row in WORDS])
def test_words_are_expanded_as_bash_does(command: str, programs: str) -> None:
    assert " | ".join(_programs(command)) == programs
