"""The document's rules, case by case, through the real engine with real executables and real plugins."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.recording import MemoryRecorder

from hookline.core.hook import Plugin
from hookline.core.result import Failed, TimedOut
from hookline.dialects.lash import key_hook_config
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.runners.plugin.runner import PluginRunner

if TYPE_CHECKING:
    from hookline.core.result import Decision, Outcome
    from hookline.engine.engine import Engine

HERE = Path(__file__).parent
#: A case is played so many times slower than it is written: a busy machine must not be taken for a slow hook.
SLOWLY = 20
TIMES = {"after_ms", "max_ms", "min_ms", "timeout_ms", "wait_ms"}


def _slowly(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value * SLOWLY if key in TIMES else value for key, value in pairs}


CASES: list[dict[str, Any]] = json.loads((HERE / "cases.json").read_text(), object_pairs_hook=_slowly)
SESSION = "the session"


class Stage:
    """A case's files in a folder of their own, an engine over them, and everything that was seen."""

    def __init__(self, case: dict[str, Any], folder: Path) -> None:
        self.case = case
        self.folder = folder
        self.calls_path = folder / "calls"
        self.calls_path.touch()
        self.names: dict[str, str] = {}
        self.firing = 0
        self.results: list[dict[str, Any]] = []
        self.elapsed: list[float] = []
        self.applied: list[list[Any]] = []
        self.recorder = MemoryRecorder()
        files = [self._config(), self._plugins()]
        environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "HOOKLINE_STATE_DIR": str(folder / "state")}
        assembly = load_runtime(
            Sources(cwd=folder, config=files, dialect="lash", environ=environ, home=str(folder)), READ_ONLY
        )
        self.engine: Engine = assembly.engine
        self.engine.recorder = self.recorder
        self.specs = self.engine.specs
        self._warm(environ)

    # ── what stands on the disk ──────────────────────────────────────────────────────────────────────

    def _config(self) -> Path:
        text = self.case.get("config", "")
        for number, (written, script) in enumerate(self.case.get("execs", {}).items()):
            place = written if written.startswith("~/") else str(self.folder / f"exec{number}")
            path = self.folder / written[2:] if written.startswith("~/") else Path(place)
            self.names[place] = written
            text = text.replace(f":{written}", f":{place}")
            self._executable(path, written, script)
        (self.folder / "config").write_text(text)
        return self.folder / "config"

    def _executable(self, path: Path, name: str, script: dict[str, Any]) -> None:
        path.write_text(
            f"#!{sys.executable} -SE\nimport json, sys\nenvelope = json.loads(sys.stdin.readline())\n"
            f"assert sys.stdin.read() == ''\n"
            f"with open({str(self.calls_path)!r}, 'a') as file:\n"
            f"    file.write(json.dumps([{name!r}, envelope['event'], envelope['data'], envelope.get('mode', '')]) + '\\n')\n"
            f"sys.stdout.write({script.get('stdout', '')!r})\nsys.exit({script.get('exit', 0)})\n"
        )
        path.chmod(0o755)

    def _plugins(self) -> Path:
        lines = ["[plugins]"]
        options = []
        if "timeout_ms" in self.case:
            options.append(f"timeout={self.case['timeout_ms']}ms")
        if "on_error" in self.case:
            options.append(f"on_error={self.case['on_error']}")
        for plugin in self.case.get("plugins", []):
            name = plugin["name"]
            script, path = self.folder / f"{name}.json", self.folder / f"{name}.plugin"
            script.write_text(json.dumps(plugin))
            path.write_text(
                f"#!{sys.executable} -SE\nimport sys; sys.path.insert(0, {str(HERE)!r}); import scripted_plugin\n"
                f"scripted_plugin.main({str(script)!r}, {str(self.calls_path)!r}, {name!r})\n"
            )
            path.chmod(0o755)
            lines.append(f"{name} = plugin({', '.join(options)}):{path}")
        (self.folder / "plugins.conf").write_text("\n".join(lines) + "\n")
        return self.folder / "plugins.conf"

    def _warm(self, environ: dict[str, str]) -> None:
        """Plugins are up before the clock runs, as in a shell that has been open for a while."""
        for spec in self.specs:
            if isinstance(spec.action, Plugin):
                runner = self.engine._executor.crew[type(spec.action)]
                assert isinstance(runner, PluginRunner)
                assert not isinstance(runner.handshake(spec.action, self.engine.settings, environ, fresh=True), str)

    # ── what is done ─────────────────────────────────────────────────────────────────────────────────

    def play(self) -> None:
        for step in self.case.get("fire", []):
            time.sleep(step.get("wait_ms", 0) / 1000)
            began = time.perf_counter()
            self.results.append(self._press(step) if "press" in step else self._fire(step["event"], step["data"]))
            self.elapsed.append((time.perf_counter() - began) * 1000)
        self._settle()

    def _fire(self, event: str, data: dict[str, Any]) -> dict[str, Any]:
        decision = self._decide(event, data)
        found = {key: value for key, value in decision.data.items() if key not in {"session_id", "firing"}}
        return {"outcome": decision.effect, "reason": decision.reason, "data": found}

    def _decide(self, event: str, data: dict[str, Any]) -> Decision:
        self.firing += 1
        return self.engine.fire_sync(event, {**data, "session_id": SESSION, "firing": self.firing})

    def _press(self, step: dict[str, Any]) -> dict[str, Any]:
        """A frontend in small: it sends only hooked keys, and the first character on an empty line."""
        key, buffer = step["press"], step["buffer"]
        hooked = key_hook_config(self.specs)
        if hooked == "*" or key in hooked:
            decision = self._decide("input.key", {"key": key, "buffer": buffer, "cursor": len(buffer)})
            if decision.effect == "deny":
                return {"editor": "swallow"}
        if len(key) == 1 and not buffer:
            decision = self._decide("input.prefix", {"char": key})
            if "prefill" in decision.attributes:
                return {"editor": "return", "text": decision.attributes["prefill"]}
        return {"editor": "default"}

    def _settle(self) -> None:
        """Wait for what was not waited for: observers and late answers. A shell joins nothing, so nor do we."""
        until = time.monotonic() + 60
        wanted = self.case["expect"]
        while time.monotonic() < until:
            self.collect()
            if len(self.calls()) >= len(wanted.get("calls", [])) and len(self.applied) >= len(
                wanted.get("applied", [])
            ):
                return
            time.sleep(0.005)

    def collect(self) -> None:
        self.applied += [[each.event.kind.name, dict(each.data)] for each in self.engine.applied_now()]

    # ── what was seen ────────────────────────────────────────────────────────────────────────────────

    def calls(self) -> list[list[Any]]:
        """In the order of firing, then as declared: an observer is not waited for, so it may write later."""
        order = list(dict.fromkeys(self.names.get(spec.name, spec.name) for spec in self.specs))
        found = [json.loads(line) for line in self.calls_path.read_text().splitlines()]
        return sorted(found, key=lambda call: (call[2]["firing"], order.index(call[0])))

    def entries(self) -> list[list[str]]:
        declared = [spec for spec in self.specs if spec.dialect == "lash"]
        return [[spec.event, str(spec.extra["type"]).replace("fire_and_forget", "observe")] for spec in declared]

    def errors(self) -> list[str]:
        found = [problem.finding for problem in self.engine.problems]
        for record in self.recorder.records:
            found += [each.text for each in record.decision.ignored]
            found += [text for each in record.decision.outcomes if (text := self._error(each))]
        return found

    def _error(self, outcome: Outcome) -> str:
        plugin = next(isinstance(spec.action, Plugin) for spec in self.specs if spec.id == outcome.id)
        who = f"{'plugin' if plugin else 'exec'}:{self.names.get(outcome.hook, outcome.hook)}"
        if isinstance(outcome, TimedOut):
            return f"{who}: timeout"
        return f"{who}: {outcome.error}" if isinstance(outcome, Failed) or outcome.error.startswith("stale") else ""


