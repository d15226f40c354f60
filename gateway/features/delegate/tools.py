"""`delegate`: a task done aside, whose result comes back as a message of its own."""

from __future__ import annotations

import hashlib
from contextlib import AsyncExitStack

from agent.formats.sqlite import StorageUnavailable
from agent.memory.provenance import own_mark
from agent.tools.base import Tool, ToolError, ToolResult
from agent.tools.schema import Arguments, Text, keyed, spec
from gateway.kernel import FeatureParts, Kernel
from gateway.policy.sessions import SessionPolicy
from gateway.store.inbox_rows import InboxRow
from gateway.turns.tasks import MOST, Tasks, TooManyTasks
from gateway.turns.user_message import user_message_id

_ABOUT = (
    "Have a longer task done aside by a turn that knows nothing of this conversation: say all it needs. "
    "The result comes as a new message."
)
_BEGUN = (
    "The task has begun, and the person sees that. Do not wait for it or do it yourself: end your answer. Its result "
    "comes as a new message."
)
_REPEATED = "This very call has begun its task before; it was not begun twice."
_TOO_MANY = "Not begun: {most} tasks of this conversation are at work already, which is the most at once ({tasks})."
_BY_RESULT = (
    "Not begun: the result of a task begins no other. Answer the person; they say whether there is more to be done."
)
_DISK = "Not begun: the disk takes no more writing. Tell the person."
_WAS_BEGUN = "Interrupted by a restart of the assistant, but the task has begun. Do not begin it again."
_WAS_NOT_BEGUN = "Interrupted by a restart of the assistant before the task began. Begin it again if it is wanted."


class _Delegate(Arguments):
    task: Text


async def opened(kernel: Kernel, _: AsyncExitStack) -> FeatureParts:
    return FeatureParts(tools=[DelegateTools(kernel.tasks, kernel.sessions)])


class DelegateTools:
    def __init__(self, tasks: Tasks, sessions: SessionPolicy) -> None:
        self._tasks = tasks
        self._sessions = sessions

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tool, but for a job or a task: they work aside already."""
        if row.message.due is not None or row.message.is_task:
            return ()
        session = str(self._sessions.of_row(row).session)
        turn = f"{session}:{row.turn or user_message_id(row.message)}"

        async def delegate(arguments: _Delegate, key: str) -> ToolResult:
            return ToolResult(await self._begin(row, session, arguments.task, _id(key)))

        async def outcome(call: str) -> ToolResult:
            is_known = (await self._tasks.fate(row, _id(f"{turn}:{call}"))).known
            return ToolResult(_WAS_BEGUN if is_known else _WAS_NOT_BEGUN)

        return (Tool(spec("delegate", _ABOUT, _Delegate), keyed(_Delegate, turn, delegate), outcome=outcome),)

    async def _begin(self, row: InboxRow, session: str, text: str, id: str) -> str:
        if row.message.task is not None:
            raise ToolError(_BY_RESULT)
        try:
            return _BEGUN if await self._tasks.begin(row, session, id, own_mark(text)) else _REPEATED
        except TooManyTasks as error:
            raise ToolError(_TOO_MANY.format(most=MOST, tasks=error)) from error
        except StorageUnavailable as error:
            raise ToolError(_DISK) from error


def _id(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:12]
