"""Settings: a person's layers decide; a project's layers may add and tighten, never weaken."""

from __future__ import annotations

import tomllib

import pytest

from hookline.core.problem import Problem
from hookline.core.settings import Limits, RecordSettings, Settings
from hookline.dialects.base import Layer
from hookline.dialects.native.settings import read_settings


def read(*layers: tuple[str, str]) -> tuple[Settings, tuple[Problem, ...]]:
    return read_settings(
        [
            Layer(path=f"/{name}.toml", name=name, syntax="toml", text=text, tree=tomllib.loads(text))
            for name, text in layers
        ]
    )


def test_every_setting_is_read() -> None:
    text = """
[limits]
timeout = "2m"
output = 2048
stop_continuations = 3
grace = 0.5
[record]
enabled = false
keep_days = 5
keep_mb = 6
redact = ["x+"]
[models]
haiku = "anthropic:x"
[mcp.files]
command = ["mcp-files"]
"""
    settings, problems = read(("user", text))
    assert problems == ()
    assert settings.limits == Limits(timeout=120.0, output=2048, stop_continuations=3, grace=0.5)
    assert settings.record == RecordSettings(enabled=False, keep_days=5, keep_mb=6, redact=("x+",))
    assert dict(settings.models) == {"haiku": "anthropic:x"}
    assert dict(settings.mcp) == {"files": {"command": ["mcp-files"]}}


def test_an_age_says_how_long_records_are_kept() -> None:
    settings, problems = read(("user", '[record]\nkeep = "90d"'))
    assert (settings.record.keep_days, problems) == (90, ())


@pytest.mark.parametrize(
    "text",
    [
        '[record]\nkeep = "0d"', "[record]\nkeep = 90", '[record]\nkeep = "9w"', "limits = 3", "[limits]\ntimeout = 0", "[limits]\noutput = 1.5", "[record]\nredact = ['[']", "[record]\nredact = 'x'",
        "[record]\nenabled = 1", "[models]\nhaiku = 3", "models = []", "mcp = 1", "[limits]\ntiemout = 3",
    ],
)  # fmt: skip
def test_a_bad_setting_is_a_problem_and_the_default_stays(text: str) -> None:
    settings, problems = read(("user", text))
    assert settings == Settings(models=settings.models, mcp=settings.mcp)
    assert len(problems) == 1


@pytest.mark.parametrize("name", ["project", "local"])
@pytest.mark.parametrize(
    "text",
    [
        "[record]\nenabled = false", "[record]\nkeep_days = 1", '[record]\nkeep = "1d"', "[record]\nkeep_mb = 1", "[limits]\noutput = 1024",
        "[limits]\noutput = 1000000000", "[limits]\nstop_continuations = 0", "[limits]\nstop_continuations = 1000",
        "[limits]\ngrace = 0.1", '[models]\nhaiku = "evil:model"', '[mcp.x]\ncommand = ["evil"]',
    ],
)  # fmt: skip
def test_a_project_cannot_weaken_what_a_person_set(name: str, text: str) -> None:
    person = ("user", '[models]\nhaiku = "anthropic:x"\n')
    before, _ = read(person)
    after, problems = read(person, (name, text))
    assert after == before
    assert [problem.severity for problem in problems] == ["warning"]


def test_a_project_may_add_and_tighten() -> None:
    settings, problems = read(
        ("user", "[record]\nredact = ['a']"),
        (
            "project",
            "[record]\nredact = ['b']\nenabled = true\n[limits]\nstop_continuations = 12\ntimeout = 1",
        ),
    )
    assert problems == ()
    assert settings.record.redact == ("a", "b")
    assert settings.limits == Limits(stop_continuations=12)


def test_a_project_may_not_choose_who_judges_ones_own_hooks() -> None:
    settings, problems = read(("user", "[models]\nhaiku = 'a:b'"), ("project", "[models]\nsonnet = 'script:ok.json'"))
    assert dict(settings.models) == {"haiku": "a:b"}
    assert [problem.pointer for problem in problems] == ["$.models"]


def test_files_on_the_command_line_are_a_persons() -> None:
    settings, problems = read(("command line", "[limits]\nstop_continuations = 1\n[record]\nenabled = false"))
    assert (settings.limits.stop_continuations, settings.record.enabled, problems) == (1, False, ())
