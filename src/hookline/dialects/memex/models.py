"""``models.ini``: memex's nicknames of models, each with its provider and its real name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from configparser import ConfigParser, Error
from types import MappingProxyType

from hookline.dialects.base import FOREIGN, Layer, Lookup

_FILE = "models.ini"
#: memex's names of providers, where ours are not the same in small letters.
_PROVIDERS: Mapping[str, str] = MappingProxyType({"openairesponses": "openai-responses", "llamacppserver": "openai"})


def nicknames(layers: Sequence[Layer], lookup: Lookup) -> Mapping[str, str]:
    """Nickname -> ``provider:name``, from the files beside the configuration. Which model answers is the person's
    choice, so a project's file does not count."""
    folders = dict.fromkeys(os.path.dirname(layer.path) for layer in layers if layer.name not in FOREIGN)
    texts = [text for folder in folders if (text := lookup.read(os.path.join(folder, _FILE)))]
    if not texts:
        return {}
    found: dict[str, str] = {}
    for text in texts:
        file = ConfigParser(interpolation=None, strict=False)
        try:
            file.read_string(text)
        except Error:
            continue  # memex reads nothing of it either
        for nickname in file.sections():
            provider = file.get(nickname, "provider", fallback="").strip().lower()
            name = file.get(nickname, "model_name", fallback="").strip() or nickname
            if provider:
                found[nickname] = f"{_PROVIDERS.get(provider, provider)}:{name}"
    return found
