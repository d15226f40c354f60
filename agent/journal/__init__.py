"""The log that writes itself (SPEC 8): what an agent makes of a day's talk.

`day` reads what was said, `writer` has a model tell it (`telling`), `extract` tells it without one; `marks` remembers
how far it is, `promises` keeps the open list, `summary` makes the daily summary of the day's log. Nothing here decides
when, or for whom.
"""
