"""A YAML writer for files that people read: blocks for scripts, and ``on`` as a plain word."""

from __future__ import annotations

import re
from typing import Any

import yaml

#: What YAML 1.2 takes for a number and YAML 1.1 does not (0E0, 0o7); better too many quotes than too few.
_LIKE_A_NUMBER = re.compile(r"[-+]?(?:\.?[0-9]|\.(?:inf|nan))", re.IGNORECASE)


class _Dumper(yaml.SafeDumper):
    """Lectic reads YAML 1.2, where ``on`` is a word like any other."""

    def ignore_aliases(self, data: Any) -> bool:  # (the same text twice is clearer than an alias)
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else '"' if _LIKE_A_NUMBER.match(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if not (tag.endswith(":bool") and first in "oO")]
    for first, known in yaml.SafeDumper.yaml_implicit_resolvers.items()
}
# ``off`` is quoted all the same: a reader of YAML 1.1 would take it for false.
_OFF = re.compile(r"^(?:off|Off|OFF)$")
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _OFF, list("oO"))


def yaml_text(tree: dict[str, Any]) -> str:
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000, default_flow_style=False)
