"""What large imports leave out."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest

from agent.formats.imports import without_package


def test_a_package_is_not_found_inside_the_block_and_found_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    monkeypatch.setattr("builtins.print", lambda *_: None)  # the module prints a poem
    with without_package("this"), pytest.raises(ImportError):
        importlib.import_module("this")
    assert importlib.import_module("this")


def test_a_package_that_is_in_use_stays() -> None:
    with without_package("json"):
        assert importlib.import_module("json") is json


def test_telegram_is_loaded_without_the_command_line_of_its_http_client() -> None:
    code = """
import sys
from gateway.factories import _lean_imports
with _lean_imports():
    import channels.telegram.channel
print('httpx' in sys.modules, 'rich' in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split() == [
        b"True",
        b"False",
    ]
