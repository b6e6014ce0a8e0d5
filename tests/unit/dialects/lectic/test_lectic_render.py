"""Hooks written down as Lectic's, and what gets lost on the way."""

from __future__ import annotations

from dataclasses import replace

from hookline.config.syntax.yaml import read
from hookline.core.hook import Command, Gates, HookSpec, Http, Matcher, Origin, Pattern
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.lectic import DIALECT


def parsed(text: str) -> tuple[HookSpec, ...]:
    layer = Layer(path="/p", name="user", syntax="yaml", text=text, tree=read("/p", text).tree)
    result = DIALECT.parse([layer], Lookup())
    assert result.problems == ()
    return result.specs


def bare(specs: tuple[HookSpec, ...]) -> list[HookSpec]:
    return [replace(spec, id="", origin=Origin(file="")) for spec in specs]


FULL = """
interlocutors:
  - name: Bot
    prompt: p
    model: m
    hooks:
      - {name: "on", on: assistant_final, do: echo "a b" $X, inline: true, inline_as: comment, icon: "!"}
    tools:
      - name: search
        exec: rg
        hooks:
          - {on: [tool_use_pre, tool_use_post], do: "true", env: {A: "off", B: "1"}}
  - name: Other
    hooks:
      - {on: run_end, do: x, mode: detached}
hooks:
  - name: script
    on: [user_message, run_end]
    inline: true
    allow_failure: true
    do: |
      #!/bin/sh
      echo "'quotes': and \\\\ more"

      echo done
  - {on: user_first, do: "it's", mode: background}
"""


def test_what_lectic_can_say_survives_the_round_trip() -> None:
    specs = parsed(FULL)
    rendered = DIALECT.render(specs)
    assert rendered.losses == ()
    assert bare(parsed(rendered.text)) == bare(specs)
    assert "\n- " in rendered.text
    assert "'on':" not in rendered.text


def foreign(**fields: object) -> HookSpec:
    made = HookSpec(
        id="i", name="n", dialect="letta", event="PreToolUse", origin=Origin(file="f", pointer="$.x"), timeout=600.0,
        action=Command(form="argv", argv=("prog", "it's", "$HOME", "a b")),
    )  # fmt: skip
    return replace(made, **fields)  # type: ignore[arg-type]  # fields of the test's own choosing


def test_arguments_are_quoted_so_that_they_come_back_as_they_were() -> None:
    from hookline.dialects.lectic.tokens import expand_argv

    (spec,) = parsed(DIALECT.render([foreign()]).text)
    assert isinstance(spec.action, Command)
    assert expand_argv(spec.action.text, {"HOME": "/h"}) == ("prog", "it's", "$HOME", "a b")
    (spec,) = parsed(DIALECT.render([foreign(action=Command(form="shell", text="echo $HOME | wc"))]).text)
    assert isinstance(spec.action, Command)
    assert expand_argv(spec.action.text, {"HOME": "/h"}) == ("sh", "-c", "echo $HOME | wc")


def test_what_lectic_cannot_say_is_a_loss_with_its_address() -> None:
    spec = foreign(matcher=Matcher(subject=Pattern(style="full", text="Bash")), gates=Gates(min_turn=2), timeout=5.0)
    losses = [problem.finding for problem in DIALECT.render([spec]).losses]
    assert [any(word in text for text in losses) for word in ("matcher", "when conditions", "timeout", "letta")] == [
        True
    ] * 4
    assert DIALECT.render([spec]).losses[0].pointer == "$.x"


def test_a_hook_without_words_is_left_out_and_reported() -> None:
    rendered = DIALECT.render([foreign(action=Http(url="https://x")), foreign(event="Notification", name="m")])
    assert parsed(rendered.text) == ()
    assert sum("left out" in problem.finding for problem in rendered.losses) == 2


def test_a_guard_of_another_system_is_not_written_as_one_that_never_refuses() -> None:
    rendered = DIALECT.render([foreign(event="PreToolUse", on_failure="ignore")])
    [spec] = parsed(rendered.text)
    assert spec.on_failure == "deny"
    assert any("every failure" in loss.finding for loss in rendered.losses)


def test_a_hook_that_cannot_refuse_may_still_fail() -> None:
    [spec] = parsed(DIALECT.render([foreign(event="PostToolUse", on_failure="ignore")]).text)[:1]
    assert spec.on_failure == "ignore"
