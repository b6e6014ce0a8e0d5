"""One stream of a child: the first bytes in memory, all of them in a file when there are more, never too many."""

from __future__ import annotations

import codecs
import os

from hookline.core.errors import StateError
from hookline.runners.environ import new_spill

#: A spilled file grows no further than this; what comes after it is read and dropped.
_SPILL_LIMIT = 64 << 20


class Capture:
    """Takes whatever comes, in bounded memory and bounded disk."""

    __slots__ = ("_chunks", "_dropped", "_fault", "_file", "_kept", "_limit", "_state_dir", "_stream", "_total", "path")

    def __init__(self, stream: str, limit: int, state_dir: str) -> None:
        self._stream = stream
        self._limit = limit
        self._state_dir = state_dir
        self._chunks: list[bytes] = []
        self._kept = 0
        self._total = 0
        self._dropped = 0
        self._file = -1
        self._fault = ""
        #: Where all of it is, if it was over the cap.
        self.path = ""

    def feed(self, data: bytes) -> None:
        self._total += len(data)
        room = self._limit - self._kept
        if len(data) <= room:
            self._chunks.append(data)
            self._kept += len(data)
            return
        if not self.path and not self._fault:
            self._open()
        self._spill(data)
        if room > 0:
            self._chunks.append(data[:room])
            self._kept = self._limit

    def _open(self) -> None:
        try:
            self._file, self.path = new_spill(self._state_dir, self._stream)
        except (OSError, StateError) as error:
            self._fault = str(error)
            return
        for chunk in self._chunks:
            self._spill(chunk)

    def _spill(self, data: bytes) -> None:
        if self._file < 0:
            self._dropped += len(data)
            return
        try:
            os.write(self._file, data)
            full = os.lseek(self._file, 0, os.SEEK_CUR) >= _SPILL_LIMIT
        except OSError as error:
            self._fault, full = str(error), True
        if full:
            self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def cut(self) -> bool:
        return self._total > self._kept

    def text(self) -> str:
        """What was kept. Bytes that are no UTF-8 become U+FFFD; a character cut by the cap is left out."""
        data = b"".join(self._chunks)
        if not self.cut:
            return data.decode("utf-8", "replace")
        return codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=False)

    def notes(self) -> tuple[str, ...]:
        if not self.cut:
            return ()
        note = f"{self._stream} was {self._total} bytes; the first {self._kept} were kept"
        if self.path:
            note += f", the rest is in {self.path}"
        if self._dropped:
            note += f", {self._dropped} were dropped"
        if self._fault:
            note += f" (cannot spill: {self._fault})"
        return (note,)
