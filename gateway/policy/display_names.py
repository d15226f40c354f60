"""Names in groups: the owner with a mark that no name can imitate, the owner's namesakes with an account number.

[2026-11-21 Sat 08:30 Europe/Berlin · Telegram · Alice (owner)]
[2026-11-21 Sat 08:31 Europe/Berlin · Telegram · Alice #33333]
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from agent.formats.untrusted import label
from channels.message import ChatKind, InboundMessage
from gateway.policy.access import Access
from gateway.store.chat_rows import KnownChat

OWNER_MARK = "(owner)"
_LONGEST = 60
_BRACKETS = ("Ps", "Pe", "Pi", "Pf")
_LOOK_ALIKE = str.maketrans("авеёікмнорстухѕјԁɡαβεικνορτυχ013ıi", "abeelkmhopctyxsjdgabelkvoptuxolell")
"""Letters of other scripts, and digits, that are taken for Latin ones at a glance."""


def plain_name(name: str) -> str:
    """The name without brackets, which are the mark's, and their look-alikes."""
    shown = label(name, _LONGEST)
    if any(unicodedata.category(char) in _BRACKETS for char in unicodedata.normalize("NFKC", shown)):
        shown = unicodedata.normalize("NFKC", shown)
    return label("".join(" " if unicodedata.category(char) in _BRACKETS else char for char in shown), _LONGEST)


def folded(name: str) -> str:
    """The name as it looks: letters and digits, without case and accents."""
    whole = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return "".join(char for char in whole if unicodedata.category(char)[0] in "LN").translate(_LOOK_ALIKE)


class DisplayNames:
    """`known`: the chats with messages, for the owner's names there."""

    def __init__(self, access: Access, known: Iterable[KnownChat] = ()) -> None:
        self._access = access
        self._owners = {folded(account) for account in access.owner_people}
        self._owners |= {
            folded(chat.user_name) for chat in known if access.is_owner(chat.address.channel, chat.user_id)
        }

    def shown(self, message: InboundMessage) -> str:
        name, id = message.sender.name or message.sender.id, message.sender.id
        if message.kind is not ChatKind.GROUP or not message.is_from_person:
            return name
        if self._access.is_owner(message.address.channel, id):
            self._owners.add(folded(name))
            return f"{plain_name(name)} {OWNER_MARK}"
        seen = folded(name)
        taken = (seen and seen in self._owners) or folded(OWNER_MARK) in seen
        return f"{plain_name(name)} #{id}" if taken else plain_name(name)
