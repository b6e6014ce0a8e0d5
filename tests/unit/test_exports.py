from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import hookline

HEAVY = {
    "asyncio",
    "pydantic",
    "httpx",
    "http.client",
    "yaml",
    "regex",
    "sqlite3",
    "configparser",
    "openai",
    "anthropic",
}


@pytest.mark.parametrize("name", hookline.__all__)
def test_every_name_that_is_promised_is_there(name):
    assert getattr(hookline, name) is not None
    assert name in dir(hookline)


def test_a_name_that_is_not_promised_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = hookline.nothing_like_it


@pytest.mark.parametrize(
    "name", ["event", "hook_spec", "sample", "samples", "FakeCrew", "check_dialect", "check_runner"]
)
def test_the_testing_helpers_are_there(name):
    assert name in import_module("hookline.testing").__all__
    assert callable(getattr(import_module("hookline.testing"), name))


def modules_after(code: str) -> set[str]:
    text = f"import sys; {code}; print(*sys.modules, file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "from hookline.cli import main; main(['--help'])",
        "from hookline.cli import main; main(['--version'])",
        "import hookline.engine",
        "from hookline import Engine, hook; Engine(specs=(hook('Stop')(lambda e: None).spec,)).fire_sync('PreToolUse')",
    ],
)
def test_the_thin_paths_import_nothing_heavy(code):
    assert modules_after(code) & HEAVY == set()
