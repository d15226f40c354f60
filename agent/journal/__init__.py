"""The journal: the daily log that is written by itself.

`day_messages` reads a day's messages, `writer` has a model summarise them (`section_request`) or `fallback`; `progress`
records how far it is, `open_items` keeps the open list, `summary` makes the daily summary.
"""
