"""Nothing that hooks are made of is read in silence: a daemon must know when it changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from tests.approval import approve_project

import hookline
from hookline.core.files import listening, note

#: Makes an engine of a project with hooks of all five systems, while the interpreter tells of every file it opens.
ASSEMBLED = """
import json, os, sys
project, home = sys.argv[1:]
opened = set()

def hear(event, args):
    if event in {"open", "os.listdir", "os.scandir"} and isinstance(args[0], str) and os.path.isabs(args[0]):
        opened.add(args[0])

from hookline.engine.build import Sources, load_runtime
from hookline.core.files import listening
environ = {"HOME": home, "PATH": os.environ["PATH"]}
with listening() as noted:
    sys.addaudithook(hear)
    assembly = load_runtime(Sources(cwd=project, home=home, environ=environ, trust_all=False, agents_door=True))
ours = (home + "/.local/state", "/proc/", "/etc/")
covered = [one.covered for one in assembly.verdicts.values() if one.covered is not None]
watched = {os.path.join(files.root, folder) for files in covered for folder, _ in files.cover.folders}  # by trust itself
mine = {path for path in opened - watched if path.startswith((project, home)) and not path.startswith(ours)}
print(json.dumps({"opened": sorted(mine), "noted": sorted(noted), "hooks": len(assembly.loaded.specs)}))
"""


def test_every_file_that_an_engine_is_made_of_is_noted(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    shutil.copytree(Path(hookline.__file__).parent / "demo" / "project", project)
    (home / ".config" / "hookline").mkdir(parents=True)
    (home / ".config" / "hookline" / "hookline.toml").write_text('[[hook]]\nname = "one"\non = "Stop"\nrun = "true"\n')
    (project / ".hookline").mkdir()
    (project / "hookline.toml").rename(project / ".hookline" / "hookline.toml")
    (project / ".git").mkdir()
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    approve_project(project, {**environ, "HOME": str(home)})
    line = [sys.executable, "-c", ASSEMBLED, str(project), str(home)]
    told = json.loads(subprocess.run(line, env=environ, capture_output=True, text=True, check=True).stdout)

    assert told["hooks"] > 5
    assert len(told["opened"]) > 3
    assert set(told["opened"]) <= set(told["noted"])


def test_a_file_that_is_not_there_is_noted_too(tmp_path: Path) -> None:
    with listening() as noted:
        note(str(tmp_path / "nothing"))
        note("relative")
    assert noted == {str(tmp_path / "nothing")}


def test_each_thread_hears_of_its_own_files_as_long_as_it_listens() -> None:
    heard: list[set[str]] = []

    def other() -> None:
        with listening() as noted:
            note("/theirs")
            heard.append(noted)

    with listening() as noted:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        note("/mine")
        with listening() as inner:
            note("/inner")
    note("/late")
    assert (noted, inner, heard) == ({"/mine", "/inner"}, {"/inner"}, [{"/theirs"}])
