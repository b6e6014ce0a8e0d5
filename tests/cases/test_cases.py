"""Golden folders: a configuration, one or several firings, and what must come of each.

``case.json``: {"dialect", "config": [files], "event", "data", "environ"?, "session"?, "agent"?, "fires"?: [{"event",
"data", "expect"?, "exit"?}, …], "expect": …, "exit"?: n, "files"?: {path: text in it}, "problems"?: [texts],
"model"?: a script for the model server, "asked"?: [what each of its requests holds]}.
``expect`` is matched against what ``hookline fire --json`` prints: objects by the keys given, lists item by item,
texts exactly or by {"contains": "…"}; {"absent": true} means that the key is not there. "$CASE" is the folder.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookline.cli.loading import canonical_name
from hookline.core.serialize import decision_shape
from hookline.engine import fold
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.llm.scripted import ModelServer

HERE = Path(__file__).parent
STANDINS = HERE.parent / "standins" / "bin"
CASES = sorted(path.parent for path in HERE.glob("*/*/case.json"))


@pytest.mark.parametrize("folder", CASES, ids=[str(path.relative_to(HERE)) for path in CASES])
def test_what_a_case_promises_holds(folder: Path, tmp_path: Path) -> None:
    here = tmp_path / "case"
    shutil.copytree(folder, here)
    (tmp_path / "home").mkdir()
    case = _filled(json.loads((here / "case.json").read_text()), str(here))
    environ = {
        "PATH": f"{STANDINS}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path),
        "STANDIN_LOG": str(here / "standins.log"),
        "HOOKLINE_STATE_DIR": str(tmp_path / "state"),
        **case.get("environ", {}),
    }
    if "model" not in case:
        found = _played(case, here, environ)
    else:
        with ModelServer(case["model"]) as server:
            found = _played(case, here, {**environ, **server.environ()})
        asked = [request.text for request in server.requests]
        found += mismatches(case.get("asked", asked), asked, "asked")
    assert not found, "\n".join(found)


def _played(case: dict[str, Any], here: Path, environ: dict[str, str]) -> list[str]:
    assembly = load_runtime(
        Sources(
            cwd=here,
            config=[here / file for file in case["config"]],
            dialect=case["dialect"],
            environ=environ,
            home=environ["HOME"],
            agent=case.get("agent", "hookline"),
        ),
        READ_ONLY,
    )
    found: list[str] = _problems(case, [str(problem) for problem in assembly.loaded.problems])
    with assembly.engine as engine:
        for number, fire in enumerate(case.get("fires", [case])):
            name, implied = canonical_name(fire["event"], case["dialect"], fire.get("data", {}))
            data = {**implied, **fire.get("data", {}), **({"session_id": case["session"]} if "session" in case else {})}
            decision = engine.fire_event(engine.event(name, data, native_name=fire["event"]))
            decision = fold.amend(decision, engine.join())
            shape = json.loads(json.dumps(decision_shape(decision), default=str))
            found += mismatches(fire.get("expect", {}), shape, f"fire {number}: $")
            code = 0 if decision.effect == "allow" and decision.aborted is None else 1
            if "exit" in fire and fire["exit"] != code:
                found.append(f"fire {number}: exit {code}, not {fire['exit']}; {shape}")
    for path, text in case.get("files", {}).items():
        target = here / path
        content = target.read_text() if target.exists() else None
        found += mismatches(text if isinstance(text, dict) else {"contains": text}, content, path)
    return found


def _problems(case: dict[str, Any], told: list[str]) -> list[str]:
    if "problems" not in case:
        return [f"unexpected problem: {text}" for text in told]
    found = [f"no problem says {text!r}: {told}" for text in case["problems"] if not any(text in one for one in told)]
    extra = [one for one in told if not any(text in one for text in case["problems"])]
    return found + [f"unexpected problem: {text}" for text in extra]


def mismatches(expected: Any, actual: Any, at: str) -> list[str]:
    """Every difference, each with its place; empty when ``actual`` is as promised."""
    match expected:
        case {"contains": str(part)} if len(expected) == 1:
            return [] if isinstance(actual, str) and part in actual else [f"{at}: {part!r} is not in {actual!r}"]
        case {"absent": True} if len(expected) == 1:
            return [] if actual is None else [f"{at}: is there: {actual!r}"]
        case dict():
            if not isinstance(actual, dict):
                return [f"{at}: {actual!r} is not an object"]
            return [one for key, value in expected.items() for one in mismatches(value, actual.get(key), f"{at}.{key}")]
        case list():
            if not isinstance(actual, list) or len(actual) != len(expected):
                return [f"{at}: {actual!r} has not {len(expected)} items"]
            pairs = enumerate(zip(expected, actual, strict=True))
            return [one for index, (want, got) in pairs for one in mismatches(want, got, f"{at}[{index}]")]
        case _:
            same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
            return [] if same else [f"{at}: {actual!r} is not {expected!r}"]


def _filled(value: Any, here: str) -> Any:
    match value:
        case str():
            return value.replace("$CASE", here)
        case list():
            return [_filled(item, here) for item in value]
        case dict():
            return {key: _filled(item, here) for key, item in value.items()}
        case _:
            return value
