"""The age of a memory, in words."""

from __future__ import annotations

from datetime import date

OUT_OF_DATE = "What is older than a day may be out of date: say how old it is, or check it."


def age_in_words(day: date, today: date) -> str:
    """`today`, `3 days ago`, `2 months ago`. A future day (a changed clock) is today."""
    days = (today - day).days
    if days <= 0:
        return "today"
    if days == 1:
        return "yesterday"
    if days < 60:
        return f"{days} days ago"
    if days < 730:
        return f"{days // 30} months ago"
    return f"{days // 365} years ago"


def may_be_out_of_date(day: date, today: date) -> bool:
    return (today - day).days > 1
