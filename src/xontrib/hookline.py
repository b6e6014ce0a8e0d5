"""hookline's hooks in one's own xonsh: ``xontrib load hookline``."""

from __future__ import annotations

import os
import sys
from typing import Any


def _load_xontrib_(xsh: Any, **_: Any) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]  xonsh calls it
    from hookline.shell.xonsh.start import load  # importing this module must stay cheap

    load(xsh, dict(os.environ), terminal=sys.stdin.isatty())
    return {}
