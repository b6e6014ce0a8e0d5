"""Guards of one's own that stay in force as they were deployed, whatever an editor made of their file since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hookline.config.layers import LayerLoader
from hookline.config.load import parse_native, syntax_for
from hookline.core._dataclass import replace
from hookline.core.hook import HookSpec, is_guard
from hookline.core.loaded import Loaded
from hookline.dialects import dialect_named
from hookline.dialects.base import Lookup


def with_kept_guards(
    loaded: Loaded, kept: Mapping[str, tuple[str, str]], lookup: Lookup
) -> tuple[Loaded, tuple[str, ...]]:
    """The hooks with those guards of ``kept`` (path -> text and dialect) that are not there as they were, and a line for
    each file.

    What was added counts at once. A guard that was changed is replaced by the one that was kept.
    """
    lines: list[str] = []
    specs = loaded.specs
    for path, (text, dialect) in kept.items():
        written = [spec for spec in specs if spec.origin.file == path]
        lost = [
            guard for guard in _guards(path, text, dialect, lookup) if not any(_same(guard, spec) for spec in written)
        ]
        slots = {(guard.name, guard.event) for guard in lost}
        changed = {spec.id for spec in written if (spec.name, spec.event) in slots}
        specs = (*lost, *(spec for spec in specs if spec.id not in changed))
        names = list(dict.fromkeys(guard.name for guard in lost))
        if names:
            lines.append(_line(path, names, unread=path in loaded.faulty))
    return (replace(loaded, specs=specs), tuple(lines)) if lines else (loaded, ())


def _line(path: str, names: Sequence[str], *, unread: bool) -> str:
    stays = f"{'stays' if len(names) == 1 else 'stay'} in force as it was"
    if unread:
        return f"{path} has errors, so {', '.join(names)} {stays}; see: hookline check"
    what = f"{', '.join(names)} changed since the last deploy and {stays}"
    return f"{path}: {what}; to accept the change, in a terminal of your own: hookline deploy"


def _guards(path: str, text: str, dialect: str, lookup: Lookup) -> list[HookSpec]:
    reading, speaker = LayerLoader(lookup=lookup), dialect_named(dialect)
    layer = reading.parse(path, text, "user", syntax_for(speaker, path))
    if layer is None:
        return []
    if dialect != "native":
        return list(filter(is_guard, reading.parsed(speaker, [layer])))
    lazy = reading.parsed(dialect_named("lazy"), [layer]) if isinstance(layer.tree.get("hooks"), dict) else ()
    return list(filter(is_guard, (*parse_native(reading, layer), *lazy)))


def _same(guard: HookSpec, spec: HookSpec) -> bool:
    """Wherever in the file it stands now."""
    return replace(guard, id="", origin=spec.origin) == replace(spec, id="")
