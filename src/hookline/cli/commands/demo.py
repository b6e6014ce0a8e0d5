"""Watch hooks of every dialect decide, inject and block, in a temporary project.

Everything is real but the model: real hooks, real processes, real decisions and a real record. No key, no
account, no network.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from importlib.resources import as_file, files
from importlib.util import find_spec

from hookline.cli.commands import log
from hookline.cli.commands.fire import render_decision
from hookline.cli.output import paint
from hookline.cli.parser import Parser
from hookline.core.paths import Paths
from hookline.demo.story import MODEL_SCRIPT, STORY, play_memory
from hookline.engine import fold
from hookline.engine.build import Runtime, Sources, StoreOptions, load_runtime
from hookline.engine.load import approve
from hookline.llm.scripted import ModelServer


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="keep the demo project to play with")


def run(args: Namespace) -> int:
    folder = tempfile.mkdtemp(prefix="hookline-demo-")
    try:
        project = _project(folder)
        with ModelServer(MODEL_SCRIPT) as server:
            environ = {**os.environ, **server.environ(), "LH_CONFIG_DIR": os.path.join(project, "lazy-harness")}
            _play(project, environ, folder)
        _remember(project, environ, folder)
        _print_next_steps(folder, project, keep=args.keep)
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _project(folder: str) -> str:
    """The demo's files, copied to where a project would have them, with programs that may be run."""
    project = os.path.join(folder, "project")
    with as_file(files("hookline.demo").joinpath("project")) as source:
        shutil.copytree(source, project, ignore=shutil.ignore_patterns("__pycache__"))
    os.makedirs(os.path.join(project, ".hookline"))
    os.rename(os.path.join(project, "hookline.toml"), os.path.join(project, ".hookline", "hookline.toml"))
    for place, _, names in os.walk(project):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                if file.read(2) == b"#!":
                    os.chmod(path, 0o700)
    return project


def _play(project: str, environ: Mapping[str, str], folder: str) -> None:
    print(f"A project in {project} with hooks of six dialects. First, its hooks are approved by their content:\n")
    paths = Paths(config=f"{folder}/config", state=f"{folder}/state", data=f"{folder}/data", machine=f"{folder}/etc")
    _approve(project, environ, paths)
    runtime = _assemble(project, environ, paths)
    _print_problems(runtime)
    with runtime.engine as engine:
        for number, step in enumerate(STORY, 1):
            print(paint(f"{number:>2}. {step.about}", "bold"), flush=True)
            decision = engine.fire_sync(step.event, {**step.data, "session_id": "demo"})
            print(_indent(render_decision(fold.amend(decision, engine.join()))), end="\n\n", flush=True)


def _remember(project: str, environ: Mapping[str, str], folder: str) -> None:
    print(paint("Sessions remember, across agents:", "bold"), end="\n\n")
    for number, chapter in enumerate(play_memory(folder, project, environ), len(STORY) + 1):
        print(paint(f"{number:>2}. {chapter.about}", "bold"))
        print(_indent(chapter.shown), end="\n\n", flush=True)


def _assemble(project: str, environ: Mapping[str, str], paths: Paths, *, inspect: bool = False) -> Runtime:
    sources = Sources(cwd=project, environ=environ, paths=paths, inspect=inspect)
    return load_runtime(sources, StoreOptions(sessions=True))


def _approve(project: str, environ: Mapping[str, str], paths: Paths) -> None:
    runtime = _assemble(project, environ, paths, inspect=True)
    runtime.engine.close()
    approved = [spec for spec in runtime.loaded.specs if spec.id in runtime.verdicts]
    approve(runtime, approved)
    names = ", ".join(dict.fromkeys(one.name for one in approved))
    print(f"    hookline trust --yes    approved {len(approved)} hooks: {names}\n")


def _print_problems(runtime: Runtime) -> None:
    for problem in runtime.loaded.problems:
        print(f"hookline: {problem}", file=sys.stderr)
    if find_spec("pydantic_ai") is None:
        print("    (no client for models is installed, so the hook that asks a model will visibly fail)\n")


def _print_next_steps(folder: str, project: str, *, keep: bool) -> None:
    print(paint("What was recorded:", "bold"))
    before = os.environ.get("HOOKLINE_STATE_DIR")
    os.environ["HOOKLINE_STATE_DIR"] = f"{folder}/state"
    parser = Parser(prog="hookline log", description=None)
    log.configure(parser)
    log.run(parser.parse_args(["--last", "4"]))
    if before is None:
        del os.environ["HOOKLINE_STATE_DIR"]
    else:
        os.environ["HOOKLINE_STATE_DIR"] = before
    print(f"\nThe project is still there: cd {project}" if keep else "\nTo keep the project: hookline demo --keep")
    print("Next: write .hookline/hookline.toml in a project of your own, then")
    for command in (
        "hookline check",
        "hookline trust",
        'hookline explain PreToolUse --data \'{"tool_name": "Bash"}\'',
        "hookline log --follow",
    ):
        print(f"    {command}")


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
