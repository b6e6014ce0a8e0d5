"""A short run of ``make web-load``: events through the real daemon while the live page is open."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from tests.web.conftest import CHROMIUM


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed here: make browser")
def test_the_page_keeps_up_and_holds_only_what_is_on_the_screen(tmp_path: Path) -> None:
    pytest.importorskip("playwright.sync_api")
    from tools.web_load import _measure

    report = _measure(tmp_path, argparse.Namespace(seconds=2, rate=200, round=1, records=20_000))
    assert report["scroll"]["rows"] == 20_000
    assert report["scroll"]["elements"] < 100
    assert report["show_ms"]["shown"] > 0
    assert report["memory_mb"]["renderer"] < 300
    assert report["decision_ms"]["page_open"]["n"] == report["decision_ms"]["page_stopped"]["n"] == 400
