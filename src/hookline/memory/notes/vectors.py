"""Texts as vectors, by the small static model that comes inside the wheel of ``wordllama`` (extra ``memory``).

Its files are read directly: the package's own loader imports a downloader and looks for its tokenizer in the wrong folder.
A text is the mean of its tokens; nothing is fetched.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SIZE = 256
#: Of the model, for vectors that an earlier one made.
NAME = "l2_supercat_256"
#: Characters of a text that count: the title and the beginning say what it is about.
_LONGEST = 2000
#: A vector is kept as bytes: one signed byte per number, scaled by its largest.
BYTES, BITS = SIZE, SIZE // 8


class Model:
    def __init__(self, folder: str) -> None:
        import numpy as np
        from safetensors import safe_open
        from tokenizers import Tokenizer

        self._numpy = np
        self._tokens: Any = Tokenizer.from_file(os.path.join(folder, "tokenizers", "l2_supercat_tokenizer_config.json"))
        self._tokens.no_truncation()
        with safe_open(os.path.join(folder, "weights", f"{NAME}.safetensors"), framework="np") as file:
            self._weights = file.get_tensor("embedding.weight")

    def embed(self, texts: Sequence[str]) -> Floats:
        """A row of length 1 for each text; of length 0 for an empty one."""
        numpy = self._numpy
        found: Floats = numpy.zeros((len(texts), SIZE), dtype=numpy.float32)
        coded = self._tokens.encode_batch([text[:_LONGEST] for text in texts], add_special_tokens=False)
        for place, one in enumerate(coded):
            if one.ids:
                mean = self._weights[one.ids].astype(numpy.float32).mean(axis=0)
                found[place] = mean / max(float(numpy.linalg.norm(mean)), 1e-9)
        return found

    def packed(self, rows: Floats) -> list[tuple[bytes, bytes]]:
        """Each as bytes, and its signs as bits: those are compared first."""
        numpy = self._numpy
        scale = 127 / numpy.maximum(numpy.abs(rows).max(axis=1, keepdims=True), 1e-9)
        whole = numpy.rint(rows * scale).astype(numpy.int8)
        return [(one.tobytes(), numpy.packbits(row > 0).tobytes()) for one, row in zip(whole, rows, strict=True)]

    def likeness(self, row: Floats, packed: Sequence[bytes]) -> list[float]:
        """Cosines with vectors that were kept."""
        numpy = self._numpy
        kept = numpy.frombuffer(b"".join(packed), dtype=numpy.int8).reshape(-1, SIZE).astype(numpy.float32)
        lengths = numpy.maximum(numpy.linalg.norm(kept, axis=1), 1e-9)
        cosines: list[float] = ((kept @ row) / lengths).tolist()
        return cosines

    def nearest(self, row: Floats, blocks: Sequence[tuple[int, bytes]], allowed: str | None, most: int) -> list[int]:
        """Numbers of the notes whose signs differ least. ``blocks``: number of the first note, and bits in order; ``allowed``:
        numbers with commas between them."""
        numpy = self._numpy
        numbers = numpy.concatenate([numpy.arange(first, first + len(bits) // BITS) for first, bits in blocks])
        words = numpy.frombuffer(b"".join(bits for _first, bits in blocks), dtype=numpy.uint64).reshape(-1, BITS // 8)
        if allowed is not None:
            known = numpy.isin(numbers, numpy.fromstring(allowed, dtype=numbers.dtype, sep=","))
            numbers, words = numbers[known], words[known]
        wanted = numpy.packbits(row > 0).view(numpy.uint64)
        apart = numpy.bitwise_count(words ^ wanted).sum(axis=1, dtype=numpy.int16)
        apart[~words.any(axis=1)] = SIZE  # deleted, or not embedded yet
        best = numpy.argpartition(apart, most)[:most] if len(apart) > most else slice(None)
        found: list[int] = numbers[best][apart[best] < SIZE].tolist()
        return found


@cache
def load_model() -> Model | None:
    """None without the extra."""
    from importlib.util import find_spec  # the package itself takes a second to import

    spec = find_spec("wordllama")
    places = list(spec.submodule_search_locations or ()) if spec else []
    try:
        return Model(places[0]) if places else None
    except (ImportError, OSError, ValueError):
        return None
