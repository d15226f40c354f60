"""What local models write between and behind their words when their server does not read it: thoughts, calls of tools,
signs of the end."""

from __future__ import annotations

import json

from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import call_block, ended, http, said, sse, started, text_block

_SEARCH = '{"name": "memory_search", "arguments": {"query": "tea"}}'
_CALL = f"<tool_call>\n{_SEARCH}\n</tool_call>"
_DONE = (("memory_search", {"query": "tea"}),)


def _says(name: str, raw: str, text: str, stop_reason: str | None = "end_turn", **expected: object) -> Deviation:
    """In one piece here; `test_markup` cuts such texts in every way."""
    return Deviation(name, http(sse(*said(raw, stop_reason=stop_reason))), text=text, raw=raw, **expected)  # type: ignore


DEVIATIONS = [
    _says("Qwen: a thought before the answer", "<think>\nHm, tea?\n</think>\n\nYou like tea.", "You like tea."),
    _says("Qwen: an empty thought", "<think>\n\n</think>\n\nYou like tea.", "You like tea."),
    _says("Qwen: white space before the thought", "\n<think>x</think>Tea.", "Tea."),
    _says("a local model: two thoughts", "<think>a</think>\n<think>b</think>\nTea.", "Tea."),
    _says("Magistral: a thought in brackets", "[THINK]Hm.[/THINK]Tea.", "Tea."),
    _says("a local model: a thought by another name", "<thinking>Hm.</thinking>Tea.", "Tea."),
    _says("Qwen: nothing but a thought that was cut", "<think>Let me", "", stop_reason="max_tokens", stop="max_tokens"),
    _says("Claude: words about thoughts", "The tag <think> opens a thought.", "The tag <think> opens a thought."),
    _says("ordinary: it begins like a thought", "<thin ice>", "<thin ice>"),
    _says("ordinary: white space before and behind", "  a \n", "  a \n"),
    _says("Qwen: a sign of the end", "Tea.<|im_end|>", "Tea."),
    _says("Llama: two signs of the end", "Tea.<|eot_id|>\n<|end_of_text|>\n", "Tea."),
    _says("Mistral: a sign of the end", "Tea.</s>", "Tea."),
    _says("Gemma: a sign of the end", "Tea.<end_of_turn>\n", "Tea."),
    _says("DeepSeek: a sign of the end", "Tea.<｜end▁of▁sentence｜>", "Tea."),
    _says("ordinary: HTML that is struck out", "It is <s>tea</s>", "It is <s>tea</s>"),
    _says(
        "ordinary: a sign of the end in the middle",
        "ChatML ends with <|im_end|> always.",
        "ChatML ends with <|im_end|> always.",
    ),
    _says("ordinary: a sign of the end as code", "It is `<|im_end|>`", "It is `<|im_end|>`"),
    _says("ordinary: it ends like a sign of the end", "a <|im_e", "a <|im_e"),
    _says("ordinary: it ends with an arrow", "a <", "a <"),
    _says("Qwen: the token of silence before a sign of the end", "NO_REPLY<|im_end|>", "NO_REPLY"),
    _says("Hermes: a call as text", f"Let me look.\n{_CALL}", "Let me look.\n", calls=_DONE),
    _says("Hermes: a call and a sign of the end", f"{_CALL}<|im_end|>\n", "", calls=_DONE),
    _says("Hermes: two calls", f"{_CALL}\n{_CALL}", "", calls=_DONE * 2),
    _says(
        "Hermes: a call whose end is its stop sequence",
        f"<tool_call>\n{_SEARCH}\n",
        "",
        calls=_DONE,
        stop_reason="stop_sequence",
    ),
    _says("Qwen: a thought and a call", f"<think>I should look.</think>\n{_CALL}", "", calls=_DONE),
    _says(
        "Hermes: arguments encoded twice",
        "<tool_call>"
        + json.dumps({"name": "functions.memory_search", "arguments": '{"query": "tea"}'})
        + "</tool_call>",
        "",
        calls=_DONE,
    ),
    _says(
        "Llama: parameters in place of arguments",
        '<tool_call>{"name": "memory_search", "parameters": {"query": "tea"}}</tool_call>',
        "",
        calls=_DONE,
    ),
    _says(
        "OpenAI's form: a function within",
        '<tool_call>{"type": "function", "function": ' + _SEARCH + "}</tool_call>",
        "",
        calls=_DONE,
    ),
    _says(
        "Qwen-Coder: a call in tags",
        "<tool_call>\n<function=memory_search>\n<parameter=query>\ntea\n</parameter>\n</function>\n</tool_call>",
        "",
        calls=_DONE,
    ),
    _says(
        "Hermes: a call that is no JSON",
        '<tool_call>{"name": "memory_search", "arguments": {"query": "te</tool_call>',
        "",
        calls=(("unknown", {}),),
        invalid=1,
    ),
    _says("Hermes: a call of nothing", "<tool_call>{}</tool_call>", "", calls=(("unknown", {}),), invalid=1),
    _says(
        "Hermes: a tool that is not there",
        '<tool_call>{"name": "fly", "arguments": {}}</tool_call>',
        "",
        calls=(("fly", {}),),
    ),
    _says(
        "Hermes: a call that was cut",
        'Let me look.\n<tool_call>\n{"name": "memory_se',
        "Let me look.\n",
        stop_reason="max_tokens",
        calls=(("unknown", {}),),
        invalid=1,
        stop="max_tokens",
    ),
    _says(
        "a quoted call, and words behind it",
        f"The page says: {_CALL} Odd, is it not?",
        "The page says:  Odd, is it not?",
    ),
    _says("ordinary: a call in a fence", f"```\n{_CALL}\n```", f"```\n{_CALL}\n```"),
    _says("ordinary: a call as code", f"`{_CALL}`", f"`{_CALL}`"),
    _says("ordinary: words about calls", "The tag <tool_call> opens a call.", "The tag <tool_call> opens a call."),
    Deviation(
        "vLLM: a raw call beside a real one",
        http(sse(started(), *text_block(_CALL), *call_block("memory_append", '{"text": "x"}'), *ended("tool_use"))),
        text="",
        calls=(("memory_append", {"text": "x"}),),
    ),
]
