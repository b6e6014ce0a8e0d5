"""What it means for the queue that a model gave no answer: whose fault it is, and when to ask again.

Three kinds. The task's own: it is tried again, and given up in the end. The moment's (too many requests, an overloaded
server, no network): no task is to blame, and nobody is asked until the moment has passed. The person's (no key, a wrong
one, no such model, an empty purse): asking again brings nothing before somebody has mended it, so the queue waits.
"""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from hookline.core.errors import HooklineError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Seconds that nobody asks again by itself after a refusal that only a person can mend.
_MENDING = 60.0
#: Seconds that a server can make us wait.
MAX_WAIT = 3600.0


class ModelFailedError(HooklineError):
    """No answer; another try may bring one. ``wait``: seconds that whoever was asked wants to be left alone, or 0."""

    def __init__(self, text: str, *, wait: float = 0.0) -> None:
        super().__init__(text)
        self.wait = min(max(wait, 0.0), MAX_WAIT)


class ModelBusyError(ModelFailedError):
    """Nobody is answered at this moment: no task is to blame, and the others need not try either."""


class ModelSetupError(ModelFailedError):
    """No answer, and no other try will bring one before a person has changed something: the queue waits.

    ``wait`` is 0 where nobody had to be asked to find that out.
    """


#: What to do about them; a server that sends us elsewhere, and 405, are asked at the wrong address.
_MEND: Mapping[int, str] = {
    401: "its key is missing or wrong",
    402: "there is no credit",
    403: "its key may not use this model",
    404: "it has no such model, or base_url is wrong",
    405: "base_url is wrong",
    407: "the proxy wants a password",
    410: "the model is gone",
}
_LATER = frozenset({408, 425, 429, 503, 529})
#: A status can say less than the words beside it.
_NO_CREDIT = re.compile(r"insufficient[_ ]quota|credit balance|billing|exceeded your current quota", re.IGNORECASE)
_NO_MODEL = re.compile(r"model[^.]{0,80}(not[ _]found|does not exist|not exist|unknown|not supported)", re.IGNORECASE)
_NO_KEY = re.compile(r"api[_ ]key[_ ](not[_ ]valid|invalid)|(invalid|incorrect|missing) api[_ ]key", re.IGNORECASE)

#: What ``claude`` says when it ends without an answer. A person mends the first kind; the second passes.
_CLAUDE_NEEDS_A_PERSON = re.compile(
    r"not logged in|/login\b|invalid api key|failed to authenticate|authentication_error|permission_error|oauth token"
    r"|credit balance|issue with the selected model|may not exist or you may not have access|API Error\W+40[1-4]\b"
    r"|organization has been disabled|does not have access to claude",
    re.IGNORECASE,
)
_CLAUDE_LATER = re.compile(
    r"API Error[^\n]{0,40}\b(429|503|529)\b|overloaded|rate.?limit|usage limit|limit reached|hit your \w*\s?limit|connection (refused|error)"
    r"|unable to connect|ECONN\w+|ENOTFOUND|EAI_AGAIN|ENETUNREACH|fetch failed",
    re.IGNORECASE,
)


def error_from_status(status: int, text: str, said: str, retry_after: str = "") -> ModelFailedError:
    """A server's refusal. ``text`` is the line that tells it, ``said`` what the server said beside its status."""
    wait = retry_after_seconds(retry_after)
    if status in {400, 404, 422} and _NO_MODEL.search(said):
        return ModelSetupError(f"{text}; it has no such model", wait=_MENDING)
    if status in {400, 429} and _NO_CREDIT.search(said):
        return ModelSetupError(f"{text}; there is no credit", wait=_MENDING)
    if status == 400 and _NO_KEY.search(said):
        return ModelSetupError(f"{text}; its key is missing or wrong", wait=_MENDING)
    if mend := _MEND.get(status) or ("base_url is wrong" if 300 <= status < 400 else ""):
        return ModelSetupError(f"{text}; {mend}", wait=_MENDING)
    return ModelBusyError(text, wait=wait) if status in _LATER else ModelFailedError(text, wait=wait)


def error_from_claude(text: str, said: str) -> ModelFailedError:
    """The same of ``claude -p``, which has only words for it."""
    if _CLAUDE_LATER.search(said) and not _NO_CREDIT.search(said):
        return ModelBusyError(text)
    return ModelSetupError(text, wait=_MENDING) if _CLAUDE_NEEDS_A_PERSON.search(said) else ModelFailedError(text)


def error_from_model(error: BaseException) -> ModelFailedError:
    """The same of a model of the models extra: its client's own exception stands behind ours."""
    text, said = str(error), str(error)
    behind: BaseException | None = error
    unreached = False
    for _ in range(10):
        if behind is None:
            break
        if isinstance(behind, ImportError):
            return ModelSetupError(text)
        status = getattr(behind, "status_code", None)
        if isinstance(status, int):
            headers = getattr(getattr(behind.__cause__ or behind, "response", None), "headers", None) or {}
            return error_from_status(
                status, text, f"{said} {getattr(behind, 'body', '')}", str(headers.get("retry-after", ""))
            )
        unreached = unreached or isinstance(behind, ConnectionError) or "Connect" in type(behind).__name__
        group = behind.exceptions if isinstance(behind, BaseExceptionGroup) else ()
        behind = group[0] if group else behind.__cause__ or behind.__context__
    return ModelBusyError(text) if unreached else ModelFailedError(text)


def retry_after_seconds(retry_after: str) -> float:
    """``Retry-After``: a number of seconds, or a moment; 0 for what is neither."""
    text = retry_after.strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        return min(float(text), MAX_WAIT)
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(moment - time.time(), 0.0), MAX_WAIT)
