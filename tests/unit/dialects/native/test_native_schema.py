"""The shipped schema is the generated one, and says of a file what the loader says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import jsonschema
import pytest

import hookline
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.native import DIALECT, schema

SHIPPED = Path(hookline.__file__).parent / "dialects" / "native" / "hookline.schema.json"

GOOD = [
    "",
    '[[hook]]\non = "PreToolUse"\nrun = "x"',
    '[[hook]]\non = ["Stop", "gemini:Odd", "process.pre_spawn"]\nrun = ["x", "y"]\ntimeout = "500ms"',
    '[[hook]]\nname = "a"\non = "Stop"\nrun = "x"\nenabled = false',
    '[[hook]]\non = "Stop"\nshell = "x"\nmatch = { tool_name = "Bash", "a.b" = ["x"], c = true }\ninject = true',
    '[[hook]]\non = "Stop"\nagent = { prompt = "x", tools = [], steps = 3 }\nwhen = { once = true, debounce = 3 }',
    '[[hook]]\non = "Stop"\nhttp = { url = "https://x", headers = { A = "$B" } }',
    '[[source]]\ndialect = "letta"\npath = "x"',
    '[guard]\npolicy = "strict"\nallow = "read-only"\n[[guard.rule]]\neffect = "delete"\nwhere = "~/x"\nthen = "ask"',
    '[[guard.exception]]\npath = "~/x"\neffect = "delete"\nuntil = "2027-01-31"\nreason = "x"',
    '[limits]\ntimeout = 3\n[record]\nredact = ["x"]\n[models]\na = "b:c"',
]
BAD = [
    "hook = 3",
    '[[hook]]\non = "PreTolUse"\nrun = "x"',
    '[[hook]]\non = "Stop"',
    '[[hook]]\nrun = "x"',
    '[[hook]]\non = "Stop"\nrun = "x"\nshell = "y"',
    '[[hook]]\non = "Stop"\nrun = "x"\ntimeout = "soon"',
    '[[hook]]\non = "Stop"\nrun = "x"\ntimeout = 0',
    '[[hook]]\non = "Stop"\nrun = []',
    '[[hook]]\non = "Stop"\nrun = "x"\nmode = "x"',
    '[[hook]]\non = "Stop"\nrun = "x"\nunknown = 1',
    '[[hook]]\non = "Stop"\nrun = "x"\nwhen = { every_n_turns = 0 }',
    '[[hook]]\non = "Stop"\nagent = {}',
    '[[hook]]\non = "Stop"\nhttp = {}',
    '[[hooks]]\non = "Stop"',
    '[guard]\npolicy = "lax"',
    '[[guard.rule]]\neffect = "delete"',
    '[[guard.exception]]\ncommand = "x"\nreason = "y"',
]


def test_the_shipped_schema_is_the_generated_one() -> None:
    """Otherwise: python -m hookline.dialects.native.schema > src/hookline/dialects/native/hookline.schema.json."""
    assert SHIPPED.read_text() == schema.text()


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema.schema())


@pytest.mark.parametrize(("text", "good"), [*((text, True) for text in GOOD), *((text, False) for text in BAD)])
def test_the_schema_and_the_loader_agree(text: str, good: bool) -> None:
    tree = tomllib.loads(text)
    validator = jsonschema.Draft202012Validator(schema.schema())
    layer = Layer(path="/x/f.toml", name="user", syntax="toml", text=text, tree=tree)
    assert validator.is_valid(tree) == good
    assert (not DIALECT.parse([layer], Lookup()).problems) == good


def test_the_schema_lets_a_layer_change_a_hook_of_another() -> None:
    jsonschema.Draft202012Validator(schema.schema()).validate({"hook": [{"name": "a", "enabled": False}]})


def test_every_field_says_what_it_is_for() -> None:
    hook = schema.schema()["properties"]["hook"]["items"]["properties"]
    assert all(field["description"].endswith((".", ":", "seconds.")) for field in hook.values())
