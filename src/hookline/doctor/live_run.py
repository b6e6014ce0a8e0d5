"""Run the real agent offline: in a temporary home with its registration and one hook that denies.

Three things prove that the hook works: hookline's record, the tool that did not run, and the model, which got the reason.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hookline.core.paths import find_paths
from hookline.core.settings import RecordSettings
from hookline.deploy.apply import read
from hookline.deploy.offline import RECIPES, Recipe, write_files
from hookline.deploy.plan import FileFormat, Registration, own_entries, plan_file
from hookline.doctor.finding import Finding, fine, note, wrong
from hookline.state.record.query import firings
from hookline.state.record.store import store_in

if TYPE_CHECKING:
    from hookline.deploy.requirements import AgentFile

#: Every run has a network of its own, so one port serves all.
_PORT = 8900
_URL = f"http://127.0.0.1:{_PORT}"
_WORD = "denied by hookline doctor"
#: Where an entry says that the person's files are, in a line of a shell and in a plugin.
_DIRECTORY = re.compile(r"""--(home|config-dir|state-dir|data-dir)(" *, *"|[ =])(?:'[^']*'|[^\s"']+)""")
_HOOK = f"""\
[[hook]]
name = "doctor"
on = "PreToolUse"
shell = "echo '{_WORD}' >&2; exit 2"
"""


def run_agent(aim: AgentFile, program: str, environ: Mapping[str, str]) -> Finding:
    """Run it once. Only the program and the registration are the person's own."""
    recipe = RECIPES.get(aim.agent.name)
    if recipe is None:
        return note("run", f"{aim.agent.name} cannot run without a network")
    alone = isolation_command()
    if alone is None:
        return note("run", "not run: this system cannot cut off the agent's network (unshare)")
    with _temporary_folder() as folder:
        home, project = os.path.join(folder, "home"), os.path.join(folder, "project")
        _prepare_home(aim, recipe, home, project)
        told = _run_sandbox(recipe, program, environ, alone, (folder, home, project))
        return _evaluate(told, home, project)


@contextmanager
def _temporary_folder() -> Generator[str]:
    """A temporary folder, deleted even if a dying process still writes into it."""
    made = tempfile.mkdtemp(prefix="hookline-doctor-")
    try:
        yield made
    finally:
        for _ in range(50):
            shutil.rmtree(made, ignore_errors=True)
            if not os.path.exists(made):
                break
            time.sleep(0.1)


def isolation_command() -> list[str] | None:
    """A command prefix that cuts off the network and kills everything when we end; None if there is none."""
    unshare = shutil.which("unshare")
    ended = ["-p", "-f", "--kill-child", "--mount-proc"]
    every = [["-n", *ended], ["-r", "-n", *ended], ["-n"], ["-r", "-n"]]
    for words in [[unshare, *one] for one in every] if unshare else ():
        try:
            if subprocess.run([*words, "true"], capture_output=True, check=False, timeout=10).returncode == 0:
                return [str(word) for word in words]
        except (OSError, subprocess.TimeoutExpired):
            continue
    return None


def _prepare_home(aim: AgentFile, recipe: Recipe, home: str, project: str) -> None:
    for place in (os.path.join(home, "tmp"), os.path.join(home, ".config/hookline"), os.path.join(project, ".git")):
        os.makedirs(place)
    with open(os.path.join(home, ".config/hookline/hookline.toml"), "w", encoding="utf-8") as file:
        file.write(_HOOK)
    write_files(recipe, home, project, _URL)
    text, _refused = read(aim.path)
    copy = os.path.join(home, aim.agent.files["user"])
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    if aim.agent.form != "plugin":
        own = own_entries(text, aim.path) if text else ()
        mine = [Registration(event=one.event, entry=one.value) for one in own]
        there, _refused = read(copy)
        text = plan_file(copy, there, mine, FileFormat.of(aim.agent)).after
    with open(copy, "w", encoding="utf-8") as file:
        file.write(_moved(text or "", home))


def _moved(text: str, home: str) -> str:
    """The registration with this home's directories: its hook and its record are looked for there."""
    paths = find_paths({}, home)
    places = {"home": home, "config-dir": paths.config, "state-dir": paths.state, "data-dir": paths.data}
    return _DIRECTORY.sub(lambda found: f"--{found[1]}{found[2]}{places[found[1]]}", text)


def _run_sandbox(
    recipe: Recipe, program: str, environ: Mapping[str, str], alone: list[str], places: tuple[str, str, str]
) -> dict[str, Any]:
    folder, home, project = places
    clean = {
        "PATH": environ.get("PATH", os.defpath), "HOME": home, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
        "TMPDIR": os.path.join(home, "tmp"), "HOOKLINE_DAEMON": "off", **recipe.variables(_URL),
    }  # fmt: skip
    order, result = os.path.join(folder, "order.json"), os.path.join(folder, "result.json")
    runs = [
        {"argv": argv, "environ": clean, "cwd": project, "timeout": recipe.patience}
        for argv in recipe.lines(program, _URL)
    ]
    script = {"steps": [recipe.step()], "default": "All done."}
    with open(order, "w", encoding="utf-8") as file:
        json.dump({"port": _PORT, "script": script, "runs": runs, "result": result}, file)
    done = subprocess.run(
        [*alone, sys.executable, "-m", "hookline.doctor.sandbox", order], cwd=folder, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", check=False, timeout=recipe.patience * len(runs) + 30,
    )  # fmt: skip
    try:
        with open(result, encoding="utf-8") as file:
            told: dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        return {"runs": [{"code": done.returncode, "out": done.stdout, "err": done.stderr}], "requests": []}
    return told


def _evaluate(told: dict[str, Any], home: str, project: str) -> Finding:
    last, asked = told["runs"][-1], told["requests"]
    store = store_in(os.path.join(home, ".local/state/hookline"), RecordSettings())
    try:
        seen = list(dict.fromkeys(row.event for row in firings(store, last=None))) if os.path.exists(store.path) else []
    finally:
        store.close()
    ran = os.path.exists(os.path.join(project, "proof.txt"))
    heard = any(_WORD in request for request in asked)
    if "PreToolUse" in seen and not ran and heard:
        return fine("run", f"offline run: fired {', '.join(seen)}; a denial stopped the tool and reached the model")
    what = (
        "the agent ended before it asked the model"
        if not asked
        else "no hook fired before the tool"
        if "PreToolUse" not in seen
        else "the tool ran although a hook denied it"
        if ran
        else "a denial stopped the tool, but the model did not get the reason"
    )
    said = " ".join(str(last["err"] or last["out"]).split())[-300:]
    return wrong(
        "run", f"offline run: {what} (exit code {last['code']}, fired: {', '.join(seen) or 'nothing'}): {said}"
    )
