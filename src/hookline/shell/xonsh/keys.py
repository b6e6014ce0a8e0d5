"""input.key, key.tab, key.up, key.down, input.prefix and input.pre_execute: what the person's fingers do.

Only hooked keys are asked about; any other costs one look into a set. A plain key binding could not do this, since
prompt_toolkit lets only one binding have a key: so every key passes here before the editor sees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.dialects.lash.keys import KEY_EVENTS, key_hook_config
from hookline.shell.xonsh.editor import redraw
from hookline.shell.xonsh.keynames import SENT, editor_key, key_name

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher
    from hookline.shell.xonsh.patch_points import Patches

#: One key, one event that stands for it.
_EVENT_OF = {key: event for event, key in KEY_EVENTS.items()}


class KeyHooks:
    """Knows which keys somebody hooked (KeyHookConfig), and what to do with one that is."""

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
        """The set of hooked keys, in the editor's spelling; None for all. Made anew whenever the hooks change."""
        wanted = key_hook_config(self._dispatcher.specs)
        known = None if wanted == "*" else frozenset(filter(None, map(editor_key, wanted)))
        self.hooked = known
        self.prefixed = self._dispatcher.has_hooks("input.prefix")

    # ── one press ────────────────────────────────────────────────────────────────────────────────────

    def around_process(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from prompt_toolkit.key_binding import key_processor as processing  # only with an editor

        flush = getattr(processing, "_Flush")  # noqa: B009  private there, and in the table of points

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
        """The press that the editor is to see; None when it was swallowed."""
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
        for event in ("input.key", _EVENT_OF.get(name, "")):
            if not event or not self._dispatcher.has_hooks(event):
                continue
            line = {"buffer": buffer.text, "cursor": buffer.cursor_position}
            answer = self._asked(event, {"key": name, **line} if event == "input.key" else line)
            if not answer.allowed:
                return None
            if answer.changed & {"buffer", "cursor"}:
                # A hook that gives a line and no place for the cursor means its end.
                _put(buffer, answer.data.get("buffer"), answer.data.get("cursor") if "cursor" in answer.named else None)
                return None
            if "key" in answer.changed and (other := _press_of(answer.data["key"])) is not None:
                press = other
        return press

    def _prefixed(self, char: str, buffer: Any) -> bool:
        """Whether the character may be typed. A refusal may bring the text to put there, or to submit at once."""
        answer = self._asked("input.prefix", {"char": char})
        if answer.allowed:
            return True
        prefill = answer.attributes.get("prefill")
        if isinstance(prefill, str):
            _put(buffer, prefill, None)
            if not answer.attributes.get("edit"):
                buffer.validate_and_handle()
        return False

    def _asked(self, event: str, data: dict[str, Any]) -> ShellAnswer:
        before = self._dispatcher.mode
        answer = self._dispatcher.fire(event, data)
        if not answer.allowed:
            redraw()
        if self._dispatcher.mode != before:
            self._mode_changed()
        return answer

    # ── Enter ────────────────────────────────────────────────────────────────────────────────────────

    def _around_accept(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def validate_and_handle(buffer: Any) -> Any:
            if (
                buffer.name != "DEFAULT_BUFFER"
                or not buffer.text.strip()
                or not self._dispatcher.has_hooks("input.pre_execute")
            ):
                return original(buffer)
            answer = self._asked("input.pre_execute", {"text": buffer.text})
            if not answer.allowed:
                prefill = answer.attributes.get("prefill")
                if isinstance(prefill, str):  # another line in its place, for the person to look at
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


def _press_of(name: Any) -> Any:
    """The press of another key, by its name; None for a name that no key has."""
    from prompt_toolkit.key_binding.key_processor import KeyPress  # only with an editor
    from prompt_toolkit.keys import Keys

    spelled = editor_key(name) if isinstance(name, str) else None
    if spelled is None:
        return None
    return KeyPress(spelled, spelled) if len(spelled) == 1 else KeyPress(Keys(spelled), SENT.get(spelled, ""))
