"""What models cost is counted, summed by who asked, and capped for a day."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookline.core.settings import Limits
from hookline.llm.spending import CapReachedError, check_cap, note_usage, usage_today

USAGE = {"model": "x", "requests": 2, "input_tokens": 900, "output_tokens": 100, "cost_usd": 0.25}


def test_every_question_is_summed_by_who_asked(tmp_path: Path) -> None:
    state = str(tmp_path)
    assert usage_today(state).requests == 0
    note_usage(state, "judge", USAGE)
    note_usage(state, "distiller", {"input_tokens": 10, "output_tokens": 5, "secret": "not kept"})
    total = usage_today(state)
    assert (total.requests, total.tokens, total.cost_usd) == (3, 1015, 0.25)
    assert {who: one.tokens for who, one in total.by.items()} == {"judge": 1000, "distiller": 15}
    assert str(total) == "3 model requests, 1015 tokens, $0.2500"
    (file,) = (tmp_path / "spending").iterdir()
    assert "not kept" not in file.read_text()


@pytest.mark.parametrize(
    ("limits", "reached"),
    [
        (Limits(), False),
        (Limits(model_tokens_per_day=1001), False),
        (Limits(model_tokens_per_day=1000), True),
        (Limits(model_usd_per_day=0.25), True),
        (Limits(model_usd_per_day=0.26), False),
    ],
)
def test_a_cap_is_for_a_day(tmp_path: Path, limits: Limits, reached: bool) -> None:
    note_usage(str(tmp_path), "judge", USAGE)
    if reached:
        with pytest.raises(CapReachedError, match="before tomorrow"):
            check_cap(str(tmp_path), limits)
    else:
        check_cap(str(tmp_path), limits)
    (file,) = (tmp_path / "spending").iterdir()
    file.rename(file.with_name("2020-01-01.jsonl"))
    check_cap(str(tmp_path), limits)


def test_a_broken_line_costs_only_itself_and_a_full_disk_nothing(tmp_path: Path) -> None:
    note_usage(str(tmp_path), "judge", USAGE)
    (file,) = (tmp_path / "spending").iterdir()
    file.write_text(file.read_text() + '{"half": \n[]\n' + json.dumps({"who": "x", "input_tokens": "many"}) + "\n")
    assert usage_today(str(tmp_path)).tokens == 1000
    blocked = tmp_path / "file"
    blocked.write_text("")
    note_usage(str(blocked), "judge", USAGE)
    note_usage("", "judge", USAGE)
