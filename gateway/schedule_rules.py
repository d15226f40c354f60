"""From configuration to the rules of the schedule and of what Daybook does on its own."""

from __future__ import annotations

from datetime import timedelta

from gateway.config import Config
from gateway.daily import SummaryRules
from gateway.heartbeat import HeartbeatRules
from gateway.schedule.plan import Quiet
from gateway.schedule.schedule import Rules


def schedule_rules(config: Config, interval: float) -> Rules:
    """`interval`: seconds between two looks of the schedule at its file and the clock."""
    quiet = config.schedule.quiet_hours
    return Rules(
        catch_up=timedelta(hours=config.schedule.catch_up_hours),
        quiet=Quiet(quiet.start, quiet.end, config.zone) if quiet is not None else None,
        interval=interval,
    )


def summary_rules(config: Config) -> SummaryRules:
    summary = config.schedule.daily_summary
    return SummaryRules(summary.enabled, summary.time, summary.to)


def heartbeat_rules(config: Config) -> HeartbeatRules:
    wanted = config.schedule.heartbeat
    return HeartbeatRules(wanted.every, wanted.daily_budget_usd) if wanted is not None else HeartbeatRules()
