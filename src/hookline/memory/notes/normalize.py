"""Compare texts by their words, whatever the spelling."""

from __future__ import annotations

import hashlib
import re
import unicodedata


def text_key(text: str) -> str:
    """Equal for texts that differ only in case, spacing, punctuation or Unicode form."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.sub(r"[^\w]+", " ", folded).strip()
    return hashlib.sha256((words or " ".join(folded.split())).encode("utf-8", "replace")).hexdigest()[:16]


def slug(text: str, limit: int = 50) -> str:
    """A file name from a text: ASCII letters, digits and hyphens, never empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    cut = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:limit].strip("-")
    return cut or f"learning-{text_key(text)[:8]}"
