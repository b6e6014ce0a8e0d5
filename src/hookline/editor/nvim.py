"""Neovim, over the socket named in ``$NVIM``: one request, one answer.

The Lua below is constant; the text for the person is passed as an argument.
"""

from __future__ import annotations

import os
import socket
import time
from typing import Any, cast

import msgpack  # pyright: ignore[reportMissingTypeStubs]

from hookline.editor.question import Answer, PersonQuestion, Progress, UnavailableError

#: Seconds to connect, and to get an answer that needs no person.
_RESPONSE_TIME = 3.0
#: Bytes: more than any answer we expect.
_LARGEST = 1 << 20
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

ASK = """
local title, message = ...
return vim.fn.confirm(title .. '\\n\\n' .. message, '&Allow\\n&Deny', 2, 'Question')
"""

_PICK = """
local title, options = ...
local lines = {title}
for number, option in ipairs(options) do lines[#lines + 1] = number .. '. ' .. option end
return vim.fn.inputlist(lines)
"""

_TELL = """
local progress, line = ...
local all = vim.g.hookline_progress or {}
if progress.step == 'end' then all[progress.token] = nil else all[progress.token] = progress end
vim.g.hookline_progress = next(all) and all or vim.empty_dict()
if progress.step == 'report' then
  vim.api.nvim_echo({{line}}, false, {})
else
  vim.notify(line, vim.log.levels.INFO, {title = 'hookline'})
end
-- Before 0.8 an event cannot carry data.
if not pcall(vim.api.nvim_exec_autocmds, 'User', {pattern = 'HooklineProgress', data = progress}) then
  pcall(vim.api.nvim_exec_autocmds, 'User', {pattern = 'HooklineProgress'})
end
return true
"""


def ask(address: str, question: PersonQuestion) -> Answer:
    """``vim.fn.confirm`` in the person's own editor. Escape, or closing the question, refuses."""
    with _connect(address) as link:
        reply = _request(link, ASK, [question.title, question.message], question.patience)
    return "allowed" if reply == 1 else "refused"


def pick(address: str, question: PersonQuestion) -> str:
    with _connect(address) as link:
        reply = _request(link, _PICK, [question.title, list(question.options)], question.patience)
    return question.options[reply - 1] if isinstance(reply, int) and 0 < reply <= len(question.options) else ""


def tell(address: str, progress: Progress) -> None:
    """Shown as a notification; statuslines find it in ``g:hookline_progress`` and in ``User HooklineProgress``."""
    data: dict[str, Any] = {"step": progress.step, "token": progress.token, "title": progress.title}
    data["message"] = progress.message
    if progress.percentage is not None:
        data["percentage"] = progress.percentage
    with _connect(address) as link:
        _request(link, _TELL, [data, progress.line()], _RESPONSE_TIME)


def _connect(address: str) -> socket.socket:
    """Only a socket of our own user, or a port of this machine: anybody else could allow things in our user's name."""
    try:
        if os.path.isabs(address):
            if os.stat(address).st_uid != os.geteuid():
                raise UnavailableError(f"the socket {address} belongs to another user")
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(_RESPONSE_TIME)
            link.connect(address)
            return link
        host, _, port = address.rpartition(":")
        if host not in _LOOPBACK or not port.isdigit():
            raise UnavailableError(f"NVIM={address} is neither a socket nor a port of this machine")
        return socket.create_connection((host, int(port)), timeout=_RESPONSE_TIME)
    except (OSError, ValueError, OverflowError) as error:
        raise UnavailableError(f"Neovim does not answer at {address}: {error}") from None


def _request(link: socket.socket, lua: str, arguments: list[Any], patience: float) -> Any:
    """The value that the Lua returns. Raises ``TimeoutError`` when the person does not answer in time."""
    try:
        request = cast("bytes", msgpack.packb([0, 1, "nvim_exec_lua", [lua, arguments]], unicode_errors="replace"))
        link.sendall(request)
        return _read_answer(link, time.monotonic() + patience)
    except TimeoutError:
        raise
    except (OSError, ValueError, msgpack.UnpackException) as error:
        raise UnavailableError(f"the connection to Neovim broke: {error}") from None


def _read_answer(link: socket.socket, deadline: float) -> Any:
    unpacker = msgpack.Unpacker(max_buffer_size=_LARGEST, unicode_errors="replace", strict_map_key=False)
    while (left := deadline - time.monotonic()) > 0:
        link.settimeout(left)
        data = link.recv(65536)
        if not data:
            raise UnavailableError("Neovim closed the connection")
        unpacker.feed(data)
        for message in unpacker:
            # Notifications and requests of others may come in between.
            if not isinstance(message, list):
                raise UnavailableError("what answered at NVIM is not Neovim")
            if len(message) == 4 and message[:2] == [1, 1]:
                if message[2] is not None:
                    raise UnavailableError(f"Neovim reported an error: {message[2]}")
                return message[3]
    raise TimeoutError
