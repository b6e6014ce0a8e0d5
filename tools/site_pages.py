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
#: Who searches wants a guide, not a list of fields or the history.
_BOOST = (("reference/python.md", 0.3), ("decisions/", 0.3), ("changes.md", 0.3), ("reference/configuration.md", 8),
          ("how-to/guard.md", 6), ("how-to/extend.md", 0.5), ("how-to/release.md", 0.5), ("how-to/", 2), ("cookbook/", 2), ("from/", 2),
          ("tutorial/", 4), ("index.md", 6))  # fmt: skip
_IMAGE = re.compile(r'(<img [^>]*src="([^"]+)"[^>]*>)')
#: "timeout" is sought in the guides and the configuration, not among the fields of Python's classes.
_FIELD = re.compile(r'(<div class="doc doc-object doc-attribute">\s*<h\d)')
_LONG_CELL = re.compile(r"<td>(?=[^\n]{28})")
_SHORT = re.compile(r"<code>([^\n<]{1,24})</code>")
#: In a folder's README: "Every day:" above a list, or a link.
_GROUP = re.compile(r"^([A-Z][^\[\n]*):$|\]\(([^)\s#]+)", re.MULTILINE)
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
    """Files of the repository that are no pages are named, not linked."""
    page.meta["search"] = {"boost": next((boost for start, boost in _BOOST if page.file.src_uri.startswith(start)), 1)}
    if page.file.src_uri == "decisions/README.md":
        markdown += "".join(f"\n- [{_title(one)}]({one.name})" for one in sorted(DOCS.glob("decisions/0*.md")))
    here = (DOCS / page.file.src_uri).parent

    def unlink(link: re.Match[str]) -> str:
        target = link[2]
        inside = target.startswith(("http:", "https:", "#", "mailto:")) or (here / target).resolve().is_relative_to(
            DOCS
        )
        return link[0] if inside else link[1]

    return _DIAGRAM.sub(_drawn, _ROW.sub(_with_bars, re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", unlink, markdown)))


def on_page_content(html: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    html = _IMAGE.sub(r'<a class="picture" href="\2" title="Full size">\1</a>', html)
    html = _LONG_CELL.sub('<td class="text">', html)
    return _FIELD.sub(r"\1 data-search-exclude", _SHORT.sub(r'<code class="short">\1</code>', html))


def _drawn(diagram: re.Match[str]) -> str:
    """A diagram of lines and arrows as a picture, which grows and shrinks with the page and has its colours."""
    lines = diagram[1].rstrip().split("\n")
    texts = "".join(
        f'<text x="{_COLUMN * (len(line) - len(line.lstrip()))}" y="{_LINE * number}" '
        f'textLength="{_COLUMN * len(line.strip())}">{escape(line.strip())}</text>'
        for number, line in enumerate(lines, 1)
        if line.strip()
    )
    label = " ".join(re.findall(r"[\w./:,]+|▶", diagram[1]))
    box = f"0 0 {_COLUMN * max(map(len, lines))} {_LINE * len(lines) + 6}"
    return f'<div class="diagram"><svg viewBox="{box}" role="img" aria-label="diagram: {escape(label)}">{texts}</svg></div>'


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


def _pages(folder: str) -> list[Any]:
    every = dict.fromkeys(f"{folder}/{path.name}" for path in sorted((DOCS / folder).glob("*.md")))
    readme = f"{folder}/README.md"
    if readme not in every:
        return list(every)
    entries: list[Any] = [readme]
    group, _ = entries, every.pop(readme)
    for title, target in _GROUP.findall((DOCS / readme).read_text(encoding="utf-8")):
        if title:
            group = []
            entries.append({title: group})
        elif (page := f"{folder}/{target}") in every:
            group.append(page)
            del every[page]
    return [*entries, *every]


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
