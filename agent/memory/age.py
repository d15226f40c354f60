"""The age of a memory, in words."""

from __future__ import annotations

from datetime import date

from agent.languages.sentences import Sentence

OUT_OF_DATE = "What is older than a day may be out of date: say how old it is, or check it."


def age_in_words(day: date, today: date) -> Sentence:
    """`today`, `3 days ago`, `2 months ago`. A future day (a changed clock) is today."""
    days = (today - day).days
    if days <= 0:
        return Sentence("today")
    if days == 1:
        return Sentence("yesterday")
    if days < 60:
        return Sentence("{count} days ago", count=days)
    if days < 730:
        return Sentence("{count} months ago", count=days // 30)
    return Sentence("{count} years ago", count=days // 365)


def may_be_out_of_date(day: date, today: date) -> bool:
    return (today - day).days > 1
