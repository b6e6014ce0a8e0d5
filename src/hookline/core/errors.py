"""Every exception hookline raises on purpose.

HooklineError
├── UsageError         the command line or the call is wrong               exit 64
├── DataError          the event's data cannot be read                     exit 65
├── ConfigError        a configuration that was named cannot be used       exit 78
│   └── PackError      a published hook set is not taken
└── StateError         the state directory cannot be used                  exit 74

A hook that fails is not an exception: it is an ``Outcome`` (see ``result``), and a file that cannot be
read is a ``Problem``. Only ``hookline.cli`` turns an exception into an exit code, and none of them is 2,
because agents read 2 as a block.
"""

from __future__ import annotations

import errno


class HooklineError(Exception):
    """The root: catching it catches everything hookline raises on purpose."""


class UsageError(HooklineError):
    """A name that does not exist: an event, a dialect, an option."""


class DataError(HooklineError):
    """The data of an event is invalid; the message says where."""


class ConfigError(HooklineError):
    """A configuration that was named explicitly is missing or unusable as a whole."""


class PackError(ConfigError):
    """A pack that is not taken, and why."""


class StateError(HooklineError):
    """The state directory cannot be created, opened or trusted."""


_SCARCE = {errno.EMFILE: "open files", errno.ENFILE: "open files", errno.ENOMEM: "memory"}


def shortage(error: BaseException) -> str:
    """The message for an error that means the system has run out of something; "" for any other."""
    if isinstance(error, MemoryError):
        scarce = "memory"
    elif isinstance(error, OSError):
        scarce = _SCARCE.get(error.errno or 0, "")
    else:
        scarce = "threads" if isinstance(error, RuntimeError) and "start new thread" in str(error) else ""
    if not scarce:
        return ""
    return f"the system has run out of {scarce}; see what uses them, or raise the limit (ulimit -a)"
