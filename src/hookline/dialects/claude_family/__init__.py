"""Shapes that several agents took over from Claude Code: the settings file, its matchers, the JSON answers.

Not a dialect: what the dialects ``claude``, ``letta`` and ``lazy`` have in common, written once.
"""
