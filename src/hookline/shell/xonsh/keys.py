"""input.key, key.tab, key.up, key.down, input.prefix and input.pre_execute: the person's key presses.

Only hooked keys fire events; any other costs one set lookup. Key bindings are not enough, since prompt_toolkit runs one
binding per key: so every key passes here before the editor gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from types import MappingProxyType
from typing import Any

from hookline.dialects.lash.entry import ALIASES, CONTROL, KEY_EVENTS, key_hook_config
from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher
from hookline.shell.xonsh.patch_points import Patches, private
from hookline.shell.xonsh.prompts import redraw

#: Keys with an event of their own.
_EVENT_BY_KEY = {key: event for event, key in KEY_EVENTS.items()}

#: prompt_toolkit's names. Tab, enter and backspace are control characters to a terminal.
EDITOR_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "up": "up", "down": "down", "left": "left", "right": "right", "home": "home", "end": "end", "enter": "c-m",
        "tab": "c-i", "backspace": "c-h", "escape": "escape", "delete": "delete", "shift+tab": "s-tab",
        "ctrl+left": "c-left", "ctrl+right": "c-right",
        **{name: f"c-{name[-1]}" for name in CONTROL if name not in ALIASES},
    }
)  # fmt: skip

_NAMES: Mapping[str, str] = MappingProxyType({spelled: name for name, spelled in EDITOR_KEYS.items()})
#: The characters that a terminal sends for control keys.
_SENT: Mapping[str, str] = MappingProxyType({"c-m": "\r", "c-i": "\t", "c-h": "\x7f", "escape": "\x1b"})


class KeyHooks:
    """Knows the hooked keys (KeyHookConfig), and handles them."""

    def __init__(self, dispatcher: ShellDispatcher, mode_changed: Callable[[], None]) -> None:
        self._dispatcher = dispatcher
        self._mode_changed = mode_changed
        self.hooked: frozenset[str] | None = frozenset()
        self.prefixed = False
        self.refresh()
        dispatcher.on_reload.append(self.refresh)

    def install(self, patches: Patches) -> None:
        patches.apply("keys", self.around_process)
        patches.apply("accept", self._around_accept)

    def refresh(self) -> None:
        """Update the set of hooked keys, by the editor's names; None for all."""
        wanted = key_hook_config(self._dispatcher.specs)
        known = None if wanted == "*" else frozenset(filter(None, map(editor_key, wanted)))
        self.hooked = known
        self.prefixed = self._dispatcher.has_hooks("input.prefix")

    def around_process(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from prompt_toolkit.key_binding import key_processor as processing  # only with an editor

        flush = private(processing, "_Flush")

        def process(processor: Any) -> Generator[None, Any, None]:
            inner = original(processor)
            next(inner)
            while True:
                press = yield
                hooked = self.hooked
                if press is flush or (hooked is not None and press.key not in hooked and not self.prefixed):
                    inner.send(press)
                elif (passed := self._pressed(press)) is not None:
                    inner.send(passed)

        return process

    def _pressed(self, press: Any) -> Any:
        """The key press for the editor; None if a hook swallowed it."""
        from prompt_toolkit.application import get_app  # only with an editor

        key = getattr(press.key, "value", press.key)
        name = key_name(key)
        buffer = get_app().current_buffer
        if name is None or buffer.name != "DEFAULT_BUFFER":
            return press
        hooked = self.hooked
        if hooked is None or key in hooked:
            press = self._keyed(press, name, buffer)
            if press is None:
                return None
            name = key_name(getattr(press.key, "value", press.key)) or name
        if self.prefixed and len(name) == 1 and not buffer.text and not self._prefixed(name, buffer):
            return None
        return press

    def _keyed(self, press: Any, name: str, buffer: Any) -> Any:
        for event in ("input.key", _EVENT_BY_KEY.get(name, "")):
            if not event or not self._dispatcher.has_hooks(event):
                continue
            line = {"buffer": buffer.text, "cursor": buffer.cursor_position}
            answer = self._fire(event, {"key": name, **line} if event == "input.key" else line)
            if not answer.allowed:
                return None
            if answer.changed & {"buffer", "cursor"}:
                # Without a cursor position the cursor goes to the end.
                _put(buffer, answer.data.get("buffer"), answer.data.get("cursor") if "cursor" in answer.named else None)
                return None
            if "key" in answer.changed and (other := _key_press(answer.data["key"])) is not None:
                press = other
        return press

    def _prefixed(self, char: str, buffer: Any) -> bool:
        """Whether the character may be typed. A denial can bring a text to insert, or to submit at once."""
        answer = self._fire("input.prefix", {"char": char})
        if answer.allowed:
            return True
        prefill = answer.attributes.get("prefill")
        if isinstance(prefill, str):
            _put(buffer, prefill, None)
            if not answer.attributes.get("edit"):
                buffer.validate_and_handle()
        return False

    def _fire(self, event: str, data: dict[str, Any]) -> ShellAnswer:
        before = self._dispatcher.mode
        answer = self._dispatcher.fire(event, data)
        if not answer.allowed:
            redraw()
        if self._dispatcher.mode != before:
            self._mode_changed()
        return answer

    def _around_accept(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def validate_and_handle(buffer: Any) -> Any:
            if (
                buffer.name != "DEFAULT_BUFFER"
                or not buffer.text.strip()
                or not self._dispatcher.has_hooks("input.pre_execute")
            ):
                return original(buffer)
            answer = self._fire("input.pre_execute", {"text": buffer.text})
            if not answer.allowed:
                prefill = answer.attributes.get("prefill")
                if isinstance(prefill, str):  # another line for the person to check
                    _put(buffer, prefill, None)
                else:
                    self._dispatcher.notify(answer.problem)
                return None
            if "text" in answer.changed and isinstance(answer.data["text"], str):
                _put(buffer, answer.data["text"], None)
            return original(buffer)

        return validate_and_handle


def _put(buffer: Any, text: Any, cursor: Any) -> None:
    from prompt_toolkit.document import Document  # only with an editor

    new = text if isinstance(text, str) else buffer.text
    place = cursor if isinstance(cursor, int) and not isinstance(cursor, bool) else len(new)
    buffer.document = Document(new, min(max(place, 0), len(new)))
    redraw()


def _key_press(name: Any) -> Any:
    """The press of another key by its name; None for an unknown name."""
    from prompt_toolkit.key_binding.key_processor import KeyPress  # only with an editor
    from prompt_toolkit.keys import Keys

    spelled = editor_key(name) if isinstance(name, str) else None
    if spelled is None:
        return None
    return KeyPress(spelled, spelled) if len(spelled) == 1 else KeyPress(Keys(spelled), _SENT.get(spelled, ""))


def key_name(spelled: str) -> str | None:
    """lash's name of a key; None if it has none."""
    if len(spelled) == 1:
        return spelled if spelled.isprintable() else None
    return _NAMES.get(spelled)


def editor_key(name: str) -> str | None:
    """The editor's name of a key; None for an unknown name."""
    name = ALIASES.get(name, name)
    return name if len(name) == 1 else EDITOR_KEYS.get(name)
