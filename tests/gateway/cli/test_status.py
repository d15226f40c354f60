"""`daybook status` without a gateway."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from gateway.cli import daybook
from gateway.home import Home
from tests.fakes.postgres import PostgresServer


def status(home: Home, *options: str) -> Result:
    result = CliRunner().invoke(daybook, ["--home", str(home.path), "status", *options])
    assert result.exit_code == 0, result.output
    return result


def test_a_command_is_no_gateway_in_a_home_with_postgresql(postgres: PostgresServer, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    home.config_file.write_text(f'database_url: "{postgres.new_database()}"\n')
    told = status(home)
    assert "isn't running; this is what is stored" in told.stderr and "gateway  " not in told.stdout
    assert json.loads(status(home, "--json").stdout)["gateways"] == []
