"""Print the JSON Schema of hookline.toml, for editors.

With the schema saved as hookline.schema.json, an editor with a TOML language server completes and checks the
file; see docs/how-to/edit-with-a-schema.md.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib.resources import files


def configure(parser: ArgumentParser) -> None:
    parser.epilog = "example: hookline schema > hookline.schema.json"


def run(args: Namespace) -> int:  # every command is called alike
    print(files("hookline.dialects.native").joinpath("hookline.schema.json").read_text(encoding="utf-8"), end="")
    return 0
