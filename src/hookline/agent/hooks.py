"""The engine with a conversation's hooks, and the trust in programs of a found ``lectic.yaml``.

The user named the conversation itself, so it is trusted. A ``lectic.yaml`` found upwards may be someone
stranger's: its hooks run once ``hookline trust --dialect lectic`` approved them, its programs (tools, servers,
``exec:`` values, sandboxes) once ``hookline run --trust`` did. Both are approved by content.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hookline.core.errors import DataError
from hookline.core.hook import Command, HookSpec, Origin, hook_id
from hookline.core.paths import project_root
from hookline.engine.build import Runtime, Sources, StoreOptions, load_runtime

if TYPE_CHECKING:
    from hookline.agent.lectic_config import Header, Where

#: Keys whose values are programs or code.
_PROGRAMS = frozenset({"exec", "mcp_command", "sandbox", "extensions", "sqlite"})


def build_runtime(header: Header, where: Where, *, trust_all: bool, sessions: bool) -> Runtime:
    """Our own layers together with the conversation's hooks; a file in both is read once."""
    return load_runtime(
        Sources(
            cwd=where.cwd,
            environ=where.environ,
            home=where.home,
            paths=where.paths,
            trust_all=trust_all,
            more=header.specs,
            as_approved=header.base,
        ),
        StoreOptions(sessions=sessions),
    )


def check_programs(header: Header, where: Where, *, trust_all: bool, approve: bool) -> None:
    """Raise ``DataError`` for programs that are not trusted; with ``approve``, trust them from now on."""
    programs = [] if trust_all else list(_programs(header))
    if not programs:
        return
    from hookline.state.trust import TrustStore  # most conversations have none

    place = os.path.join(where.paths.state, "programs.json")
    root = project_root(where.directory, where.home)
    store = TrustStore(place, root=root, environ=where.environ)
    if approve:
        store.approve(programs)
        return
    verdicts = store.verdicts(programs)
    open_ones = [spec for spec in programs if verdicts[spec.id].state != "trusted"]
    if open_ones:
        listed = "\n".join(f"  {spec.name}: {_line(spec)}" for spec in open_ones)
        raise DataError(
            f"{open_ones[0].origin.file} names programs that are not trusted yet:\n{listed}\n"
            "look at them, and then run the same command once with --trust"
        )


def _line(spec: HookSpec) -> str:
    text = spec.action.text.strip() if isinstance(spec.action, Command) else ""
    first, more, _ = text.partition("\n")
    return f"{first} …" if more else first


def _programs(header: Header) -> Iterator[HookSpec]:
    """As hook specs, so that they are pinned and approved like hooks."""
    for path, tree in header.found:
        whole = json.dumps(_without_hooks(tree), sort_keys=True, default=str)
        for pointer, name, text in _walk(tree, "$"):
            yield HookSpec(
                id=hook_id(path, pointer, "program"),
                name=name,
                dialect="lectic",
                event="program",
                origin=Origin(file=path, pointer=pointer, layer="project"),
                action=Command(form="words", text=text),
                enabled=False,
                # Variables and arguments matter as much as the program: any change needs a new approval.
                extra={"around": whole},
            )


def _without_hooks(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _without_hooks(item) for key, item in value.items() if key != "hooks"}
    return [_without_hooks(item) for item in value] if isinstance(value, list) else value


def _walk(value: Any, pointer: str, key: str = "") -> Iterator[tuple[str, str, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name != "hooks":
                yield from _walk(item, f"{pointer}.{name}", str(name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, f"{pointer}[{index}]", key)
    elif isinstance(value, str) and (key in _PROGRAMS or value.lstrip("\"'").startswith("exec:")):
        yield pointer, pointer.removeprefix("$."), value
