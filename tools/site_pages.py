"""For MkDocs: pages from the files at the top of the repository, and a menu that follows each folder's README."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
#: The page of a file at the top.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
#: A block of code with an arrow in it, and the size of a character in a picture of it.
_DIAGRAM = re.compile(r"^```(?:text)?\n((?:(?!```).*\n)*?(?!```).*──▶.*\n(?:(?!```).*\n)*?)```$", re.MULTILINE)
_COLUMN, _LINE = 8, 17
_ROW = re.compile(r"^\|.*`.*\|$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = [_entry(one) for one in config.nav or []]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_LINK.sub(_as_page, text)))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Files of the repository that are no pages are named, not linked. Who searches wants a guide, not its history."""
    if page.file.src_uri.startswith(("decisions/", "changes.md")):
        page.meta["search"] = {"boost": 0.3}
    here = (DOCS / page.file.src_uri).parent

    def unlink(link: re.Match[str]) -> str:
        target = link[2]
        inside = target.startswith(("http:", "https:", "#", "mailto:")) or (here / target).resolve().is_relative_to(
            DOCS
        )
        return link[0] if inside else link[1]

    return _DIAGRAM.sub(_drawn, _ROW.sub(_with_bars, re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", unlink, markdown)))


def _drawn(diagram: re.Match[str]) -> str:
    """A diagram of lines and arrows as a picture, which grows and shrinks with the page and has its colours."""
    lines = diagram[1].rstrip().split("\n")
    texts = "".join(
        f'<text x="{_COLUMN * (len(line) - len(line.lstrip()))}" y="{_LINE * number}" '
        f'textLength="{_COLUMN * len(line.strip())}">{escape(line.strip())}</text>'
        for number, line in enumerate(lines, 1)
        if line.strip()
    )
    box = f"0 0 {_COLUMN * max(map(len, lines))} {_LINE * len(lines) + 6}"
    return f'<div class="diagram"><svg viewBox="{box}" role="img" aria-label="diagram">{texts}</svg></div>'


def _with_bars(row: re.Match[str]) -> str:
    """Forges want a bar in a table's code with a backslash before it; here that would be shown."""
    parts = row[0].split("`")
    return "`".join(part.replace("\\|", "|") if at % 2 else part for at, part in enumerate(parts))


def _as_page(link: re.Match[str]) -> str:
    target, anchor = link[1], link[2] or ""
    return f"]({PAGES.get(target, target.removeprefix('docs/'))}{anchor})"


def _entry(entry: Any) -> Any:
    """``Title: folder`` becomes the folder's pages: its README, then what the README links to, in that order."""
    if not isinstance(entry, dict):
        return entry
    ((title, target),) = entry.items()
    return {title: _pages(target)} if isinstance(target, str) and (DOCS / target).is_dir() else entry


def _pages(folder: str) -> list[str]:
    every = [f"{folder}/{path.name}" for path in sorted((DOCS / folder).glob("*.md")) if path.name != "README.md"]
    readme = DOCS / folder / "README.md"
    if not readme.exists():
        return every
    linked = [f"{folder}/{target}" for target, _ in _LINK.findall(readme.read_text(encoding="utf-8"))]
    ordered = [page for page in dict.fromkeys(linked) if page in every]
    return [f"{folder}/README.md", *ordered, *(page for page in every if page not in ordered)]
