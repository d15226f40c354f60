"""The journal: the daily log that is written by itself (SPEC 8).

`day_messages` reads a day's messages, `writer` has a model summarise them (`section_request`), `fallback` does so
without one; `progress` records how far it is, `open_items` keeps the open list, `summary` makes the daily summary of a
log. When and for whom is the caller's decision.
"""
