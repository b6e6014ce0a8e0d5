"""What hooks need is looked up when a pack is added: a guard that cannot start is no dead guard."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.packs.conftest import Box, plugin, write

node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
#: Refuses what the module says, in the words of Claude Code's hooks; of either kind of module.
_BODY = 'if (text.includes(word)) { console.error("a pack refuses"); process.exit(2); }\n'
_IMPORT = 'import { readFileSync } from "node:fs";\nimport word from "forbidden-word";\nconst text = readFileSync(0, "utf8");\n'
_REQUIRE = (
    'const fs = require("fs");\nconst word = require("forbidden-word");\nconst text = fs.readFileSync(0, "utf8");\n'
)
_SCRIPTS = {"guard.mjs": _IMPORT + _BODY, "guard.cjs": _REQUIRE + _BODY}
_MODULE = {
    "package.json": '{"name": "forbidden-word", "main": "main.js"}',
    "main.js": 'module.exports = "forbidden";\n',
}


def _pack(folder: Path, name: str, text: str, **more: str) -> Path:
    command = {"type": "command", "command": f'node "${{CLAUDE_PLUGIN_ROOT}}/lib/{name}"'}
    hooks = json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [command]}]}})
    return write(folder, plugin() | {"hooks/hooks.json": hooks, f"lib/{name}": text, **more})


@node
@pytest.mark.parametrize("name", sorted(_SCRIPTS))
def test_a_module_of_this_machine_is_found_without_being_fetched(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write(tmp_path / "modules/forbidden-word", _MODULE)
    monkeypatch.setenv("NODE_PATH", str(tmp_path / "modules"))
    added = box("add", str(_pack(tmp_path / "plug", name, _SCRIPTS[name])), "--yes", "--json")
    monkeypatch.delenv("NODE_PATH")
    assert [note for note in added.json["notes"] if "forbidden-word" in note] == []
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]
    assert box.effect("forbidden") == "deny"  # the links are no change of the working copy


@node
def test_a_missing_module_is_named_when_the_pack_is_added_and_its_guard_refuses(box: Box, tmp_path: Path) -> None:
    folder = _pack(tmp_path / "plug", "guard.mjs", _SCRIPTS["guard.mjs"])
    added = box("add", str(folder), "--yes", "--json")
    missing = (
        "the node module forbidden-word is not installed; npm install --global forbidden-word; then add the pack again"
    )
    assert added.json["notes"][:2] == [
        missing,
        "until then its guards refuse what they guard; --on-failure ignore or deny decides it",
    ]
    assert 'on_failure = "deny"' in box.config.read_text()
    assert box.effect("ls") == "deny"
    assert box("pack", "check", str(folder), "--json").json["problems"][0]["finding"] == missing.partition(";")[0]


@node
def test_a_pack_may_bring_its_modules_and_may_do_without_what_it_tries(box: Box, tmp_path: Path) -> None:
    tries = 'try {\n  require("colours-that-nobody-has");\n} catch {}\n'
    inside = {f"node_modules/forbidden-word/{path}": text for path, text in _MODULE.items()}
    helper = {"lib/word.cjs": 'const word = require("forbidden-word");\nmodule.exports = word;\n'}
    text = tries + _REQUIRE.replace('"forbidden-word"', '"./word.cjs"') + _BODY
    added = box("add", str(_pack(tmp_path / "plug", "guard.cjs", text, **inside, **helper)), "--yes", "--json")
    assert [note for note in added.json["notes"] if "module" in note] == []
    assert [box.effect("forbidden"), box.effect("ls")] == ["deny", "allow"]


def test_a_missing_interpreter_is_named_and_its_guard_refuses(box: Box, tmp_path: Path) -> None:
    files = plugin() | {"hooks/guard.sh": "#!/usr/bin/env interpreter-that-nobody-has\n"}
    added = box("add", str(write(tmp_path / "plug", files)), "--yes", "--json")
    assert [("interpreter-that-nobody-has" in note, "until then" in note) for note in added.json["notes"][:2]] == [
        (True, False),
        (False, True),
    ]
    assert box.effect("ls") == "deny"


def test_who_says_so_lets_calls_pass_while_an_interpreter_is_missing(box: Box, tmp_path: Path) -> None:
    files = plugin() | {"hooks/guard.sh": "#!/usr/bin/env interpreter-that-nobody-has\n"}
    added = box("add", str(write(tmp_path / "plug", files)), "--yes", "--json", "--on-failure", "ignore")
    assert "until then its guards let everything pass; --on-failure ignore or deny decides it" in added.json["notes"]
    assert box.effect("ls") == "allow"
