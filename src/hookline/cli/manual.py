"""The manual in the terminal: ``hookline help TOPIC`` shows the page that the site shows."""

from __future__ import annotations

import os
import re
import sys

import hookline
from hookline.cli.output import did_you_mean
from hookline.core.errors import UsageError

_PACKAGE = os.path.dirname(os.path.abspath(hookline.__file__))
#: In a wheel, and in a clone.
_ROOTS = (os.path.join(_PACKAGE, "manual"), os.path.join(os.path.dirname(os.path.dirname(_PACKAGE)), "docs"))
#: What is looked for first when only the last part of a page's name is given.
_PARTS = ("how-to", "tutorial", "cookbook", "from", "explanation", "reference")


_LINK = re.compile(r"!?\[([^\]]*)\]\((?!https?:)([^)\s#]*)(?:#[^)\s]*)?\)")
#: What the site shows from the source: a name, and options.
_ENTRY = re.compile(r"^::: hookline\.(\w+)\n(?: .*\n)*", re.MULTILINE)


def show_page(topic: str) -> int:
    """Print the page about a topic, or what there is."""
    pages = _pages()
    wanted = topic.strip("/").removesuffix(".md").lower()
    if wanted == "topics" or wanted in _PARTS:
        listed = {name: path for name, path in pages.items() if wanted in {"topics", name.partition("/")[0]}}
        print("\n".join(f"  {name:<34}{_title(path)}" for name, path in listed.items()))
        return 0
    found = [name for name in pages if wanted in {name, name.rpartition("/")[2]}]
    found = found or [name for name, path in pages.items() if wanted in _title(path).lower()]
    if not found:
        hint = did_you_mean(topic, [name.rpartition("/")[2] for name in pages]) or _mentions(wanted, pages)
        raise UsageError(f"there is no command or page {topic!r}{hint} All pages: hookline help topics")
    _print_markdown(_ENTRY.sub(_describe, _text(pages[found[0]])), found[0].partition("/")[0])
    if others := found[1:]:
        print(f"\nSee also: {', '.join(f'hookline help {name}' for name in others[:5])}")
    return 0


def topics() -> list[str]:
    """What can be typed after ``hookline help``: parts, and pages by their short names and by their whole ones."""
    pages = list(_pages())
    return ["topics", *_PARTS, *(name.rpartition("/")[2] for name in pages), *pages]


def _mentions(wanted: str, pages: dict[str, str]) -> str:
    """The pages that speak of it most."""
    counts = {name: _text(path).lower().count(wanted) for name, path in pages.items()}
    most = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])[:3]
    return f"; it is mentioned in: {', '.join(f'hookline help {name}' for name in most)}." if most else "."


def _describe(entry: re.Match[str]) -> str:
    about = (getattr(hookline, entry[1]).__doc__ or "").partition("\n")[0]
    return f"- `hookline.{entry[1]}`: {about} More: `python -m pydoc hookline.{entry[1]}`\n"


def has_page(topic: str) -> str:
    """The page of the same name as a command; "" if there is none."""
    return next((name for name in _pages() if name.rpartition("/")[2] == topic), "")


def _pages() -> dict[str, str]:
    """Name, such as how-to/guard, to path."""
    root = next((path for path in _ROOTS if os.path.isdir(path)), "")
    found: dict[str, str] = {}
    for part in _PARTS if root else ():
        folder = os.path.join(root, part)
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if file.endswith(".md") and file != "README.md":
                found[f"{part}/{file.removesuffix('.md')}"] = os.path.join(folder, file)
    return found


def _title(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _print_markdown(text: str, folder: str) -> None:
    """At a terminal in a pager, with colours if the library for them is there; as it is written otherwise."""
    if not sys.stdout.isatty():
        print(text, end="")
        return
    os.environ.setdefault("LESS", "FRX")  # as git does: a page that fits is only printed
    text = _LINK.sub(lambda link: _as_command(link, folder), text)
    try:
        from rich.console import Console
        from rich.markdown import Markdown
    except ImportError:
        import pydoc  # what rich uses, too

        pydoc.pager(text)
    else:
        console = Console()
        with console.pager(styles=True):
            console.print(Markdown(text, hyperlinks=False))


def _as_command(link: re.Match[str], folder: str) -> str:
    """A link to another page as the command that shows it; a picture is left out."""
    if link[0].startswith("!"):
        return ""
    page = os.path.normpath(os.path.join(folder, link[2])).removesuffix(".md")
    return f"{link[1]} (`hookline help {page}`)" if link[2].endswith(".md") and page in _pages() else link[1]
