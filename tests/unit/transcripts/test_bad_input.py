"""No file whatever makes a reader raise, and none of any size makes it grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline import transcripts
from hookline.transcripts.lines import LONGEST, line_start, lines, parse_record

SAMPLES = Path(__file__).parents[2] / "payloads" / "transcripts"
FILES = sorted(SAMPLES.glob("*.jsonl"))
READERS = ("claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "letta-code", "hookline", "")
MODEST = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def everything(path: Path, agent: str = "") -> list[transcripts.Message]:
    """Through every door there is."""
    found = list(transcripts.read(str(path), agent))
    transcripts.about(str(path), agent)
    transcripts.detect(str(path))
    transcripts.tool_result(str(path), "call_0", agent)
    list(transcripts.tail(str(path), agent, 700))
    return found


@MODEST
@given(data=st.data())
def test_a_torn_file_tells_what_stands_before_the_tear(tmp_path: Path, data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(FILES))
    whole = sample.read_bytes()
    path = tmp_path / "torn.jsonl"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    found = everything(path, sample.stem)
    expected = list(transcripts.read(str(sample), sample.stem))
    assert [one.role for one in found] == [one.role for one in expected][: len(found)]


JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    float("nan"),
    float("inf"),
    0.5,
    "",
    "x",
    "\ud800",
    [],
    {},
    [None],
    {"text": []},
    [[{}]],
)


def mutated(value: Any, dice: Random) -> Any:
    """The value, with something else in the place of some of it, at any depth."""
    if dice.random() < 0.08:
        return dice.choice(JUNK)
    if isinstance(value, dict):
        return {key: mutated(inner, dice) for key, inner in value.items()}
    return [mutated(inner, dice) for inner in value] if isinstance(value, list) else value


RECORDS = [json.loads(line) for file in FILES for line in file.read_text().splitlines()]


@MODEST
@given(dice=st.randoms(use_true_random=False), agent=st.sampled_from(READERS), junk=st.binary(max_size=20))
def test_records_of_any_shape_are_passed_over(tmp_path: Path, dice: Random, agent: str, junk: bytes) -> None:
    path = tmp_path / "junk.jsonl"
    records = [mutated(dice.choice(RECORDS), dice) for _ in range(8)]
    path.write_bytes(b"\n".join([junk, *(json.dumps(record).encode() for record in records), junk]))
    for message in everything(path, agent):
        message.text.encode()


@MODEST
@given(text=st.binary(max_size=300))
def test_any_bytes_are_a_document_too(tmp_path: Path, text: bytes) -> None:
    for name in ("x.lec", "x.db", "x.jsonl"):
        (tmp_path / name).write_bytes(text)
        everything(tmp_path / name)


def test_what_is_no_file_is_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe", tmp_path / "a\0b"):
        assert everything(path) == []


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": NaN}', '{"type": 1e999}', "1" * 5000, '"text"', "null"])
def test_strange_json_is_no_record_or_a_harmless_one(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(text + "\n" + FILES[0].read_text())
    assert everything(path, FILES[0].stem)


def test_half_a_character_does_not_come_out(tmp_path: Path) -> None:
    record = parse_record(rb'{"a": "\ud83d\ude00 \ud83d \\ud83d \uDE00!"}')
    assert record == {"a": "\U0001f600 \ufffd \\ud83d \ufffd!"}


def test_a_giant_line_costs_only_itself(tmp_path: Path) -> None:
    sample = SAMPLES / "claude-code.jsonl"
    first, *rest = sample.read_bytes().splitlines(keepends=True)
    giant = b'{"type":"user","sessionId":"s","message":{"content":"' + b"x" * (LONGEST + 10) + b'"}}\n'
    path = tmp_path / "giant.jsonl"
    path.write_bytes(first + giant + b"".join(rest))
    assert list(transcripts.read(str(path))) == list(transcripts.read(str(sample)))
    path.write_bytes(giant.rstrip(b"\n"))
    assert list(transcripts.read(str(path), "claude-code")) == []


@MODEST
@given(
    parts=st.lists(st.binary(max_size=12).filter(lambda part: b"\n" not in part), max_size=8), size=st.integers(0, 40)
)
def test_lines_are_what_they_are_wherever_one_begins(tmp_path: Path, parts: list[bytes], size: int) -> None:
    path = tmp_path / "lines"
    text = b"\n".join(parts)
    path.write_bytes(text)
    expected = text.split(b"\n")
    found = [line.text for line in lines(str(path))]
    assert found == (expected if expected[-1] else expected[:-1])
    place = line_start(str(path), min(size, len(text)))
    assert place in {0, len(text)} or text[place - 1 : place] == b"\n"


GROWING = """
import resource, sys
from hookline import transcripts
path, agent = sys.argv[1:]
count = sum(1 for _ in transcripts.read(path, agent))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def reading(path: Path, agent: str) -> tuple[int, int]:
    """How many messages, and the most memory in kilobytes, of a process that reads nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", GROWING, path, agent], capture_output=True, text=True, check=True, timeout=60
    )
    count, kilobytes = map(int, done.stdout.split())
    return count, kilobytes


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_sixty_megabytes_take_no_more_memory_than_one(agent: str, tmp_path: Path) -> None:
    record = (SAMPLES / f"{agent}.jsonl").read_bytes().replace(b"First answer.", b"First answer. " * 2000)
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    small.write_bytes(record * 10)
    with large.open("wb") as file:
        for _ in range(60_000_000 // len(record)):
            file.write(record)
    few, low = reading(small, agent)
    many, high = reading(large, agent)
    assert many > few * 50
    assert high - low < 12_000


def test_the_end_of_a_large_file_is_read_without_the_rest(tmp_path: Path) -> None:
    sample = (SAMPLES / "codex.jsonl").read_bytes()
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(3_000_000_000)  # a hole: nobody could read it in the time of a test
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + sample)
    found = list(transcripts.tail(str(path), "codex", len(sample)))
    assert [one.text for one in found][-1] == "All done."
    result = transcripts.tool_result(str(path), "call_0", "codex")
    assert result is not None
    assert result.failed
