"""A short run of ``make web-load``: events through the real daemon while the live page is open."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.web.conftest import CHROMIUM

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed here: make browser")
def test_the_page_keeps_up_and_holds_only_what_is_on_the_screen() -> None:
    words = ["--seconds", "2", "--rate", "200", "--round", "1", "--rest", "3", "--records", "20000"]
    done = subprocess.run(
        [sys.executable, "-m", "tools.web_load", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    # 3: slower than it should be, which is for make web-load to say.
    assert done.returncode in {0, 3}, done.stderr
    report = json.loads(done.stdout)
    assert report["scroll"]["rows"] == 20_000
    assert report["scroll"]["elements"] < 100
    assert report["show_ms"]["shown"] > 0
    assert report["memory_mb"]["renderer"] < 300
    assert report["decision_ms"]["page_open"]["n"] == report["decision_ms"]["page_stopped"]["n"] == 400
