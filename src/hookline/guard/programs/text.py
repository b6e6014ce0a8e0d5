"""Programs whose arguments are small programs themselves: sed and awk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import LONGEST_CODE, Handler, ProgramCall
from hookline.guard.effects import Effect
from hookline.guard.pattern import lazy_pattern, words
from hookline.guard.reading import Word

_SED = "n,quiet,silent e:,expression: f:,file: i?,in-place? I? E,regexp-extended r l:,line-length: s,separate u z,null-data ,posix ,debug ,sandbox b a"


def _sed(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(_SED)
    script = options.values("expression")
    files = options.operands if script or "file" in options else options.operands[1:]
    if options.any("in-place", "I"):
        for word in files:
            yield from call.write(word)
    for word in script or options.operands[:1]:
        yield from _sed_script(call, word)


def _yq(call: ProgramCall) -> Iterator[Effect]:
    options = call.options("i,inplace,in-place o:,output-format: p:,input-format: I: P r j C M e n s:")
    for word in options.operands[1:] if "inplace" in options else ():
        yield from call.write(word)


def _sed_script(call: ProgramCall, word: Word) -> Iterator[Effect]:
    """The commands ``e`` (run) and ``w`` (write), which hide in an innocent program."""
    yield from call.legible(word)
    text = word.text[:LONGEST_CODE]
    for found in re.finditer(r"(?:^|[;{}\n]|[\d$/]\s*)\s*e\s+([^\n;}]+)", text):
        yield from call.shell(Word((found[1],), found[0]))
    runs = re.search(
        r"(?:^|[;{}\n])\s*(?:\d+|\$|/[^/]*/)?\s*e\s*(?:$|[;}\n])|s(.)(?:\\.|(?!\1).)*\1((?:\\.|(?!\1).)*)\1[gpiIm\d]*e",
        text,
    )
    if runs:
        yield call.effect("unknown", "medium", text, why="sed runs what it reads as commands")
        yield from call.shell(Word((runs[2] or "",), runs[0]))
    for found in re.finditer(r"(?:^|[;{}\n/gpIi\d])\s*[wW]\s+(/?[\w./~-]+)", text):
        yield from call.write(Word((found[1],), found[0]))


#: ``system($0)``, ``$1 | "sh"``: the input of awk becomes commands.
AWK_RUNS: Final = lazy_pattern(r"\bsystem\s*\(\s*[$a-zA-Z]|\|&?\s*[\"'](\S*/)?(ba|da|z|k)?sh\b|\$\d+\s*\|&?\s*getline")


def _awk(call: ProgramCall) -> Iterator[Effect]:
    options = call.options(
        "F:,field-separator: v:,assign: f:,file: i:,include: l: W: e:,source: b c C d? D? E:,exec: g h L? n N M o? O p? P r s S t V",
        until_operand=True,
    )
    program = [*options.values("source"), *(options.operands[:1] if not options.any("file", "source") else ())]
    for word in program:
        yield from call.legible(word)
        for found in re.finditer(
            r'system\s*\(\s*"((?:\\.|[^"\\])*)"\s*(?P<more>[^\s)])?|\|&?\s*"((?:\\.|[^"\\])*)"|"((?:\\.|[^"\\])*)"\s*\|&?\s*getline',
            word.text[:LONGEST_CODE],
        ):
            text = (found[1] or found[3] or found[4] or "").replace('\\"', '"')
            yield from call.shell(Word((f"{text}$awk_field" if found["more"] else text,), found[0]))  # "rm " $1
        if re.search(r"\bsystem\b|\|", word.text):  # a text that looks like a command, kept for later
            for found in re.finditer(r'"([\w./]+\s+[-/~$][^"]*)"', word.text[:LONGEST_CODE]):
                yield from call.shell(Word((found[1],), found[0]))
        if AWK_RUNS.search(word.text):
            yield call.effect("unknown", "medium", word.text[:80], why="awk runs what it reads as commands")
        if "/inet/" in word.text or "/inet4/" in word.text:
            yield call.effect("remote-code", "high", word.text[:80], why="awk talks to another machine")
        for found in re.finditer(r'>>?\s*"([^"]+)"', word.text[:LONGEST_CODE]):
            yield from call.write(Word((found[1],), found[0]))


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType(
    {**dict.fromkeys(words("awk gawk mawk nawk"), _awk), "sed": _sed, "gsed": _sed, "yq": _yq}
)
