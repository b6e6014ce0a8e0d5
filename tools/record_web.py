"""Take the manual's pictures of the view: the real server on a made-up record, a real browser."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from tests.web.conftest import CHROMIUM, CONFIG, fill, start

_IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "webshop")
        for one in (home / "state", project / ".git", project / ".hookline"):
            one.mkdir(parents=True)
        (project / ".hookline" / "hookline.toml").write_text(CONFIG, encoding="utf-8")
        fill(home / "state", str(project), 200)
        web = start(home, project, "--no-browser")
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
                page = browser.new_page(viewport={"width": 1180, "height": 640}, color_scheme="light")
                page.goto(web.address)
                page.locator(".row:not(.blank)").first.wait_for()
                page.screenshot(path=_IMAGES / "web-live.png")
                page.goto(f"{web.origin}/live?effect=deny&text=rm")
                page.locator(".row:not(.blank)").first.click()
                page.locator(".step.deny").first.wait_for()
                page.screenshot(path=_IMAGES / "web-event.png")
                browser.close()
        finally:
            web.end()


if __name__ == "__main__":
    main()
