"""The models that distil: ``claude -p``, an OpenAI-compatible server, or any model of the models extra.

Each returns the text of the answer, or raises ``ModelFailedError`` with a line for the log that contains no key.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hookline.core.files import UNFINISHED, replace_atomically
from hookline.gateway import bypass
from hookline.llm.spending import CapReachedError, check_cap, note_usage
from hookline.memory.distill import write_results
from hookline.memory.distill.model_errors import (
    MAX_WAIT,
    ModelBusyError,
    ModelFailedError,
    ModelSetupError,
    error_from_claude,
    error_from_model,
    error_from_status,
)
from hookline.memory.layout import encode_cwd
from hookline.transcripts.message import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.memory.distill.distill_task import RunContext
    from hookline.memory.settings import CompoundLoop

    #: The question in, the answer out.
    Model = Callable[[str], str]

#: Bytes that must be free.
_ROOM = 1 << 16
#: Seconds to pause after a busy model; four times as long each time in a row, up to the maximum.
_FIRST_PAUSE = 30.0


class ModelThrottle:
    """For one run. ``model`` replaces the configured one."""

    def __init__(self, loop: CompoundLoop, run: RunContext, *, model: Model | None = None) -> None:
        self._loop, self._run_context, self._model = loop, run, model
        self._paused_until, self._reason, self._pauses = 0.0, "", 0

    def model(self, folder: str, renew: Callable[[], object]) -> Model:
        """The configured model is looked up at the first prompt: a trivial session needs none. ``folder`` must have room
        for the answer; ``renew`` is called just before the request."""

        def ask(text: str) -> str:
            left = self._paused_until - time.monotonic()
            if left > 0:
                raise ModelBusyError(self._reason, wait=left)
            state = self._run_context.places.state
            used: dict[str, Any] = {}
            model = self._model or self._configured(state, used)
            _check_room(folder)
            renew()
            answer = self._ask(model, text)
            # A program or a server that does not count: four characters are about a token.
            guess = {"model": self._loop.model, "input_tokens": len(text) // 4, "output_tokens": len(answer) // 4}
            note_usage(state, "distiller", used or {**guess, "estimated": True})
            return answer

        return ask

    def _configured(self, state: str, used: dict[str, Any]) -> Model:
        settings = self._run_context.own_settings()
        model = select_model(self._loop, self._run_context.environ, state=state, names=settings.models, used=used)
        try:
            check_cap(state, settings.limits)
        except CapReachedError as error:
            raise ModelBusyError(str(error), wait=MAX_WAIT) from error
        return model

    def reset(self) -> None:
        self._paused_until = 0.0

    def _ask(self, model: Model, text: str) -> str:
        try:
            answer = model(text)
        except ModelBusyError as error:
            self._pauses += 1
            wait = error.wait or min(_FIRST_PAUSE * 4 ** (self._pauses - 1), MAX_WAIT)
            self._paused_until, self._reason = time.monotonic() + wait, str(error)
            raise ModelBusyError(str(error), wait=wait) from error
        self._pauses = 0
        return answer


def _check_room(folder: str) -> None:
    """An answer that cannot be saved is paid for again and again. Raises OSError on a full disk."""
    probe = os.path.join(folder, f"{UNFINISHED}room-{os.getpid()}")
    try:
        replace_atomically(probe, " " * _ROOM, durable=False)
    except OSError as error:
        error.filename = folder
        raise
    write_results.delete_plan(probe)


_CLAUDE, _MODELS = "claude", "models"
_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")
#: Default addresses of these backends.
_SERVERS = {"openai-compatible": "", "ollama": "http://localhost:11434", "mlx": "http://localhost:8080"}
#: Bytes of an answer that are read.
_MAX_ANSWER = 4 << 20


def select_model(
    loop: CompoundLoop,
    environ: Mapping[str, str],
    *,
    state: str,
    names: Mapping[str, str],
    used: dict[str, Any] | None = None,
) -> Model:
    """The backend in the settings. ``names`` is the ``[models]`` table; ``used`` gets the tokens and the price of an
    answer, where they are known. Raises ``ModelSetupError``."""
    used = {} if used is None else used
    backend = loop.backend.strip().lower() or _CLAUDE
    if backend in _SERVERS:
        return _server(loop, backend, environ, used)
    if backend == _MODELS or (backend == _CLAUDE and _is_full_name(loop.model)):
        return lambda text: _through_models(text, loop, environ, names, used)
    if backend == _CLAUDE:
        return lambda text: _printed(_claude(text, loop, environ, state), used)
    known = ", ".join((_CLAUDE, _MODELS, *_SERVERS))
    raise ModelSetupError(f"unknown backend {loop.backend!r}; write one of {known}")


def _claude(text: str, loop: CompoundLoop, environ: Mapping[str, str], state: str) -> str:
    program = shutil.which("claude", path=environ.get("PATH", os.defpath))
    if program is None:
        raise ModelSetupError("claude is not on PATH")
    try:
        # It raises OSError and StateError: neither is the model's or the task's fault.
        with bypass.mark_own_model(state) as marks:
            return _run(program, text, loop, {**environ, **marks}, bypass.own_model_directory(state))
    finally:
        _delete_transcript(environ, state)


def _printed(output: str, used: dict[str, Any]) -> str:
    """The answer in what claude printed; a version without ``--output-format json`` prints the answer itself."""
    try:
        tree = json.loads(output)
        answer, usage = tree["result"], tree["usage"]
        sent = sum(count(usage.get(name)) for name in ("input_tokens", *_CACHED))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return output
    if not isinstance(answer, str):
        return output
    used |= {"model": _CLAUDE, "input_tokens": sent, "output_tokens": count(usage.get("output_tokens"))}
    used |= {"cached_tokens": count(usage.get(_CACHED[0])), "cost_usd": tree.get("total_cost_usd") or 0.0}
    return answer


def _delete_transcript(environ: Mapping[str, str], state: str) -> None:
    """The transcript of our own prompt contains a part of the session, which a person may want forgotten."""
    agent = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(environ.get("HOME", "/"), ".claude")
    for name in encode_cwd(os.path.realpath(bypass.own_model_directory(state))):
        folder = os.path.join(agent, "projects", name)
        with suppress(OSError):
            for file in os.listdir(folder):
                if file.endswith(".jsonl"):
                    os.unlink(os.path.join(folder, file))


def _run(program: str, text: str, loop: CompoundLoop, environ: Mapping[str, str], cwd: str) -> str:
    from hookline.core.settings import Limits, Settings
    from hookline.runners.base import Stop
    from hookline.runners.process import run_process  # only this backend needs a process
    from hookline.runners.spawn import Launch

    argv = ("claude", "-p", "--model", loop.model, "--output-format", "json")
    launch = Launch(program=program, argv=argv, environ=environ, cwd=cwd, stdin=text.encode("utf-8", "replace"))
    # Output over the limit is not stored: without a state directory there is no file for it.
    settings = Settings(limits=Limits(output=_MAX_ANSWER))
    stop = Stop()
    try:
        raw = run_process(launch, timeout=loop.timeout_seconds, settings=settings, stop=stop)
    finally:
        stop.close()
    if raw.timed_out:
        raise ModelFailedError(f"claude gave no answer in {loop.timeout_seconds:g} s")
    if raw.exit_code is None and raw.signal is None:
        raise ModelSetupError(f"claude cannot be started: {raw.error[-300:]}")
    if raw.error or raw.exit_code != 0:
        output = (raw.stderr.strip() or raw.stdout.strip() or raw.error)[-300:]
        ended = f"claude ended with {raw.exit_code if raw.signal is None else f'signal {raw.signal}'}: {output}"
        raise error_from_claude(ended, f"{raw.stderr[-1000:]}\n{raw.stdout[-1000:]}")
    if not raw.stdout.strip():
        raise ModelFailedError("claude gave an empty answer")
    return raw.stdout


def _server(loop: CompoundLoop, backend: str, environ: Mapping[str, str], used: dict[str, Any]) -> Model:
    options = loop.backend_options
    # Never from the environment: a repository could send sessions of other projects elsewhere.
    base = str(options.get("base_url") or _SERVERS[backend])
    if not base.startswith(("http://", "https://")):
        raise ModelSetupError(f'{backend} needs backend_options = {{ base_url = "http://…" }}')
    url = base.rstrip("/").removesuffix("/v1") + "/v1/chat/completions"
    named = options.get("api_key_env")
    usual = options.get("api_key") or environ.get("OPENAI_API_KEY", "")
    key = str(environ.get(named, "") if isinstance(named, str) else usual)
    return lambda text: _content(_post(url, key, text, loop, environ), url, used)


def _post(url: str, key: str, text: str, loop: CompoundLoop, environ: Mapping[str, str]) -> bytes:
    import asyncio  # only this backend needs them

    from hookline.llm.http import Post, StatusError, UnreachedError, fetch, hide_key
    from hookline.llm.names import ModelError

    content = {"model": loop.model, "messages": [{"role": "user", "content": text}], "stream": False}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        return asyncio.run(
            fetch(Post(url=url, headers=headers, body=content, environ=environ), seconds=loop.timeout_seconds)
        )
    except StatusError as error:
        body = error.body if isinstance(error.body, str) else json.dumps(error.body)
        shown = f"{url} answered {error.status_code}: {hide_key(body, key)[:300]}"
        raise error_from_status(error.status_code, shown, body, error.retry_after) from None
    except TimeoutError:
        raise ModelFailedError(f"{url} gave no answer in {loop.timeout_seconds:g} s") from None
    except (OSError, ModelError) as error:
        # If the server was not reached at all, other tasks would fail too.
        kind = ModelBusyError if isinstance(error, UnreachedError) else ModelFailedError
        raise kind(f"{url} did not answer: {hide_key(str(error), key)[:300]}") from None


def _content(data: bytes, url: str, used: dict[str, Any]) -> str:
    try:
        tree = json.loads(data)
        if isinstance(usage := tree.get("usage"), dict):
            used |= {"model": str(tree.get("model")), "input_tokens": count(usage.get("prompt_tokens"))}
            used["output_tokens"] = count(usage.get("completion_tokens"))
        answer = tree["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        answer = None
    if not isinstance(answer, str) or not answer.strip():
        raise ModelFailedError(f"{url} sent no readable answer")
    return answer


def _through_models(
    text: str, loop: CompoundLoop, environ: Mapping[str, str], names: Mapping[str, str], used: dict[str, Any]
) -> str:
    from hookline.llm.names import ModelError, access, resolve
    from hookline.llm.requests import AgentTask, run_agent_task, run_bounded  # only this backend needs them
    from hookline.runners.base import Stop

    try:
        access(resolve(loop.model, names, environ), environ)
    except ModelError as error:  # an unknown name, or no key: not the task's fault
        raise ModelSetupError(str(error)) from error
    task = AgentTask(system="", text=text, model=loop.model, steps=1, table=names, environ=environ)
    stop = Stop()
    try:
        reply = run_bounded(run_agent_task(task), timeout=loop.timeout_seconds, stop=stop)
    except TimeoutError:
        raise ModelFailedError(f"{loop.model} gave no answer in {loop.timeout_seconds:g} s") from None
    except ModelError as error:
        raise error_from_model(error) from error
    finally:
        stop.close()
    used |= reply.usage
    if not reply.text.strip():
        raise ModelFailedError(f"{loop.model} gave an empty answer")
    return reply.text


def _is_full_name(model: str) -> bool:
    from hookline.llm.names import PROVIDER_ALIASES, PROVIDERS  # plain names do not need it

    maker, found, _rest = model.partition(":")
    return bool(found) and (maker in PROVIDERS or maker in PROVIDER_ALIASES)
