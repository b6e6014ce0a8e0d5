"""Who may look and who may act: one-time tokens, a cookie for each browser, a code for actions, and rate limits."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable

#: Wrong codes that are allowed within ``_PAUSE`` seconds; after that even the right one has to wait.
_WRONG_CODES = 5
_PAUSE = 60.0
#: Browsers that are known at a time; the oldest is forgotten.
_BROWSERS = 16


class Bucket:
    """At most ``burst`` at once and ``rate`` a second."""

    __slots__ = ("_burst", "_clock", "_left", "_rate", "_when")

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left, self._when = burst, clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._when) * self._rate)
        self._when = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Browser:
    """One browser that came with a token. ``may_act``: it has given the code."""

    __slots__ = ("may_act", "requests", "streams")

    def __init__(self, clock: Callable[[], float]) -> None:
        self.may_act = False
        self.streams = 0
        self.requests = Bucket(100, 400, clock)


class Access:
    """What this server has given out. Nothing of it is written anywhere."""

    def __init__(self, *, read_only: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.read_only = read_only
        digits = f"{secrets.randbelow(10**8):08d}"
        #: Shown in the terminal only.
        self.code = f"{digits[:4]} {digits[4:]}"
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: set[str] = set()
        self._browsers: dict[str, Browser] = {}
        self._wrong: list[float] = []
        #: For everybody without a cookie.
        self.strangers = Bucket(20, 60, clock)

    def new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens.add(_digest(token))
        return token

    def admit(self, token: str) -> str | None:
        """The cookie of a new browser; None for a token that is unknown or was used."""
        with self._lock:
            if _digest(token) not in self._tokens:
                return None
            self._tokens.discard(_digest(token))
            cookie = secrets.token_urlsafe(32)
            while len(self._browsers) >= _BROWSERS:
                del self._browsers[next(iter(self._browsers))]
            self._browsers[_digest(cookie)] = Browser(self._clock)
            return cookie

    def browser(self, cookie: str) -> Browser | None:
        return self._browsers.get(_digest(cookie)) if cookie else None

    def unlock(self, browser: Browser, code: str) -> str:
        """Why the code is not accepted; "" if this browser may act from now on."""
        if self.read_only:
            return "this view is read-only"
        now = self._clock()
        with self._lock:
            self._wrong = [when for when in self._wrong if when > now - _PAUSE]
            if len(self._wrong) >= _WRONG_CODES:
                return "too many wrong codes; wait a minute"
            given = "".join(char for char in code if char in "0123456789")
            if not hmac.compare_digest(given, self.code.replace(" ", "")):
                self._wrong.append(now)
                return "wrong code; it is shown in the terminal of hookline web"
            browser.may_act = True
            return ""


def _digest(text: str) -> str:
    """Looked up by digest: comparing the secrets themselves would take longer the more of them is right."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
