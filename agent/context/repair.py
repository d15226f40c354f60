"""Makes any request valid (invariant 4), whatever was lost, cut, stopped or killed.

Valid messages pass untouched. The Messages API's rules: roles alternate and begin with user; each tool_use is answered
first in the next message; ids are unique; no blank text; no message is only thinking; no white space at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.model.base import THINKING, Block, Message, result_block

LOST_RESULT = (
    "Interrupted: no result was recorded. The call may or may not have taken effect; check before repeating it."
)
LOST_START = "[The beginning of this conversation is not available.]"

_USER_ONLY = frozenset({"tool_result", "image", "document"})
_ASSISTANT_ONLY = THINKING | {"tool_use"}


def repair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, made valid. After a change all thinking is left out, since it is signed over what comes before.
    Idempotent."""
    given = tuple(messages)
    fixed = _fixed(given)
    if fixed == given:
        return given
    return _fixed([Message(m.role, tuple(b for b in m.content if b.get("type") not in THINKING)) for m in fixed])


def _fixed(messages: Sequence[Message]) -> tuple[Message, ...]:
    builder: list[Message] = []
    used: set[str] = set()
    for message in messages:
        if message.role == "assistant":
            _add_answer(builder, _answer_blocks(message, used))
        elif message.role == "user":
            _add_question(builder, message)
    if builder and builder[0].role == "assistant":
        builder.insert(0, Message("user", ({"type": "text", "text": LOST_START},)))
    if builder and builder[-1].role == "assistant" and _calls(builder[-1]):
        builder.append(_question(builder[-1], ()))
    if builder and builder[-1].role == "assistant":
        builder[-1] = _trimmed(builder[-1])
    return tuple(builder)


def _answer_blocks(message: Message, used: set[str]) -> tuple[Block, ...]:
    """The assistant's blocks, without calls of a repeated id and their results."""
    kept: list[Block] = []
    for block in message.content:
        if block.get("type") in _USER_ONLY or _is_blank(block):
            continue
        if block.get("type") == "tool_use":
            call_id, name = block.get("id"), block.get("name")
            if not isinstance(call_id, str) or not call_id or call_id in used or not isinstance(name, str) or not name:
                continue
            used.add(call_id)
        kept.append(block)
    while kept and kept[-1].get("type") in THINKING:
        kept.pop()
    return message.content if len(kept) == len(message.content) else tuple(kept)


def _add_answer(builder: list[Message], blocks: tuple[Block, ...]) -> None:
    if not blocks:
        return
    if builder and builder[-1].role == "assistant":
        if not _calls(builder[-1]):
            builder[-1] = Message("assistant", builder[-1].content + blocks)
            return
        builder.append(_question(builder[-1], ()))
    builder.append(Message("assistant", blocks))


def _add_question(builder: list[Message], message: Message) -> None:
    blocks = [b for b in message.content if b.get("type") not in _ASSISTANT_ONLY and not _is_blank(b)]
    if builder and builder[-1].role == "user":
        asked = builder[-2] if len(builder) > 1 else None
        blocks = [*builder.pop().content, *blocks]
        made = _question(asked, blocks)
    else:
        made = _question(builder[-1] if builder else None, blocks)
    if made.content:
        builder.append(message if made == message else made)


def _question(asked: Message | None, blocks: Sequence[Block]) -> Message:
    """Answers every call of `asked` first, and no other."""
    calls = _calls(asked) if asked is not None else []
    results: dict[str, Block] = {}
    for block in blocks:
        call_id = block.get("tool_use_id")
        if block.get("type") == "tool_result" and isinstance(call_id, str) and call_id in calls:
            known = results.get(call_id)
            if known is None or known.get("content") == LOST_RESULT:
                results[call_id] = _with_text(block)
    answered = list(results.values())
    answered += [result_block(call_id, LOST_RESULT, error=True) for call_id in calls if call_id not in results]
    return Message("user", (*answered, *(block for block in blocks if block.get("type") != "tool_result")))


def _calls(message: Message) -> list[str]:
    return [str(block["id"]) for block in message.content if block.get("type") == "tool_use"]


def _with_text(result: Block) -> Block:
    content = result.get("content")
    if not isinstance(content, list):
        return result
    kept = [part for part in content if not (isinstance(part, dict) and _is_blank(part))]
    return result if len(kept) == len(content) else {**result, "content": kept or "(no output)"}


def _is_blank(block: Block) -> bool:
    if block.get("type") != "text":
        return False
    text = block.get("text")
    return not isinstance(text, str) or not text.strip()


def _trimmed(last: Message) -> Message:
    block = last.content[-1]
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str) or text == text.rstrip():
        return last
    return Message(last.role, (*last.content[:-1], {**block, "text": text.rstrip()}))
