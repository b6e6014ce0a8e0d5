"""What the model may use: the table of built-in tools. ``custom`` adds a person's own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hookline.agent.chat.tools.base import ChatTool
from hookline.agent.chat.tools.bash import BASH
from hookline.agent.chat.tools.edit import EDIT
from hookline.agent.chat.tools.glob import GLOB
from hookline.agent.chat.tools.grep import GREP
from hookline.agent.chat.tools.read import READ
from hookline.agent.chat.tools.task import TASK
from hookline.agent.chat.tools.write import WRITE

BUILT_IN: Mapping[str, ChatTool] = MappingProxyType(
    {one.tool.name: one for one in (BASH, READ, WRITE, EDIT, GLOB, GREP, TASK)}
)
