"""Print a completion script, for hookline and for its other name, lh.

bash:  eval "$(hookline completion bash)"
zsh:   eval "$(hookline completion zsh)"
fish:  hookline completion fish | source

Commands and their own commands, options, agents, dialects, event names and names of hooks are completed; event names are
those of the dialect that stands on the line, or the canonical ones. The scripts learn the names of the hooks that are
found here from hookline completion names: it reads files, runs nothing, and leaves out names with signs that mean
something to a shell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.cli import COMMANDS
from hookline.cli.command_tree import Value, forms
from hookline.core.agents import all_agents
from hookline.core.event import EVENTS
from hookline.dialects import DIALECTS, dialect_named

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from hookline.cli.command_tree import Form, Option


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "names"))


def run(args: Namespace) -> int:
    if args.shell == "names":
        from hookline.cli.hook_names import hook_names  # the scripts do without the configuration

        print("\n".join(hook_names()))
        return 0
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]())
    return 0


# ── bash and zsh ─────────────────────────────────────────────────────────────────────────────────────

#: ``at`` is the command and, where it has commands of its own, which one; ``before`` the option whose value is typed.
#: Where nothing is answered the shell completes file names itself, and knows better how to quote them. ``path`` and ``words`` are zsh's own.
_SCRIPT = """_hookline() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="" at="" dialect="" option="" word="" prefix="" answers="" i
  for (( i = 1; i < COMP_CWORD; i++ )); do
    word="${{COMP_WORDS[i]}}"
    if [ "$word" = "=" ]; then continue; fi
    case "$word" in --*=*) option="${{word%%=*}}"; word="${{word#*=}}" ;; esac
    if [ -n "$option" ]; then
      if [ "$option" = "--dialect" ]; then dialect="$word"; fi
      option=""
      continue
    fi
    case "$at $word" in
{taking}
    esac
    case "$word" in -*) continue ;; esac
    case "$at" in
      "") at="$word" ;;
{nested}
      *) if [ -z "$before" ]; then before="$word"; fi ;;
    esac
  done
  if [ "$current" = "=" ]; then current=""; fi
  case "$current" in --*=*) option="${{current%%=*}}"; prefix="$option="; current="${{current#*=}}" ;; esac
  if [ -n "$option" ]; then
    case "$at $option" in
{values}
    esac
  elif [ "${{current#-}}" != "$current" ]; then
    case "$at" in
{options}
    esac
  else
    case "$at" in
      ""|help) answers="{commands}" ;;
{following}
    esac
  fi
  if [ "$answers" = "@events" ]; then
    case "$dialect" in
{events}
      *) answers="{canonical}" ;;
    esac
  fi
  if [ "$answers" = "@hooks" ]; then answers="$({names})"; fi
  COMPREPLY=($(compgen -P "$prefix" -W "$answers" -- "$current"))
}}
complete -o default -F _hookline hookline lh"""

#: Not the program on the line: a stranger's directory may have one of that name, and Tab must not start it.
_NAMES = "command hookline completion names 2>/dev/null </dev/null"


def _bash() -> str:
    every = forms()
    nested = [form for form in every if form.commands]
    return _SCRIPT.format(
        taking="\n".join(_taking(every)),
        nested="\n".join(f'      {_quoted(form.path)}) at="$at $word" ;;' for form in nested),
        values="\n".join(_values(every)),
        options="\n".join(f'      {_quoted(form.path)}) answers="{" ".join(form.long_options)}" ;;' for form in every),
        commands=" ".join((*COMMANDS, "help", "exit-codes")),
        following="\n".join(_following(every)),
        events="\n".join(
            f'      {name}) answers="{" ".join((*events, *EVENTS))}" ;;' for name, events in _event_names()
        ),
        canonical=" ".join(EVENTS),
        names=_NAMES,
    )


def _taking(every: tuple[Form, ...]) -> Iterator[str]:
    """Options that are followed by a value: it is no command, whatever it looks like."""
    for form in every:
        names = [name for option in form.options if option.value for name in option.names]
        if names:
            yield f'      {"|".join(_quoted((*form.path, name)) for name in names)}) option="$word"; continue ;;'


def _values(every: tuple[Form, ...]) -> Iterator[str]:
    for form in every:
        for option in form.options:
            if option.value and (words := _words(option.value)):
                named = "|".join(_quoted((*form.path, name)) for name in option.names)
                yield f'      {named}) answers="{words}" ;;'


def _following(every: tuple[Form, ...]) -> Iterator[str]:
    """After the command: its own commands, else what its first word may be, else its options."""
    for form in every:
        words = " ".join(name for name, _ in form.commands) or (_words(form.word) if form.word else "")
        if not words and form.word is None:
            words = " ".join(form.long_options)
        if words:
            guard = '[ -n "$before" ] || ' if form.word is not None and not form.commands else ""
            yield f'      {_quoted(form.path)}) {guard}answers="{words}" ;;'


def _words(value: Value) -> str:
    known = {"words": value.words, "agents": tuple(all_agents()), "dialects": tuple(DIALECTS), "events": ("@events",)}
    known |= {"hooks": ("@hooks",)}
    return " ".join(known.get(value.kind, ()))


def _event_names() -> Iterator[tuple[str, tuple[str, ...]]]:
    for dialect in DIALECTS:
        theirs = tuple(name for name in dialect_named(dialect).events if name not in EVENTS)
        if theirs:
            yield dialect, theirs


def _quoted(words: tuple[str, ...]) -> str:
    return f'"{" ".join(words)}"'


def _zsh() -> str:
    """bash's script: zsh can run it, once its own completion is there, which not everybody has switched on."""
    start = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }\nautoload -Uz bashcompinit && bashcompinit"
    return f"{start}\n{_bash()}"


