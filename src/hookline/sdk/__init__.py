"""The same hooks in programs that are built on an agent SDK, by one line each.

======================  =========================================================================
Claude Agent SDK        ``ClaudeAgentOptions(hooks=claude_agent_hooks())``
OpenAI Agents SDK       ``agent = openai_agent(agent)``
pydantic-ai             ``Agent(…, capabilities=[pydantic_ai_capability()])``
LangChain               ``create_agent(…, middleware=[langchain_middleware()])``
LangGraph               ``graph.add_node("tools", langgraph_tool_node(tools))``
======================  =========================================================================

Each takes the options of ``Hooks``, or ``hooks=``, a ``Hooks`` that several agents share. An SDK is imported only when
its function is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.sdk.claude import claude_agent_hooks
    from hookline.sdk.hooks import Hooks, PromptRefused
    from hookline.sdk.langchain import langchain_middleware, langgraph_tool_node
    from hookline.sdk.openai import openai_agent
    from hookline.sdk.pydantic import pydantic_ai_capability

__all__ = [
    "Hooks",
    "PromptRefused",
    "claude_agent_hooks",
    "langchain_middleware",
    "langgraph_tool_node",
    "openai_agent",
    "pydantic_ai_capability",
]


def __getattr__(name: str) -> Any:
    homes = {
        "Hooks": "hooks", "PromptRefused": "hooks", "claude_agent_hooks": "claude", "openai_agent": "openai",
        "pydantic_ai_capability": "pydantic", "langchain_middleware": "langchain", "langgraph_tool_node": "langchain",
    }  # fmt: skip
    if name not in homes:
        msg = f"module 'hookline.sdk' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"hookline.sdk.{homes[name]}"), name)
