"""Why a model gave no answer, and what the queue does about it.

Three kinds. A failure of the task is retried, and given up in the end. A busy model (too many requests, an overloaded
server, no network) is no task's fault: the whole queue waits until it has passed. A setup error (no key, a wrong one, no
such model, no credit) stays until a person fixes it: the queue waits for that.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from hookline.core.errors import HooklineError

#: Seconds before the next automatic attempt after a setup error.
_SETUP_WAIT = 60.0
#: The longest wait that a server can ask for.
MAX_WAIT = 3600.0


class ModelFailedError(HooklineError):
    """No answer; a retry may give one. ``wait``: seconds that the server asked us to wait, or 0."""

    def __init__(self, text: str, *, wait: float = 0.0) -> None:
        super().__init__(text)
        self.wait = min(max(wait, 0.0), MAX_WAIT)


class ModelBusyError(ModelFailedError):
    """No task gets an answer right now."""


class ModelSetupError(ModelFailedError):
    """No task gets an answer before a person has changed something.

    ``wait`` is 0 if that is known without a request.
    """


#: The cause of a setup error by status.
_SETUP_ERRORS: Mapping[int, str] = {
    401: "its key is missing or wrong",
    402: "there is no credit",
    403: "its key may not use this model",
    404: "it has no such model, or base_url is wrong",
    405: "base_url is wrong",
    407: "the proxy wants a password",
    410: "the model is gone",
}
_BUSY = frozenset({408, 425, 429, 503, 529})
#: The body can be more specific than the status.
_NO_CREDIT = re.compile(r"insufficient[_ ]quota|credit balance|billing|exceeded your current quota", re.IGNORECASE)
_NO_MODEL = re.compile(r"model[^.]{0,80}(not[ _]found|does not exist|not exist|unknown|not supported)", re.IGNORECASE)
_NO_KEY = re.compile(r"api[_ ]key[_ ](not[_ ]valid|invalid)|(invalid|incorrect|missing) api[_ ]key", re.IGNORECASE)

#: Messages of ``claude`` without an answer: setup errors, and those that pass.
_CLAUDE_SETUP = re.compile(
    r"not logged in|/login\b|invalid api key|failed to authenticate|authentication_error|permission_error|oauth token"
    r"|credit balance|issue with the selected model|may not exist or you may not have access|API Error\W+40[1-4]\b"
    r"|organization has been disabled|does not have access to claude",
    re.IGNORECASE,
)
_CLAUDE_BUSY = re.compile(
    r"API Error[^\n]{0,40}\b(429|503|529)\b|overloaded|rate.?limit|usage limit|limit reached|hit your \w*\s?limit|connection (refused|error)"
    r"|unable to connect|ECONN\w+|ENOTFOUND|EAI_AGAIN|ENETUNREACH|fetch failed",
    re.IGNORECASE,
)


def error_from_status(status: int, text: str, body: str, retry_after: str = "") -> ModelFailedError:
    """For a server's status. ``text`` is the message, ``body`` that of the response."""
    wait = retry_after_seconds(retry_after)
    if status in {400, 404, 422} and _NO_MODEL.search(body):
        return ModelSetupError(f"{text}; it has no such model", wait=_SETUP_WAIT)
    if status in {400, 429} and _NO_CREDIT.search(body):
        return ModelSetupError(f"{text}; there is no credit", wait=_SETUP_WAIT)
    if status == 400 and _NO_KEY.search(body):
        return ModelSetupError(f"{text}; its key is missing or wrong", wait=_SETUP_WAIT)
    if cause := _SETUP_ERRORS.get(status) or ("base_url is wrong" if 300 <= status < 400 else ""):
        return ModelSetupError(f"{text}; {cause}", wait=_SETUP_WAIT)
    return ModelBusyError(text, wait=wait) if status in _BUSY else ModelFailedError(text, wait=wait)


def error_from_claude(text: str, output: str) -> ModelFailedError:
    """For ``claude -p``, which has no status."""
    if _CLAUDE_BUSY.search(output) and not _NO_CREDIT.search(output):
        return ModelBusyError(text)
    return ModelSetupError(text, wait=_SETUP_WAIT) if _CLAUDE_SETUP.search(output) else ModelFailedError(text)


def error_from_model(error: BaseException) -> ModelFailedError:
    """For a model of the models extra: the cause is its client's exception."""
    text = str(error)
    cause: BaseException | None = error
    unreached = False
    for _ in range(10):
        if cause is None:
            break
        if isinstance(cause, ImportError):
            return ModelSetupError(text)
        status = getattr(cause, "status_code", None)
        if isinstance(status, int):
            headers = getattr(getattr(cause.__cause__ or cause, "response", None), "headers", None) or {}
            body = f"{text} {getattr(cause, 'body', '')}"
            return error_from_status(status, text, body, str(headers.get("retry-after", "")))
        unreached = unreached or isinstance(cause, ConnectionError) or "Connect" in type(cause).__name__
        group = cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()
        cause = group[0] if group else cause.__cause__ or cause.__context__
    return ModelBusyError(text) if unreached else ModelFailedError(text)


def retry_after_seconds(retry_after: str) -> float:
    """``Retry-After``: a number of seconds, or a date; 0 for anything else."""
    text = retry_after.strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        return min(float(text), MAX_WAIT)
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(moment - time.time(), 0.0), MAX_WAIT)
