"""Writes the matrix of docs/reference/agents.md from docs/reference/agents.json, which ``make e2e`` leaves behind.

With ``--check`` nothing is written, and the exit code says whether the page is what the results say.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookline.core.agents import AGENTS, UNPROVEN
from hookline.dialects import dialect_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
RESULTS, COST, PAGE = REFERENCE / "agents.json", REFERENCE / "agents-cost.json", REFERENCE / "agents.md"
_BLOCK = re.compile(r"(<!-- from agents\.json -->\n)(.*?)(<!-- end of agents\.json -->)", re.DOTALL)

WORDS = {"yes": "yes", "no": "no", "failed": "**fails**", "untested": "not tested"}


def matrix(results: Mapping[str, Any]) -> str:
    """The table, what its numbers mean, the versions, the costs, and the agents that could not be run."""
    notes: dict[str, int] = {}
    rows = [_row(name, claim, results["agents"], notes) for name, claim in results["capabilities"].items()]
    names = [row["agent"] for row in results["agents"]]
    head = [f"| what | {' | '.join(names)} |", f"| --- |{' --- |' * len(names)}"]
    told = [f"{number}. {note}" for note, number in notes.items()]
    lines = ["## What works in which agent", "", *head, *rows, "", *told, ""]
    lines += [*_versions(results["agents"]), "", *_costs(), "", *_by_documents()]
    return "\n".join(lines) + "\n"


COLUMNS = (
    "version", "date", "none", "plain", "hookline", "ratio", "python_plain", "python_hookline", "python_functions",
)  # fmt: skip


def _costs() -> Iterator[str]:
    """What ``make bench-agents`` measured."""
    cost = json.loads(COST.read_text(encoding="utf-8"))
    yield "## What a tool call costs"
    yield ""
    yield "In milliseconds, from one tool call to the next: without hooks, with ten small programs in `sh` (five guards, five"
    yield "observers), and with five guards in Python, which hookline runs as the same scripts or as functions. *Plain* means"
    yield "registered with the agent itself. An agent that has only plugins cannot run plain hooks; there the ratio is to no hooks."
    yield f"Median of 30 calls on {cost['cores']} cores (`make bench-agents`)."
    yield ""
    yield "| agent | version | measured | no hooks | ten, plain | ten, hookline | ratio | Python, plain | Python, hookline | as functions |"
    yield f"|{' --- |' * 10}"
    for row in cost["agents"]:
        yield f"| `{row['agent']}` | {' | '.join(str(row.get(column, '-')) for column in COLUMNS)} |"


def _by_documents() -> Iterator[str]:
    """Agents that could not be run here, and what their documents say."""
    yield "## Agents that are followed by their documents"
    yield ""
    yield "These agents could not be run here: most want an account before anything starts. What hookline does with them"
    yield f'follows their documents, and `deploy` and `doctor` say so ("{UNPROVEN}"):'
    yield ""
    yield "| agent | a deny blocks | a rewrite runs | can ask | context reaches the model | proof |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for agent in AGENTS.values():
        if agent.label:
            told: Any = dialect_named(agent.dialect).replies  # type: ignore[attr-defined]  # these are tables
            cells = [", ".join(getattr(told, part)) or "no" for part in ("deny", "rewrite", "ask", "context")]
            yield f"| `{agent.name}` | {' | '.join(cells)} | {agent.label} |"


def _versions(rows: list[Mapping[str, Any]]) -> Iterator[str]:
    yield "## Versions that were tried"
    yield ""
    yield "| agent | version | tried on | system | with hookline |"
    yield "| --- | --- | --- | --- | --- |"
    for row in rows:
        # The oldest of its results: what is new must not make what is old look new.
        date = min((cell["date"] for cell in row["capabilities"].values() if cell["date"]), default="never")
        yield f"| `{row['agent']}` | {row['version']} | {date} | {row['system']} | {row['hookline']} |"


def _row(name: str, claim: str, rows: list[Mapping[str, Any]], notes: dict[str, int]) -> str:
    cells = [_cell(row["capabilities"].get(name, {"result": "untested", "note": ""}), notes) for row in rows]
    return f"| {claim} | {' | '.join(cells)} |"


def _cell(cell: Mapping[str, str], notes: dict[str, int]) -> str:
    note = cell["note"]
    number = f" ({notes.setdefault(note, len(notes) + 1)})" if note else ""
    return f"{WORDS[cell['result']]}{number}"


def current(page: str, results: Mapping[str, Any]) -> str:
    """The page with the matrix that belongs into it."""
    return _BLOCK.sub(lambda found: f"{found[1]}{matrix(results)}{found[3]}", page)


def main(words: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    wanted = current(page, json.loads(RESULTS.read_text(encoding="utf-8")))
    if "--check" in words:
        if page != wanted:
            print(f"{PAGE} is not what {RESULTS} says: run make docs")
        return int(page != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
