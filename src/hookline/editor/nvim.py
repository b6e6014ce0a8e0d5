"""Neovim, over the socket that it names in ``$NVIM``: one request, one answer.

The Lua below is ours and constant; what a person shall read is an argument of it.
"""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING, Any

from hookline.editor.msgpack import IncompleteError, NotMessagePackError, pack, unpack
from hookline.editor.prompters import UnavailableError

if TYPE_CHECKING:
    from hookline.editor.prompters import Answer, Progress, Question

#: Seconds to connect, and to get an answer that waits for nobody.
_PROMPT_ANSWER = 3.0
#: More than any answer of ours; a peer that floods is not Neovim.
_LARGEST = 1 << 20
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

ASK = """
local title, message = ...
return vim.fn.confirm(title .. '\\n\\n' .. message, '&Allow\\n&Deny', 2, 'Question')
"""

_TELL = """
local told, line = ...
local all = vim.g.hookline_progress or {}
if told.step == 'end' then all[told.token] = nil else all[told.token] = told end
vim.g.hookline_progress = next(all) and all or vim.empty_dict()
if told.step == 'report' then
  vim.api.nvim_echo({{line}}, false, {})
else
  vim.notify(line, vim.log.levels.INFO, {title = 'hookline'})
end
-- Before 0.8 an event cannot carry data.
if not pcall(vim.api.nvim_exec_autocmds, 'User', {pattern = 'HooklineProgress', data = told}) then
  pcall(vim.api.nvim_exec_autocmds, 'User', {pattern = 'HooklineProgress'})
end
return true
"""


def ask(address: str, question: Question) -> Answer:
    """``vim.fn.confirm`` in the person's own editor. Escape, or closing the question, refuses."""
    with _connected(address) as link:
        reply = _request(link, ASK, [question.title, question.message], question.patience)
    return "allowed" if reply == 1 else "refused"


def tell(address: str, progress: Progress) -> None:
    """Shown as a notification; statuslines find it in ``g:hookline_progress`` and in ``User HooklineProgress``."""
    told: dict[str, Any] = {"step": progress.step, "token": progress.token, "title": progress.title}
    told |= {"message": progress.message}
    told |= {"percentage": progress.percentage} if progress.percentage is not None else {}
    with _connected(address) as link:
        _request(link, _TELL, [told, progress.line()], _PROMPT_ANSWER)


def _connected(address: str) -> socket.socket:
    """A socket of our own user, or a port of this machine: anybody else could say yes in the person's name."""
    try:
        if os.path.isabs(address):
            if os.stat(address).st_uid != os.geteuid():
                raise UnavailableError(f"the socket {address} belongs to somebody else")
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(_PROMPT_ANSWER)
            link.connect(address)
            return link
        host, _, port = address.rpartition(":")
        if host not in _LOOPBACK or not port.isdigit():
            raise UnavailableError(f"NVIM={address} is neither a socket nor a port of this machine")
        return socket.create_connection((host, int(port)), timeout=_PROMPT_ANSWER)
    except (OSError, ValueError, OverflowError) as error:
        raise UnavailableError(f"Neovim does not answer at {address}: {error}") from None


def _request(link: socket.socket, lua: str, arguments: list[Any], patience: float) -> Any:
    """The value that the Lua returns. Raises ``TimeoutError`` when the person does not answer in time."""
    try:
        link.sendall(pack([0, 1, "nvim_exec_lua", [lua, arguments]]))
        return _answer(link, time.monotonic() + patience)
    except TimeoutError:
        raise
    except (OSError, NotMessagePackError) as error:
        raise UnavailableError(f"Neovim broke off: {error}") from None


def _answer(link: socket.socket, deadline: float) -> Any:
    data = b""
    while len(data) < _LARGEST:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        link.settimeout(left)
        piece = link.recv(65536)
        if not piece:
            raise UnavailableError("Neovim closed the connection")
        data += piece
        while data:
            try:
                message, end = unpack(data)
            except IncompleteError:
                break
            data = data[end:]
            # Notifications and requests of others may come in between.
            if isinstance(message, list) and len(message) == 4 and message[:2] == [1, 1]:
                if message[2] is not None:
                    raise UnavailableError(f"Neovim could not do it: {message[2]}")
                return message[3]
    raise UnavailableError("what answered at NVIM is not Neovim")
