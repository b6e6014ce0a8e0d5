"""Where two home directories count, neither takes anything away from the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.core.paths import Directories, find_paths
from hookline.engine.build import READ_ONLY, Runtime, Sources, load_runtime
from hookline.engine.load import approve

GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nshell = "echo {} >&2; exit 2"\n'


class TwoHomes:
    """``one`` is where the variables point, ``other`` the home directory of the password database."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        (self.project / ".git").mkdir(parents=True)
        self.one, self.other = (self._home(folder / name) for name in ("one", "other"))

    def _home(self, home: Path) -> Directories:
        return Directories(home=str(home), paths=find_paths({}, str(home)))

    def write(self, where: Directories, text: str) -> None:
        file = Path(where.paths.config, "hookline.toml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def load(self) -> Runtime:
        one = self.one
        sources = Sources(
            cwd=str(self.project), home=one.home, paths=one.paths, environ={}, lookup=one.variables(),
            others=(self.other,), agents_door=True,
        )  # fmt: skip
        return load_runtime(sources, READ_ONLY)

    def decided(self) -> tuple[str, str]:
        with self.load().engine as engine:
            found = engine.fire_sync("PreToolUse", {"tool_name": "Bash", "tool_input": {}})
        return found.effect, found.reason


@pytest.fixture
def homes(tmp_path: Path) -> TwoHomes:
    return TwoHomes(tmp_path)


def test_a_guard_of_either_refuses(homes: TwoHomes) -> None:
    assert homes.decided() == ("allow", "")
    homes.write(homes.other, GUARD.format("other"))
    assert homes.decided() == ("deny", "other")
    homes.write(homes.other, "")
    homes.write(homes.one, GUARD.format("one"))
    assert homes.decided() == ("deny", "one")


def test_a_hook_of_the_same_name_switches_nothing_off(homes: TwoHomes) -> None:
    homes.write(homes.other, GUARD.format("other"))
    homes.write(homes.one, GUARD.format("one") + "enabled = false\n")
    assert homes.decided() == ("deny", "other")


@pytest.mark.parametrize("where", ["one", "other"])
def test_an_approval_in_either_counts(homes: TwoHomes, where: str) -> None:
    file = homes.project / ".hookline/hookline.toml"
    file.parent.mkdir()
    file.write_text(GUARD.format("project"))
    assert homes.decided() == ("allow", "")
    place: Directories = getattr(homes, where)
    looking = Sources(cwd=str(homes.project), home=place.home, paths=place.paths, environ={}, inspect=True)
    runtime = load_runtime(looking, READ_ONLY)
    approve(runtime, runtime.loaded.specs)
    assert homes.decided() == ("deny", "project")
    file.write_text("")
    assert homes.decided()[0] == "deny"  # a guard that must not be skipped is gone
    file.write_text(GUARD.format("changed"))
    assert homes.decided()[1] != "changed"
