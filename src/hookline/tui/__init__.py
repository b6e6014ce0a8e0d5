"""Manage hooks: list, switch, add, delete and try them, on the command line and full screen.

``catalog``, ``details``, ``toml_edit`` and ``new_hook`` are pure; ``service`` has effects.
"""
