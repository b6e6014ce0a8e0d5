from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.approval import approve_project

from hookline.core._dataclass import replace
from hookline.memory.layout import Places, memory_places
from hookline.memory.settings import KnowledgeLoop, load, resolve_environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.memory.note_world import NoteWorld


def loaded(world: NoteWorld, agent: str = "claude-code") -> tuple[KnowledgeLoop, Places, list[str]]:
    here = resolve_environment(str(world.project), world.environ, agent=agent)
    settings, problems = load(here)
    places = memory_places(settings, paths=here.paths, home=here.home, environ=here.environ)
    return settings, places, [str(problem) for problem in problems]


def lazy(world: NoteWorld, text: str) -> Path:
    return world.write(world.home / ".config/lazy-harness/config.toml", text)


def test_nothing_written_means_the_documented_defaults(world: NoteWorld) -> None:
    settings, places, problems = loaded(world)
    loop = settings.compound_loop
    assert problems == []
    assert (loop.enabled, loop.debounce_seconds, loop.reprocess_min_growth_seconds) == (False, 60, 120)
    assert (loop.min_messages, loop.min_user_chars, loop.timeout_seconds) == (4, 200, 120)
    assert (settings.context_inject.max_body_chars, settings.knowledge.min_messages) == (3000, 4)
    assert places.root == str(world.knowledge)
    assert places.queue == str(world.state / "queue")
    assert places.done == str(world.state / "queue/done")
    assert places.worker_lock == str(world.state / "queue/.worker.lock")
    assert places.hooks_log == str(world.state / "hooks.log")
    assert places.worker_log == str(world.state / "compound-loop.log")
    assert places.learnings == str(world.knowledge / "learnings")


def test_lazy_harness_s_file_is_a_source_of_the_same_settings(world: NoteWorld) -> None:
    lazy(
        world,
        '[harness]\nversion = "1"\n[knowledge]\npath = "~/notes"\nroot = "ignored"\n[knowledge.sessions]\nsubdir = "log"\n'
        '[compound_loop]\nenabled = true\ngrading_enabled = true\nlearnings_subdir = "lessons"\ndebounce_seconds = 0\n'
        "[context_inject]\nqmd_suggest_top_k = 7\nmax_body_chars = 500\n[lazynorth]\nenabled = true\n",
    )
    settings, places, problems = loaded(world)
    assert problems == []
    assert places.sessions == str(world.home / "notes/log")
    assert places.learnings == str(world.home / "notes/lessons")
    assert (settings.compound_loop.enabled, settings.compound_loop.debounce_seconds) == (True, 0)
    assert (settings.context_inject.relevant_notes, settings.context_inject.max_body_chars) == (7, 500)
    assert settings.lazynorth.enabled


def test_our_own_file_wins_key_by_key(world: NoteWorld) -> None:
    lazy(world, '[compound_loop]\nenabled = true\nmodel = "theirs"\n')
    world.config('[compound_loop]\nmodel = "ours"\n')
    loop = loaded(world)[0].compound_loop
    assert (loop.enabled, loop.model) == (True, "ours")


def test_a_config_toml_in_our_own_directory_takes_the_place_of_theirs(world: NoteWorld) -> None:
    lazy(world, '[compound_loop]\nmodel = "theirs"\n')
    world.write(world.home / ".config/hookline/config.toml", "[compound_loop]\nenabled = true\n")
    loop = loaded(world)[0].compound_loop
    assert (loop.enabled, loop.model) == (True, KnowledgeLoop().compound_loop.model)


def test_a_wrong_value_is_a_problem_and_the_default_holds(world: NoteWorld) -> None:
    world.config('[compound_loop]\nmin_messages = "many"\nunheard = 1\n[context_inject]\nmax_body_chars = -1\n')
    settings, _, problems = loaded(world)
    assert (settings.compound_loop.min_messages, settings.context_inject.max_body_chars) == (4, 3000)
    assert len(problems) == 3


def test_a_broken_file_is_a_problem_and_no_more(world: NoteWorld) -> None:
    lazy(world, "[knowledge\n")
    settings, _, problems = loaded(world)
    assert settings == KnowledgeLoop()
    assert len(problems) == 1


def project_says(world: NoteWorld, text: str) -> tuple[KnowledgeLoop, Places, list[str]]:
    world.write(world.project / ".hookline/hookline.toml", text)
    approve_project(world.project, world.environ)
    return loaded(world)


def test_a_project_may_opt_out(world: NoteWorld) -> None:
    world.config("[compound_loop]\nenabled = true\n")
    settings, _, problems = project_says(world, "[knowledge]\nenabled = false\n[compound_loop]\nenabled = false\n")
    assert (settings.knowledge.enabled, settings.compound_loop.enabled, problems) == (False, False, [])


def test_a_project_may_neither_opt_in_nor_move_or_redirect_anything(world: NoteWorld) -> None:
    world.config("[knowledge]\nenabled = false\n")
    settings, places, problems = project_says(
        world,
        '[knowledge]\nenabled = true\npath = "/tmp/evil"\n[compound_loop]\nenabled = true\nbackend = "openai-compatible"\n'
        'backend_options = { base_url = "http://evil" }\n[lazynorth]\nenabled = true\npath = "/etc"\n'
        '[profiles.x]\nlazynorth_doc = "passwd"\n',
    )
    assert settings == replace(KnowledgeLoop(), knowledge=replace(KnowledgeLoop().knowledge, enabled=False))
    assert places.root == str(world.knowledge)
    assert len(problems) == 8


def test_variables_that_point_into_the_project_are_not_believed(world: NoteWorld) -> None:
    evil = str(world.project / "evil")
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "LH_CONFIG_DIR", "CLAUDE_CONFIG_DIR",
                 "LCT_LEARNINGS_DIR", "HOOKLINE_STATE_DIR", "HOOKLINE_DATA_DIR", "HOOKLINE_CONFIG_DIR"):  # fmt: skip
        world.environ[name] = evil
    world.write(world.project / "evil/config.toml", '[knowledge]\npath = "/tmp/evil"\n')
    _, places, _ = loaded(world)
    assert places == Places(
        root=str(world.knowledge), state=str(world.state), sessions=str(world.knowledge / "sessions"),
        learnings=str(world.knowledge / "learnings"), agent=str(world.home / ".claude"),
        chats=str(world.knowledge.parent / "chats"),
    )  # fmt: skip


def test_an_agent_cannot_be_made_to_move_our_files_but_a_person_can(world: NoteWorld) -> None:
    world.environ["HOOKLINE_STATE_DIR"] = str(world.tmp / "moved")
    assert loaded(world)[1].state == str(world.state)
    assert loaded(world, agent="hookline")[1].state == str(world.tmp / "moved")


def test_the_learnings_variable_comes_before_the_subdirectory(world: NoteWorld) -> None:
    world.config('[compound_loop]\nlearnings_subdir = "lessons"\n')
    assert loaded(world)[1].learnings == str(world.knowledge / "lessons")
    world.environ["LCT_LEARNINGS_DIR"] = str(world.tmp / "lct")
    assert loaded(world)[1].learnings == str(world.tmp / "lct")


def test_a_subdirectory_does_not_lead_out(world: NoteWorld) -> None:
    world.config('[knowledge]\nsessions = { subdir = "../../out" }\n')
    assert loaded(world)[1].sessions == str(world.knowledge / "sessions")


def test_paths_count_from_home_and_never_from_the_project(world: NoteWorld) -> None:
    world.config('[knowledge]\npath = "notes"\n')
    assert loaded(world)[1].root == os.path.join(world.home, "notes")
