"""lash's document, row by row."""

from __future__ import annotations

from typing import Final

from hookline.core.event import EVENTS
from hookline.dialects.compat import Row, Table, behaviour, different, event, field

_OURS = "Fired by hookline itself about its plugins, in an engine that stays alive (the library)."

#: What else there is to say about an event; the table of events says what a deny stops and what may be changed.
_NOTES = {
    "plugin.load": _OURS,
    "plugin.unload": _OURS,
    "plugin.message": f"{_OURS} A plugin does not hear its own messages.",
    "plugin.describe": "A plugin that does not answer it is described from its handshake.",
    "input.key": "Filtered by keys; `hookline explain --dialect lash --keys` prints the union.",
    "input.prefix": "A deny with prefill hands the line back; `edit: true` beside it keeps it for editing.",
}


def _events() -> tuple[Row, ...]:
    return tuple(event(kind.name, _NOTES.get(kind.name, "")) for kind in EVENTS.values() if kind.family == "shell")


TABLE: Final = Table(
    dialect="lash",
    system="lash",
    places="`~/.lash/config` and `~/.lash/plugins.conf`",
    rows=(
        # ── the files ────────────────────────────────────────────────────────────────────────────────
        field("[hooks]", "`event = type:path, type:path`; `~` is expanded, `#` begins a comment."),
        field("[plugins]", "`name = /path`, after all entries of `[hooks]`. A plugin is started with the path of its socket."),
        field("builtin:NAME", "`git-prompt`, `typo-correct`, `guard` and `ask`; lash's other built-ins are a problem.", "differently"),
        field("observe"),
        field("blocking", "5 s unless it says otherwise."),
        field("fire_and_forget", "The same as observe."),
        field("async_apply", "60 s. A late answer that is no longer current is recorded and dropped."),
        field("on_error", "hookline's own addition: `blocking(on_error=deny, timeout=2s):/path` fails closed; for a plugin `name = plugin(on_error=deny, timeout=80ms):/path`.", "differently"),
        field("timeout", "hookline's own addition, in the same place, or in a plugin's hook_config.", "differently"),
        # ── the handshake ────────────────────────────────────────────────────────────────────────────
        field("hooks", "Names without an entry in hook_config are blocking; a name in both is one registration."),
        field("hook_config"),
        field("event"),
        field("mode", "Also observe, which the document leaves out here."),
        field("keys", "Left out: all keys. An empty list: none. Only on input.key."),
        field("methods", "Told by plugin.describe; there are no functional chains to call them in.", "no"),
        field("completions", "Told by plugin.describe; there is no completion to ask for them.", "no"),
        field("version", "Compared by its major number."),
        *_events(),
        event("agent events", "hookline's own addition: PreToolUse and the others can be hooked in these files too.", "differently"),
        # ── what it does ─────────────────────────────────────────────────────────────────────────────
        behaviour("the envelope", "event, timestamp, session_id, role, data; and mode while a session mode is set."),
        behaviour("allow, deny, modify", "Only the word deny denies; a program that exits with an error has failed."),
        behaviour("blocking hooks chain", "Each gets the data as the one before left them; a deny ends the chain."),
        behaviour("session mode", "`mode` in the data of any answer; an empty text clears it."),
        behaviour("every name of the key table", "Keys that a terminal cannot tell apart have one name: ctrl+i is tab."),
        behaviour("the shell itself", "hookline fires these events for whoever sends them (`fire`, `hook --agent lash`, the library); it brings no shell of its own.", "no"),
        different("modify", "Merged by top-level key; null sets null. Taken literally, replacing would let an answer that only sets the mode delete the command."),
        different("fields that cannot be changed", "Are restored, and the attempt is recorded."),
        different("a timeout or a crash", "Lets the action pass unless `on_error=deny`; the document is silent. It is in the record either way."),
        different("a deny of what has happened", "Ignored and recorded; so is one from an observer, whose answer is not even read."),
        different("a plugin that hangs, crashes, floods or breaks its protocol", "Costs its callers their deadline at most, is ended with its process group, and is started again after a pause that doubles."),
        different("an ask by a hook of another dialect", "Becomes a deny that says so: lash has nobody to ask."),
    ),
)  # fmt: skip
