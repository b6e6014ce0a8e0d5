"""Vectors as they are kept: one signed byte per number, scaled by the largest; and their signs as bits, which are compared first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hookline.memory.notes.sentence_model import SIZE

if TYPE_CHECKING:
    from hookline.memory.notes.sentence_model import Floats

BITS = SIZE // 8


def pack(rows: Floats) -> list[bytes]:
    import numpy as np

    scale = 127 / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-9)
    return [row.tobytes() for row in np.rint(rows * scale).astype(np.int8)]


def signs(kept: bytes) -> bytes:
    import numpy as np

    bits: bytes = np.packbits(np.frombuffer(kept, dtype=np.int8) > 0).tobytes()
    return bits


def likeness(row: Floats, kept: Sequence[bytes]) -> list[float]:
    """Cosines with vectors that were kept."""
    cosines: list[float] = (_unpacked(kept) @ row).tolist()
    return cosines


def near_pairs(kept: Sequence[bytes], least: float) -> Iterator[tuple[int, int]]:
    """Places of those whose cosine is at least that."""
    import numpy as np

    rows = _unpacked(kept)
    for one in range(len(rows) - 1):
        for other in np.flatnonzero(rows[one + 1 :] @ rows[one] >= least).tolist():
            yield one, one + 1 + other


def _unpacked(kept: Sequence[bytes]) -> Floats:
    import numpy as np

    rows = np.frombuffer(b"".join(kept), dtype=np.int8).reshape(-1, SIZE).astype(np.float32)
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit


def nearest(row: Floats, blocks: Sequence[tuple[int, bytes]], allowed: str | None, most: int) -> list[int]:
    """Numbers of the notes whose signs differ least. ``blocks``: number of the first note, and bits in order; ``allowed``:
    numbers with commas between them."""
    import numpy as np

    numbers = np.concatenate([np.arange(first, first + len(bits) // BITS) for first, bits in blocks])
    words = np.frombuffer(b"".join(bits for _first, bits in blocks), dtype=np.uint64).reshape(-1, BITS // 8)
    if allowed is not None:
        known = np.isin(numbers, np.fromstring(allowed, dtype=numbers.dtype, sep=","))
        numbers, words = numbers[known], words[known]
    wanted = np.packbits(row > 0).view(np.uint64)
    apart = np.bitwise_count(words ^ wanted).sum(axis=1, dtype=np.int16)
    apart[~words.any(axis=1)] = SIZE  # deleted, or not embedded yet
    best = np.argpartition(apart, most)[:most] if len(apart) > most else slice(None)
    found: list[int] = numbers[best][apart[best] < SIZE].tolist()
    return found
