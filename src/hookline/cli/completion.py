"""Print a completion script.

bash:  eval "$(hookline completion bash)"
zsh:   eval "$(hookline completion zsh)"
fish:  hookline completion fish | source
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.cli import COMMANDS, module_of, parser_of
from hookline.dialects import DIALECTS
from hookline.event import EVENTS

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(args: Namespace) -> int:
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]())
    return 0


def options_of(command: str) -> list[str]:
    """The long options of a command, from its own parser, so that none can be forgotten here."""
    parser = parser_of(command, module_of(command))
    found = (name for action in parser._actions for name in action.option_strings)  # noqa: SLF001  argparse has no other door
    return sorted(name for name in found if name.startswith("--"))


def _bash() -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(options_of(name))}" ;;' for name in COMMANDS)
    return f"""_hookline() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
  case "$before" in
    --config) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --dialect) COMPREPLY=($(compgen -W "{" ".join(DIALECTS)}" -- "$current")); return ;;
    fire|explain|--event) COMPREPLY=($(compgen -W "{" ".join(EVENTS)}" -- "$current")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="{" ".join(COMMANDS)}"; else
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _hookline hookline"""


def _zsh() -> str:
    return f"autoload -Uz bashcompinit && bashcompinit\n{_bash()}"


def _fish() -> str:
    lines = ["complete -c hookline -f"]
    lines += [
        f"complete -c hookline -n __fish_use_subcommand -a {name} -d '{about.replace(chr(39), '')}'"
        for name, about in COMMANDS.items()
    ]
    for name in COMMANDS:
        seen = f"'__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c hookline -n {seen} -l {option[2:]}" for option in options_of(name)]
    events = " ".join(EVENTS)
    lines.append(f"complete -c hookline -n '__fish_seen_subcommand_from fire explain' -a '{events}'")
    lines.append(f"complete -c hookline -l dialect -x -a '{' '.join(DIALECTS)}'")
    lines.append("complete -c hookline -l config -r -F")
    return "\n".join(lines)
