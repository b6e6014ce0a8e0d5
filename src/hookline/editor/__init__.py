"""Asking and telling a person where they are: in Neovim, on the terminal, or on the desktop.

Whatever is shown was partly written by a model. It is passed as data, never as source of any language.
"""
