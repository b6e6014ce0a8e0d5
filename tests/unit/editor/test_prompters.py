"""Reaching a person: what they read, and who is asked in which order."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import msgpack
import pytest

from hookline.editor import desktop, nvim
from hookline.editor.prompters import PromptOutcome, ask, prompters, tell
from hookline.editor.question import Answer, PersonQuestion, Progress, UnavailableError

QUESTION = PersonQuestion(title="Allow?", message="rm -rf /", patience=5)
BEGIN = Progress(step="begin", token="t", title="Working")


class Here:
    """A way that leads to somebody who always says the same."""

    def __init__(self, answer: Answer | None = None, error: Exception | None = None) -> None:
        self.answer: Answer = answer or "refused"
        self.error = error
        self.asked = 0

    def ask(self, question: PersonQuestion) -> Answer:
        self.asked += 1
        if self.error:
            raise self.error
        return self.answer

    def pick(self, question: PersonQuestion) -> str:
        return question.options[-1] if self.ask(question) == "allowed" else ""

    def tell(self, progress: Progress) -> None:
        self.ask(QUESTION)


def gone(why: str) -> Here:
    return Here(error=UnavailableError(why))


def test_the_first_way_that_leads_to_a_person_decides() -> None:
    last = Here("allowed")
    assert ask(QUESTION, [gone("no editor"), Here("refused"), last]) == PromptOutcome(
        answer="refused", notes=("no editor",)
    )
    assert last.asked == 0


def test_a_choice_is_the_persons_or_none() -> None:
    question = PersonQuestion(title="Where?", message="", patience=5, options=("here", "there"))
    picked = PromptOutcome(answer="allowed", notes=("no editor",), choice="there")
    assert ask(question, [gone("no editor"), Here("allowed")]) == picked
    assert ask(question, [Here("refused")]) == PromptOutcome(answer="refused")


def test_who_does_not_answer_in_time_has_refused_and_is_not_asked_again() -> None:
    other = Here("allowed")
    outcome = ask(QUESTION, [Here(error=TimeoutError()), other])
    assert outcome == PromptOutcome(answer="refused", notes=("nobody answered within 5 s",))
    assert other.asked == 0


def test_nobody_is_never_yes() -> None:
    assert ask(QUESTION, [gone("a"), gone("b")]) == PromptOutcome(answer="unavailable", notes=("a", "b"))
    assert ask(QUESTION, []).answer == "unavailable"


def test_progress_is_told_once() -> None:
    first, second = Here("allowed"), Here("allowed")
    assert tell(BEGIN, [gone("x"), first, second]).answer == "allowed"
    assert (first.asked, second.asked) == (1, 0)


def test_neovim_goes_first_where_it_is_named() -> None:
    first, *others = prompters({"NVIM": "/x"})
    with pytest.raises(UnavailableError, match="Neovim does not answer at /x"):
        first.ask(QUESTION)
    assert (len(others), len(prompters({}))) == (2, 2)


# ── Neovim, from its other side ──────────────────────────────────────────────────────────────────────


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[tuple[str, list[bytes]]]:
    """Something at a socket that answers with the given bytes once it was asked."""
    path = str(tmp_path / "nvim.sock")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(1)
    answers: list[bytes] = []

    def serve() -> None:
        try:
            link, _ = server.accept()
        except OSError:
            return
        with link:
            link.recv(65536)
            for answer in answers:
                link.sendall(answer)
            link.recv(1)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield path, answers
    server.close()
    thread.join(2)


@pytest.mark.parametrize(
    ("said", "answer"), [(1, "allowed"), (2, "refused"), (0, "refused"), (None, "refused"), (True, "allowed")]
)
def test_only_the_first_button_allows(peer: tuple[str, list[bytes]], said: object, answer: str) -> None:
    path, answers = peer
    answers += [msgpack.packb([2, "redraw", []]), msgpack.packb([1, 1, None, said])]
    assert nvim.ask(path, QUESTION) == answer


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\xc1",
        b"\x91" * 5_000,
        b"\xdd\xff\xff\xff\xff\x01",
        b"HTTP/1.1 400 Bad Request\r\n" * 50,
        msgpack.packb([1, 1, [0, "E5108: no"], None]),
    ],
)
def test_what_is_not_neovim_is_passed_over(peer: tuple[str, list[bytes]], nonsense: bytes) -> None:
    path, answers = peer
    answers.append(nonsense)
    with pytest.raises((UnavailableError, TimeoutError)):
        nvim.ask(path, PersonQuestion(title="", message="", patience=0.5))


def test_a_silent_neovim_has_a_time_limit(peer: tuple[str, list[bytes]]) -> None:
    with pytest.raises(TimeoutError):
        nvim.ask(peer[0], PersonQuestion(title="", message="", patience=0.1))


@pytest.mark.parametrize(
    "address",
    ["/no/such/socket", "example.com:4711", "10.0.0.1:80", "nonsense", "localhost:x", "localhost:99999999", ":1", "\0"],
)
def test_only_our_own_machine_is_asked(address: str) -> None:
    with pytest.raises(UnavailableError):
        nvim.ask(address, QUESTION)


def test_text_is_an_argument_and_never_source(tmp_path: Path) -> None:
    """The very bytes: the Lua is constant, whatever the text."""
    seen: list[object] = []
    left, right = socket.socketpair()
    with left, right:
        right.sendall(msgpack.packb([1, 1, None, 2]))
        nvim._request(left, nvim.ASK, ["']] os.exit() --", '"); os.exit()'], 1)
        message = msgpack.unpackb(right.recv(65536))
        seen = message
    assert seen == [0, 1, "nvim_exec_lua", [nvim.ASK, ["']] os.exit() --", '"); os.exit()']]]


# ── the desktop ──────────────────────────────────────────────────────────────────────────────────────

STANDINS = Path(__file__).parents[2] / "standins" / "bin"


def desk_of(tmp_path: Path, *programs: str) -> dict[str, str]:
    for name in programs:
        (tmp_path / name).symlink_to(STANDINS / name)
    return {"DISPLAY": ":7", "PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin"}


@pytest.mark.parametrize(("code", "answer"), [("0", "allowed"), ("1", "refused")])
def test_a_dialog_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, answer: str) -> None:
    environ = desk_of(tmp_path, "zenity")
    monkeypatch.setenv("PATH", environ["PATH"])
    monkeypatch.setenv("STANDIN_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("STANDIN_EXIT_zenity", code)
    assert desktop.ask(QUESTION, environ) == answer
    assert "[--no-markup]" in (tmp_path / "log").read_text()


def test_a_dialog_that_breaks_has_not_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = desk_of(tmp_path, "zenity")
    monkeypatch.setenv("PATH", environ["PATH"])
    monkeypatch.setenv("STANDIN_EXIT_zenity", "5")
    with pytest.raises(UnavailableError, match="zenity failed with 5"):
        desktop.ask(QUESTION, environ)


@pytest.mark.skipif("sys.platform == 'darwin'", reason="macOS always has a desktop")
def test_without_a_display_there_is_no_desktop(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no desktop"):
        desktop.ask(QUESTION, {"PATH": "/usr/bin"})


def test_text_that_looks_like_html_is_shown_as_it_is() -> None:
    argv = desktop.ASKING["kdialog"]("T", '<b style="display:none">rm</b>\nx')
    assert argv[-1] == "<qt>&lt;b style=&quot;display:none&quot;&gt;rm&lt;/b&gt;<br>x</qt>"
    argv = desktop.ASKING["osascript"]('" & quit', '" & do shell script "x')
    assert argv[-2:] == ['" & quit', '" & do shell script "x']


def test_a_notification_is_sent_at_the_beginning_and_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = desk_of(tmp_path, "notify-send")
    monkeypatch.setenv("PATH", environ["PATH"])
    monkeypatch.setenv("STANDIN_LOG", str(tmp_path / "log"))
    for step in ("begin", "report", "end"):
        desktop.tell(Progress(step=step, token="t", title="Work"), environ)
    assert (tmp_path / "log").read_text().splitlines() == [
        "notify-send [--] [Work] [begin]",
        "notify-send [--] [Work] [end]",
    ]