# ── fish ─────────────────────────────────────────────────────────────────────────────────────────────


#: ``hooks run`` is not ``run``: the command is the first word, wherever its name stands again.
_FISH_IS = """function __hookline_is
  set -l words (commandline -opc)
  test "$words[2]" = $argv[1]
end"""


def _fish() -> str:
    lines = [_FISH_IS, "complete -c hookline -f"]
    lines += [
        f"complete -c hookline -n '__fish_use_subcommand; or __hookline_is help' -a {name} -d '{_plain(about)}'"
        for name, about in COMMANDS.items()
    ]
    for form in forms():
        lines += _fish_form(form)
    lines.append("complete -c lh -w hookline")
    return "\n".join(lines)


def _fish_form(form: Form) -> Iterator[str]:
    command, *further = form.path
    seen = "; and ".join([f"__hookline_is {command}", *(f"__fish_seen_subcommand_from {word}" for word in further)])
    here = f"complete -c hookline -n '{seen}'"
    own = " ".join(name for name, _ in form.commands)
    for name, about in form.commands:
        yield f"complete -c hookline -n '{seen}; and not __fish_seen_subcommand_from {own}' -a {name} -d '{_plain(about)}'"
    if form.word is not None:
        yield f"{here} {_fish_value(form.word)}" if form.word.kind != "anything" else f"{here} -f"
    for option in form.options:
        yield f"{here} {_fish_option(option)} -d '{_plain(option.about)}'"


def _fish_option(option: Option) -> str:
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    value = "" if option.value is None else f" -r {_fish_value(option.value)}"
    return " ".join(names) + value.rstrip()


def _fish_value(value: Value) -> str:
    if value.kind == "files":
        return "-F"
    words = {"events": " ".join(EVENTS), "hooks": f"({_NAMES})"}.get(value.kind) or _words(value)
    return f"-f -a '{words}'" if words else "-f"


def _plain(text: str) -> str:
    """One line without anything that a quoted word of fish would end at."""
    return text.partition("\n")[0].replace("'", "").replace("\\", "")
