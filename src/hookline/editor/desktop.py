"""A desktop dialog: zenity, kdialog or macOS. Text is passed as an argument, not as markup."""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

from hookline.editor.question import Answer, PersonQuestion, Progress, UnavailableError

_APPLE_ASK = (
    "on run argv",
    'display dialog (item 2 of argv) with title (item 1 of argv) buttons {"Deny", "Allow"} cancel button "Deny"',
    "end run",
)
_APPLE_TELL = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")


def _apple(script: tuple[str, ...], title: str, message: str) -> list[str]:
    return ["osascript", *(word for line in script for word in ("-e", line)), title, message]


#: Program -> its command line for a question. Each exits with 0 for yes.
ASKING: Mapping[str, Callable[[str, str], list[str]]] = MappingProxyType(
    {
        "zenity": lambda title, message: [
            "zenity", "--question", "--no-markup", "--default-cancel", "--ok-label=Allow", "--cancel-label=Deny",
            f"--title={title}", f"--text={message}",
        ],
        # It detects HTML in plain text, so it gets escaped HTML.
        "kdialog": lambda title, message: [
            "kdialog", "--title", title, "--yesno", f"<qt>{html.escape(message).replace(chr(10), '<br>')}</qt>",
        ],
        "osascript": lambda title, message: _apple(_APPLE_ASK, title, message),
    }
)  # fmt: skip

_PICKING: Mapping[str, Callable[[str, tuple[str, ...]], list[str]]] = MappingProxyType(
    {
        "zenity": lambda title, options: ["zenity", "--list", "--hide-header", "--column=", f"--title={title}", "--", *options],
        "kdialog": lambda title, options: [
            "kdialog", "--title", title, "--menu", html.escape(title), *(word for one in options for word in (one, one)),
        ],
    }
)  # fmt: skip

_TELLING: Mapping[str, Callable[[str, str], list[str]]] = MappingProxyType(
    {
        "notify-send": lambda title, message: ["notify-send", "--", title, html.escape(message)],
        "osascript": lambda title, message: _apple(_APPLE_TELL, title, message),
    }
)


def ask(question: PersonQuestion, environ: Mapping[str, str]) -> Answer:
    """Closing the dialog refuses."""
    program = _find_program(ASKING, environ)
    return "allowed" if _run(ASKING[program](question.title, question.message), question)[0] else "refused"


def pick(question: PersonQuestion, environ: Mapping[str, str]) -> str:
    program = _find_program(_PICKING, environ)
    chosen, output = _run(_PICKING[program](question.title, question.options), question)
    return output.removesuffix("\n") if chosen else ""


def _run(argv: list[str], question: PersonQuestion) -> tuple[bool, str]:
    """Whether the person said yes, and what the dialog printed."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=question.patience, check=False
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    except OSError as error:
        raise UnavailableError(f"{argv[0]} cannot be started: {error.strerror}") from None
    if done.returncode in {0, 1}:
        return done.returncode == 0, done.stdout.decode("utf-8", "replace")
    output = done.stderr.decode("utf-8", "replace").strip()
    raise UnavailableError(f"{argv[0]} failed with {done.returncode}: {output[:200]}")


def tell(progress: Progress, environ: Mapping[str, str]) -> None:
    """Only begin and end: a desktop shows every message in a separate window."""
    program = _find_program(_TELLING, environ)
    if progress.step == "report":
        return
    argv = _TELLING[program](progress.title or "hookline", progress.message or progress.step)
    try:
        subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(f"{program} cannot be used: {error}") from None


def _find_program(table: Mapping[str, object], environ: Mapping[str, str]) -> str:
    if sys.platform != "darwin" and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        raise UnavailableError("there is no desktop (neither DISPLAY nor WAYLAND_DISPLAY is set)")
    path = environ.get("PATH")
    program = next((one for one in table if shutil.which(one, path=path)), "")
    if not program:
        raise UnavailableError(f"none of {', '.join(table)} is installed")
    return program
