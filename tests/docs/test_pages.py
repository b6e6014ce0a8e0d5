"""Every page of the manual is done as a reader would do it, from top to bottom, in a project of its own.

- A block whose paragraph before it begins with a path in backticks is that file.
- ``sh`` blocks are typed line by line. A line must end with exit code 0, or with N where it says ``# exit N``.
  Asked whether to trust, the reader says yes; ``--follow`` is not waited for; ``make`` must know its target.
- A ``text`` block after commands is what they print: every line of it must be among their output, where digits stand
  for any digits and … for anything.
- ``python`` blocks are run; other ``toml`` blocks are checked, and other ``json`` blocks must be JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hookline.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts)]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
FENCE = re.compile(r"(?m)^```(\w+)[^\n]*\n(.*?)^```$", re.DOTALL)
NAMED = re.compile(r"(?:^|\n\n)`([\w./~-]+)`[^`\n]*(?:[^\n]|\n(?!\n))*\n\n$")
EXIT = re.compile(r"#.*\bexit (\d+)")
NEEDS_A_SHELL = re.compile(r"[|<>&;$`]")
#: What a reader does once, outside of a project.
ELSEWHERE = ("pip ", "eval ", "git clone")


@dataclass
class Reader:
    """Somebody with a home and an empty project, who reads one page."""

    home: Path
    here: Path
    shown: str = ""
    ran: list[str] = field(default_factory=list)

    def file(self, name: str, text: str) -> None:
        path = Path(name.replace("~", str(self.home), 1)) if name.startswith("~") else self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def type(self, block: str) -> None:
        self.shown = ""
        for line in joined(block):
            self.line(line)

    def line(self, line: str) -> None:
        expected = int(found[1]) if (found := EXIT.search(line)) else 0
        if line.startswith("make "):
            assert re.search(rf"(?m)^{shlex.split(line, comments=True)[1]}:", (ROOT / "Makefile").read_text("utf-8"))
            return
        if line.startswith("cd "):
            self.here = self.here / line.split()[1]
            os.chdir(self.here)
            return
        if line.startswith(ELSEWHERE):
            return
        line = line.replace("hookline log --follow", "hookline log")
        words = shlex.split(line, comments=True)
        if words == ["hookline", "trust"]:
            words, line = [*words, "--yes"], "hookline trust --yes"
        code, printed = self.run(line, words)
        self.ran.append(line)
        self.shown += printed
        assert code == expected, f"{line}\nended with {code}, not {expected}:\n{printed}"

    def run(self, line: str, words: list[str]) -> tuple[int, str]:
        plain = NEEDS_A_SHELL.search(re.sub(r"'[^']*'", "", line.partition(" #")[0])) is None
        if words[0] == "hookline" and plain:
            return in_process(words[1:])
        done = subprocess.run(
            ["/bin/sh", "-c", line], cwd=self.here, capture_output=True, text=True, timeout=200, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def expect(self, sample: str) -> None:
        for line in filter(None, map(str.strip, sample.splitlines())):
            assert re.search(loosely(line), self.shown), f"{line}\nis not in what was printed:\n{self.shown}"

    def python(self, source: str) -> None:
        printed, known = io.StringIO(), set(sys.modules)
        sys.path.insert(0, str(self.here))
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(source, "page.py", "exec"), {"__name__": "__main__"})
        finally:
            sys.path.remove(str(self.here))
            # Another page may have a module of the same name.
            for name in set(sys.modules) - known:
                if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(self.here)):
                    del sys.modules[name]
        self.shown = printed.getvalue()

    def toml(self, text: str) -> None:
        self.file("page.toml", text)
        code, printed = in_process(["check", "--config", "page.toml"])
        assert code == 0, printed


def in_process(words: list[str]) -> tuple[int, str]:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(words)
    out.seek(0)
    return code, out.read()


def joined(block: str) -> list[str]:
    """Commands of a block: a line that ends with a backslash goes on."""
    lines = block.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def loosely(line: str) -> str:
    parts = [re.escape(part) for part in re.split(r"\s+", line)]
    pattern = re.sub(r"\d+", r"\\d+", r"\s+".join(parts))
    return pattern.replace("…", ".*")


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Language, name of the file or "", and body, in order."""
    found = []
    for one in FENCE.finditer(text):
        named = NAMED.search(text[: one.start()])
        found.append((one[1], named[1] if named else "", one[2]))
    return found


@pytest.fixture
def reader(tmp_path, monkeypatch):
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    (project / ".git").mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(("HOOKLINE", "XDG_", "LECTIC", "LH_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(project)
    return Reader(home=home, here=project)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_done_as_it_is_written(page, reader):
    for language, name, body in blocks(page.read_text(encoding="utf-8")):
        if name and language != "text":
            reader.file(name, body)
        elif language == "sh":
            reader.type(body)
        elif language == "text" and reader.shown:
            reader.expect(body)
        elif language == "python":
            reader.python(body)
        elif language == "toml":
            reader.toml(body)
        elif language == "json":
            json.loads(body)


def test_each_of_thirty_recipes_shows_what_its_hook_does():
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "cookbook").glob("*.md")]
    recipes = [recipe for page in pages for recipe in re.split(r"(?m)^## ", page)[1:]]

    assert len(recipes) >= 30
    assert [one.partition("\n")[0] for one in recipes if not ("# exit 1" in one or "```text" in one)] == []


@pytest.mark.parametrize("page", [*PAGES, *DECISIONS], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    for target in targets:
        path, _, anchor = target.partition("#")
        if path.startswith(("http:", "https:")):
            continue
        linked = page if not path else (page.parent / path)
        assert linked.exists(), f"{page} links to {target}, which is not there"
        if anchor and linked.suffix == ".md":
            assert anchor in anchors(linked.read_text(encoding="utf-8")), f"{page} links to {target}: no such heading"


@pytest.mark.parametrize("page", [*PAGES, *DECISIONS], ids=lambda page: str(page.relative_to(ROOT)))
def test_source_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    files = re.findall(r"\b(?:src|tests|tools|bench)/[\w/]+\.\w+", text)
    assert [name for name in files if not (ROOT / name).exists()] == []
    modules = re.findall(r"`(hookline\.(?:[a-z_]+\.)*[a-z_]+)(?:\.[A-Z]\w*)?`", text)
    modules = [name for name in modules if name.rpartition(".")[2] not in {"toml", "schema", "db", "json"}]
    assert [name for name in modules if not is_module(name)] == []


def is_module(name: str) -> bool:
    """A module, or a name inside of one."""
    for dotted in (name, name.rpartition(".")[0]):
        path = ROOT / "src" / dotted.replace(".", "/")
        if dotted != "hookline" and (path.is_dir() or path.with_suffix(".py").exists()):
            return True
    return False


def anchors(text: str) -> set[str]:
    headings = re.findall(r"(?m)^#+ (.+)$", FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("folder", ["tutorial", "how-to", "explanation", "reference"])
def test_every_page_is_in_an_index(folder):
    pages = {path.name for path in (ROOT / "docs" / folder).glob("*.md")} - {"README.md"}
    index = ROOT / "docs" / folder / "README.md" if folder != "tutorial" else ROOT / "README.md"
    text = index.read_text(encoding="utf-8")
    assert not [page for page in pages if page not in text]
