"""The table of built-in tools. ``custom`` adds the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hookline.agent.tools.base import AgentTool
from hookline.agent.tools.bash import BASH
from hookline.agent.tools.edit import EDIT
from hookline.agent.tools.glob import GLOB
from hookline.agent.tools.grep import GREP
from hookline.agent.tools.read import READ
from hookline.agent.tools.task import TASK
from hookline.agent.tools.write import WRITE

BUILT_IN: Mapping[str, AgentTool] = MappingProxyType(
    {tool.name: tool for tool in (BASH, READ, WRITE, EDIT, GLOB, GREP, TASK)}
)
