"""What local models write between and behind their words when their server does not read it: thoughts, calls of tools,
signs of the end."""

from __future__ import annotations

import json

from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import call_block, ended, http, said, sse, started, text_block

_SEARCH = '{"name": "memory_search", "arguments": {"query": "tea"}}'
_CALL = f"<tool_call>\n{_SEARCH}\n</tool_call>"
_DONE = (("memory_search", {"query": "tea"}),)


_SECRET = "Hm, SECRET.\nSo it is five."
_THOUGHTS = {
    **{
        f"{end} alone": (f"{_SECRET}\n{end}\n\nIt is five.", "It is five.")
        for end in ("</think>", "</THINK>", "</thinking>", "</thought>", "</reasoning>", "</reflection>")
    },
    **{
        f"{end} alone, too": (f"{_SECRET}\n{end}\n\nIt is five.", "It is five.")
        for end in ("</seed:think>", "[/THINK]", "◁/think▷", "<|END_THINKING|>", "<|channel|>final<|message|>")
    },
    "the end in the same line": (f"{_SECRET}</think>It is five.", "It is five."),
    "the end before a blank": (f"{_SECRET}</think> It is five.", "It is five."),
    "the end before Markdown": (f"{_SECRET}\n</think>**Five.**", "**Five.**"),
    "the end and nothing else": (f"{_SECRET}\n</think>", ""),
    "two ends alone": (f"{_SECRET}\n</think>\nNo, SECRET.\n</think>\nIt is five.", "It is five."),
    "capitals": (f"<THINK>{_SECRET}</THINK>It is five.", "It is five."),
    "mixed letters": (f"<Think>{_SECRET}</think>\n\nIt is five.", "It is five."),
    "seed": (f"<seed:think>{_SECRET}</seed:think>It is five.", "It is five."),
    "reasoning": (f"<reasoning>\n{_SECRET}\n</reasoning>\nIt is five.", "It is five."),
    "reflection": (f"<reflection>{_SECRET}</reflection>It is five.", "It is five."),
    "Command": (f"<|START_THINKING|>{_SECRET}<|END_THINKING|>It is five.", "It is five."),
    "gpt-oss": (f"<|channel|>analysis<|message|>{_SECRET}<|channel|>final<|message|>It is five.", "It is five."),
    "after a first word": (f"Okay. <think>\n{_SECRET}\n</think>\nIt is five.", "Okay. \nIt is five."),
    "after a first line": (f"Okay.\n<think>{_SECRET}</think>It is five.", "Okay.\nIt is five."),
    "in the middle, cut off": ("It is\n<think>\nSECRET", "It is\n"),
}
_WORDS = (
    "Write </think> when you are done.",
    "It ends with </think>, always.",
    "It begins with <think> and ends with </think>.",
    "It ends with `</think>`",
    'It ends with "</think>".',
    "```\n<think>x</think>y\n```",
    "The word <reasoning> is no tag here",
    "A [THINK] or a [link](x) or [TOOL_CALLS] is fine.",
    '{"answer": 5}',
    '{"name": "Ann", "age": 5}',
    "functools is a module",
    "I would call <|tool_call|> a token",
    "```python\nmemory_search(query='tea')\n```",
)
_ARGUMENTS = '{"query": "tea"}'
_MARKED = {
    "GLM": "<tool_call>memory_search\n<arg_key>query</arg_key>\n<arg_value>tea</arg_value>\n</tool_call>",
    "GLM in a line": "<tool_call>memory_search<arg_key>query</arg_key><arg_value>tea</arg_value></tool_call>",
    "Hermes without its end": f"<tool_call>\n{_SEARCH}<|im_end|>",
    "Qwen-Coder bare": "<function=memory_search>\n<parameter=query>\ntea\n</parameter>\n</function>",
    "Qwen-Coder bare, with the end of a call": "<function=memory_search><parameter=query>tea</parameter></function>\n",
    "Llama's function": f"<function=memory_search>{_ARGUMENTS}</function><|eom_id|>",
    "Llama's tag": '<|python_tag|>{"name": "memory_search", "parameters": {"query": "tea"}}<|eom_id|>',
    "Llama's tag, as code": '<|python_tag|>memory_search.call(query="tea")',
    "DeepSeek 3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>memory_search\n```json\n"
    f"{_ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "DeepSeek 3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>memory_search<｜tool▁sep｜>"
    f"{_ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "Granite": f"<|tool_call|>[{_SEARCH}]",
    "Granite in other letters": f"<|TOOL_CALL|>[{_SEARCH}]",
    "Nemotron": f"<TOOLCALL>[{_SEARCH}]</TOOLCALL>",
    "Phi": f"functools[{_SEARCH}]",
    "Phi's tags": f"<|tool_call|>[{_SEARCH}]<|/tool_call|>",
    "Gemma": "```tool_code\nmemory_search(query='tea')\n```",
    "Gemma prints": "```tool_code\nprint(default_api.memory_search(query='tea'))\n```",
    "Mistral": f"[TOOL_CALLS][{_SEARCH}]</s>",
    "Mistral's name": f"[TOOL_CALLS]memory_search{_ARGUMENTS}",
    "Mistral's arguments": f"[TOOL_CALLS]memory_search[ARGS]{_ARGUMENTS}",
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.memory_search:0<|tool_call_argument_begin|>"
    f"{_ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "MiniMax": '<minimax:tool_call>\n<invoke name="memory_search">\n<parameter name="query">tea</parameter>\n'
    "</invoke>\n</minimax:tool_call>",
    "InternLM": '<|action_start|><|plugin|>{"name": "memory_search", "parameters": {"query": "tea"}}<|action_end|>',
    "Command": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "memory_search", "parameters": {"query": "tea"}}]'
    "<|END_ACTION|>",
    "Hunyuan": f"<tool_calls>[{_SEARCH}]</tool_calls>",
}
_CALLS = {
    **_MARKED,
    "Llama bare": '{"name": "memory_search", "parameters": {"query": "tea"}}',
    "Llama bare, with a type": '{"type": "function", "name": "memory_search", "parameters": {"query": "tea"}}'
    "<|eom_id|>",
    "xLAM": f"[{_SEARCH}]",
    "after a thought": f"<think>{_SECRET}</think>\n\n{_SEARCH}",
}
_TAGGED = ("GLM", "GLM in a line", "Hermes without its end")
_OTHERS = {
    name: raw.replace("memory_search", "fly")
    for name, raw in _CALLS.items()
    if name not in (*_TAGGED, "after a thought") and not raw.endswith((">", "\n"))
}


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
    *(_says(f"a thought: {name}", raw, text) for name, (raw, text) in _THOUGHTS.items()),
    *(_says(f"words: {text}", text, text) for text in _WORDS),
    *(_says(f"a call: {name}", raw, "", calls=_DONE) for name, raw in _CALLS.items()),
    *(
        _says(f"a call behind words: {name}", f"I look.\n{raw}", "I look.\n", calls=_DONE)
        for name, raw in _MARKED.items()
    ),
    *(_says(f"a tool that is not there: {name}", raw, raw) for name, raw in _OTHERS.items()),
    Deviation(
        "vLLM: a raw call beside a real one",
        http(sse(started(), *text_block(_CALL), *call_block("memory_append", '{"text": "x"}'), *ended("tool_use"))),
        text="",
        calls=(("memory_append", {"text": "x"}),),
    ),
]
