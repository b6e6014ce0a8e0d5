"""A real terminal: tmux with a server of its own, one window, and real key presses."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.shell.house import BIN, House
from tests.shell.tmux import Tmux

PROMPT = "READY>"


class Terminal:
    """``keys`` presses, ``wait`` watches until something is so; nothing sleeps for a fixed time."""

    def __init__(self, house: House, argv: list[str] | None = None) -> None:
        self.house = house
        house.write()
        rc = house.root / "rc.xsh"
        if not rc.exists():
            rc.write_text(f"$PROMPT = '{PROMPT} '\n$XONSH_SHOW_TRACEBACK = False\n$XONSH_PROMPT_AUTO_SUGGEST = False\n")
        words = argv or [str(BIN / "hookline"), "shell", "--", "--rc", str(rc)]
        environ = [f"{name}={value}" for name, value in house.environ().items()]
        self._tmux = Tmux(house.root, (110, 40), house.work, ["env", "-i", *environ, *words])

    def keys(self, *names: str) -> Terminal:
        self._tmux("send-keys", *names)
        return self

    def type(self, text: str) -> Terminal:
        # A semicolon at the end would separate commands of tmux.
        self._tmux("send-keys", "-l", f"{text[:-1]}\\;" if text.endswith(";") else text)
        return self

    def line(self, text: str) -> Terminal:
        """Type it, see it where the line is edited (the same may stand above), and press Enter."""
        self.type(text)
        self.wait(lambda: "".join(self.screen().splitlines()[-2:]).endswith(text[-30:].rstrip()))
        return self.keys("Enter")

    def screen(self) -> str:
        return self._tmux.screen()

    def last(self) -> str:
        return (self.screen().splitlines() or [""])[-1]

    def wait(self, so: Callable[[], Any], seconds: float = 60) -> Any:
        until = time.monotonic() + seconds
        while not (found := so()):
            if time.monotonic() > until:
                shown, heard = self.screen(), self.house.heard()[-8:]
                message = f"it never was so; the screen:\n{shown}\nheard: {heard}\n{self._tmux.processes()}"
                raise AssertionError(message)
            time.sleep(0.03)
        return found

    def ready(self, prompt: str = PROMPT) -> Terminal:
        """At an empty prompt."""
        self.wait(lambda: re.fullmatch(re.escape(prompt), self.last()))
        return self

    def shows(self, text: str) -> str:
        self.wait(lambda: text in self.screen())
        return self.screen()

    def hears(self, event: str, count: int = 1, **fields: Any) -> dict[str, Any]:
        """Waits until the plugin was told of this; the latest such data."""

        def found() -> list[dict[str, Any]]:
            told = self.house.told(event)
            fit = [one for one in told if all(one.get(name) == value for name, value in fields.items())]
            return fit if len(fit) >= count else []

        latest: dict[str, Any] = self.wait(found)[-1]
        return latest

    def close(self) -> None:
        self._tmux.close()


def rc_file(house: House, text: str) -> Path:
    path = house.root / "rc.xsh"
    path.write_text(
        f"$PROMPT = '{PROMPT} '\n$XONSH_SHOW_TRACEBACK = False\n$XONSH_PROMPT_AUTO_SUGGEST = False\n{text}\n"
    )
    return path
