"""Runs the suite under coverage, with every program that it starts, and prints what was reached.

usage: python tools/cover.py [ARGUMENTS OF PYTEST]

Most tests run ``hookline`` as a program, in an environment of its own: a variable would not reach it. So while the
suite runs, a ``.pth`` file in the virtual environment starts coverage in every Python of it. What is lost is what was
killed, and the client that runs without site-packages.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, cast

from coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "build" / "coverage"
START = Path(sysconfig.get_path("purelib"), "hookline_coverage.pth")
#: The variable is how coverage is told; programs under test must not see it.
PROGRAM = """\
import os
os.environ["COVERAGE_PROCESS_START"] = {settings!r}
try:
    import coverage
    coverage.process_startup()
finally:
    del os.environ["COVERAGE_PROCESS_START"]
"""


def main(words: Sequence[str]) -> int:
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    settings = DATA / "settings.toml"
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings.write_text(
        text.replace("[tool.coverage.run]", f"[tool.coverage.run]\ndata_file = '{DATA}/data'"), encoding="utf-8"
    )
    START.write_text(f"import sys; exec({PROGRAM.format(settings=str(settings))!r})\n", encoding="utf-8")
    try:
        code = subprocess.run([sys.executable, "-m", "pytest", "-n", "2", *words], cwd=ROOT, check=False).returncode
    finally:
        START.unlink()
    total = Coverage(config_file=settings)
    total.combine([str(DATA)])
    # What no test has imported counts as well.
    total.get_data().touch_files([str(path) for path in (ROOT / "src").rglob("*.py")])
    reached = total.report()
    return code or int(reached < cast("float", total.get_option("report:fail_under")))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
