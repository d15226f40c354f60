"""discord.py's undocumented names: all are in one file, and a version without them is reported in a sentence."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import discord
import pytest
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Ratelimit

from channels import discord as package
from channels.discord import library
from channels.discord.library import check_version
from channels.message import SourceFailed


def test_every_borrowed_name_is_there() -> None:
    check_version()


async def test_every_borrowed_attribute_has_the_shape_that_is_relied_on() -> None:
    loop = asyncio.get_running_loop()
    http = HTTPClient(loop, max_ratelimit_timeout=1)
    assert http._buckets == {} and http._bucket_hashes == {}
    bucket = Ratelimit(1)
    assert (bucket.limit, bucket.remaining, bucket.expires) == (1, 1, None)
    socket = DiscordWebSocket(None, loop=loop)  # type: ignore[arg-type]
    assert (socket.session_id, socket.sequence) == (None, None)
    assert callable(socket._decompressor.decompress)
    client = discord.Client(intents=discord.Intents.none())
    assert client._connection.user is None and client._connection.application_id is None
    assert isinstance(client._connection.parsers, dict)


@pytest.mark.parametrize(
    ("owner", "name"),
    [(HTTPClient, "_gone"), (DiscordWebSocket, "from_client(client, colour)"), (HTTPClient(None), "_moved")],  # type: ignore[arg-type]
)
def test_a_version_that_lacks_one_is_reported_in_a_sentence(owner: object, name: str) -> None:
    with pytest.raises(SourceFailed, match=r"discord\.py [\d.]+\S* does not fit this Daybook \(\w+\._?\w+") as failed:
        check_version([(owner, name)])
    assert (
        failed.value.fatal and name in str(failed.value) and "pip install 'discord.py>=2.7,<2.8'" in str(failed.value)
    )


def test_no_other_file_knows_undocumented_modules_or_private_names() -> None:
    files = [file for file in Path(package.__path__[0]).glob("*.py") if file.name != Path(library.__file__).name]
    assert len(files) > 10
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discord."):
                assert (node.module, [one.name for one in node.names]) == ("discord.http", ["Route"]), file.name
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                assert isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "client"), (
                    f"{file.name}: {node.attr}"
                )
