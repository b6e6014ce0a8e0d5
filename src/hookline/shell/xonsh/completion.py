"""completion.request and input.post_complete: the candidates, before and after the person sees them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from hookline.engine.executor import Applied
from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.xonsh.patch_points import Patches, private
from hookline.shell.xonsh.prompts import call_in_editor, redraw, running_app
from hookline.shell.xonsh.variables import to_json

#: Candidates that hooks get.
_MAX_CANDIDATES = 500


class CompletionHooks:
    """A candidate that hooks do not change stays xonsh's own object."""

    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher
        #: The document of the latest request: late answers to another one are dropped.
        self._document: Any = None
        #: Its candidates: the editor cuts off what they have in common.
        self._whole: list[Any] = []

    def install(self, patches: Patches) -> None:
        patches.apply("complete", self._around_complete)
        patches.apply("choose", self._around_choose)
        self._dispatcher.on_late_answer("completion.request", self._late)

    def _around_complete(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def get_completions(completer: Any, document: Any, complete_event: Any) -> Generator[Any]:
            hooked = self._dispatcher.has_hooks("completion.request") or self._dispatcher.has_hooks(
                "input.post_complete"
            )
            found = original(completer, document, complete_event)
            if not hooked or not complete_event.completion_requested:
                yield from found
                return
            found = self._request(document, list(found))
            self._whole = found
            yield from found
            self._report(document, found, str(found[0].text) if len(found) == 1 else None)

        return get_completions

    def _around_choose(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def go_to_completion(buffer: Any, index: int | None) -> Any:
            result = original(buffer, index)
            state = buffer.complete_state
            if index is not None and state is not None and self._dispatcher.has_hooks("input.post_complete"):
                known = self._whole if len(self._whole) == len(state.completions) else list(state.completions)
                self._report(buffer.document, known, str(known[index].text))
            return result

        return go_to_completion

    def _request(self, document: Any, found: list[Any]) -> list[Any]:
        self._document = document
        candidates = [_candidate(each) for each in found[:_MAX_CANDIDATES]]
        word = _word(document)
        data = {
            "line": document.text, "cursor": document.cursor_position, "word": word, "candidates": candidates,
        }  # fmt: skip
        answer = self._dispatcher.fire("completion.request", data)
        if not answer.allowed:
            return []
        if "candidates" not in answer.changed:
            return found
        return _completions(answer.data["candidates"], found, word)

    def _report(self, document: Any, found: list[Any], chosen: str | None) -> None:
        data = {
            "line": document.text, "cursor": document.cursor_position,
            "candidates": [_candidate(each) for each in found[:_MAX_CANDIDATES]],
            "chosen": chosen,
        }  # fmt: skip
        self._dispatcher.fire("input.post_complete", data)

    def _late(self, applied: Applied) -> None:
        """Late candidates are added to the open list if the line is still the same."""
        candidates = applied.data.get("candidates")
        document = self._document
        if candidates is None or document is None:
            redraw()
            return

        def add() -> None:
            app = running_app()
            if app is None:
                return
            buffer = app.current_buffer
            state = buffer.complete_state
            if (state.original_document if state is not None else buffer.document).text != document.text:
                return
            shown = list(state.completions) if state is not None else []
            known = {each.text for each in shown}
            more = [each for each in _completions(candidates, shown, _word(document)) if each.text not in known]
            if more:
                private(buffer, "_set_completions")([*shown, *more])
                app.invalidate()

        call_in_editor(add)


def _word(document: Any) -> str:
    before = document.current_line_before_cursor
    return str(before[before.rfind(" ") + 1 :])


def _candidate(completion: Any) -> dict[str, Any]:
    described = getattr(completion, "display_meta_text", "")
    return {"text": str(completion.text), **({"description": described} if described else {})}


def _completions(candidates: Any, found: list[Any], word: str) -> list[Any]:
    from prompt_toolkit.completion import Completion  # only with an editor

    known = {str(each.text): each for each in found}
    start = found[0].start_position if found else -len(word)
    result: list[Any] = []
    for one in candidates if isinstance(candidates, list) else []:
        text = one if isinstance(one, str) else one.get("text") if isinstance(one, dict) else None
        if not isinstance(text, str):
            continue
        about = to_json(one.get("description", "")) if isinstance(one, dict) else ""
        result.append(known.get(text) or Completion(text, start_position=start, display_meta=str(about)))
    return result
