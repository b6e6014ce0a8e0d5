"""Starting our own programs: nothing that a repository can set or bring along decides which code that is.

A variable such as ``PYTHONPATH``, ``HOME`` (the person's own packages are below it) or ``PATH``, and a folder named
``hookline`` in the current directory, must not add code to hookline.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: What runs hookline itself: ``python -I MAIN hook …``.
MAIN = os.path.join(_PACKAGE, "__main__.py")

_SYSTEM = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin")


def module_command(module: str) -> list[str]:
    """The command line that runs one of our modules."""
    # An isolated Python leaves out the person's own packages, and hookline may be one of them.
    code = (
        f"try:\n import hookline\nexcept ImportError:\n import site\n site.addsitedir({os.path.dirname(_PACKAGE)!r})\n"
        f"import runpy\nrunpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    )
    return [sys.executable, "-I", "-c", code]


def system_program(name: str, environ: Mapping[str, str]) -> str:
    """A program that hookline itself uses: the system's, else one in an absolute directory of PATH; "" if there is none."""
    named = environ.get("PATH", os.defpath).split(os.pathsep)
    for folder in (*_SYSTEM, *(folder for folder in named if os.path.isabs(folder))):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return ""
