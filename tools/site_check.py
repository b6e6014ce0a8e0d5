"""Checks a built site: every link and anchor inside it leads somewhere, no page loads anything from elsewhere, and every
list is one."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that a browser follows by itself when it shows a page.
_LOADING = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}
#: Links that only name something.
_NAMES = {"canonical", "alternate", "next", "prev", "license"}
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
#: Forges take it for an item of a list, and MkDocs for the text above it, if that is not indented by four spaces.
_ITEM = re.compile(r"\n *(?:[-*]|\d+\.) \S.*")


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.lost_items = [item[0].strip() for one in _PARAGRAPH.findall(text) for item in _ITEM.finditer(one)]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids.update(value for name in ("id", "name") if (value := values.get(name)))
        for name, value in attrs:
            if not value:
                continue
            if (tag, name) in _LOADING and values.get("rel") not in _NAMES:
                self.loads.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


def problems(root: Path) -> list[str]:
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    found = []
    for path, page in pages.items():
        place = path.relative_to(root.resolve())
        found += [f"{place} loads {one}" for one in page.loads if urlsplit(one).netloc]
        found += [f"{place} shows this item of a list as text: {one[:60]}" for one in page.lost_items]
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            base = root / "." if parts.path.startswith("/") else path.parent  # the 404 page does not know where it is
            target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{place} links to {link}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                found.append(f"{place} links to {link}: no such heading")
    return sorted(set(found))


if __name__ == "__main__":
    errors = problems(Path(sys.argv[1]))
    sys.exit("\n".join(errors) if errors else 0)
