"""Times in the words of every language that has a file. Pure.

`tokens` splits a text; `spans`, `hours`, `weekdays`, `days` and `repeats` each read one kind of part of a time,
`reader` all of them; `meaning` tells which moment they mean, `phrases` what is left to be done. The words are in the
languages' files, `agent/languages/*.toml`.
"""
