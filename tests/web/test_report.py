"""The report is one file that needs nothing else, and in which every text is text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

from tests.web.conftest import fill, record

from hookline.core._dataclass import replace
from hookline.state.record.store import Store


def test_a_report_is_one_file_without_scripts(place: tuple[Path, Path]) -> None:
    home, project = place
    fill(home / "state", str(project), 60)
    store = Store(str(home / "state" / "hookline.db"))
    import time

    store.write(record(3, time.time(), str(project), command="rm -rf '</code><script>alert(1)</script>'"))
    again = record(3, time.time(), str(project), command="rm -rf a-replay")
    store.write(replace(again, event=replace(again.event, session="replay:1")))
    store.close()
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "report", "--since", "7d", "--html", "r.html"], cwd=project, text=True,
        capture_output=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "HOOKLINE_STATE_DIR": str(home / "state")},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "Wrote r.html\n"), done.stderr
    text = (project / "r.html").read_text()
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    Reader().feed(text)
    assert {tag for tag, _ in tags} & {"script", "link", "img", "iframe"} == set()
    assert not [values for _, values in tags if {"src", "href"} & values.keys()]
    assert "Refused by no-rm" in text
    assert "a-replay" not in text
    assert not re.search(r"url\(", text)
