"""The documented name of ``hookline.llm.scripted``."""

from hookline.llm.scripted import *  # noqa: F403  the same names, whatever they are