def fits(wanted: Any, found: Any) -> bool:
    """Objects by the keys that are named, lists from their start, everything else exactly."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and fits(value, found[key]) for key, value in wanted.items()
        )
    return bool(wanted == found)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']}-{case['title']}" for case in CASES])
def test_what_the_document_says_holds(case: dict[str, Any], tmp_path: Path) -> None:
    stage = Stage(case, tmp_path)
    with stage.engine:
        stage.play()
        expect = case["expect"]
        for wanted, found in zip(expect.get("results", []), stage.results, strict=False):
            assert fits(wanted, found), (wanted, found)
        assert len(stage.results) >= len(expect.get("results", []))
        if "calls" in expect:
            calls = stage.calls()
            assert len(calls) == len(expect["calls"]), calls
            for named, call in zip(expect["calls"], calls, strict=True):
                assert all(fits(part, other) for part, other in zip(named, call, strict=False)), (named, call)
        if "entries" in expect:
            assert stage.entries() == expect["entries"]
        if "applied" in expect:
            time.sleep(0.2 * SLOWLY)  # a stale answer would arrive in this time, and must not be applied
            stage.collect()
            assert stage.applied == expect["applied"]
        if "key_hook_config" in expect:
            assert key_hook_config(stage.specs) == expect["key_hook_config"]
        if "mode" in expect:
            assert stage.engine.sessions.peek(SESSION, "prompt.render").mode == expect["mode"]
        _times(stage, expect)
        _errors(stage, expect)


def _times(stage: Stage, expect: dict[str, Any]) -> None:
    """On a loaded machine the bound is what tells waiting from not waiting: four fifths of the hook's delay."""
    delays = [
        answer["after_ms"]
        for plugin in stage.case.get("plugins", [])
        for answers in plugin["answers"].values()
        for answer in answers
    ]
    if "max_ms" in expect:
        assert max(stage.elapsed) < max(expect["max_ms"], 0.8 * max(delays))
    if "min_ms" in expect:
        assert max(stage.elapsed) >= expect["min_ms"]


def _errors(stage: Stage, expect: dict[str, Any]) -> None:
    errors = stage.errors()
    for text in expect.get("errors_contain", []):
        assert any(text in error for error in errors), errors
    if "errors_count" in expect:
        assert len(errors) == expect["errors_count"], errors
    if expect.get("no_errors"):
        assert errors == []
