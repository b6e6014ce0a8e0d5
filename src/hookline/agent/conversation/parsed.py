"""A conversation as data, and back, in the form of ``lectic parse``: header, and messages with their blocks.

Blocks of prose are told apart as Markdown does (headings, code, HTML, paragraphs); what is inside a paragraph is one
text. Going back gives the same conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.agent.conversation.directives import markdown_blocks
from hookline.agent.conversation.document import Block, read_conversation
from hookline.config.syntax.yaml import read as read_yaml
from hookline.core.errors import DataError

_RECORDS = ("tool-call", "inline-attachment", "thought-block")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r"(`{3,}|~{3,})(\S*)[^\n]*\n(.*?)\n?[ ]{0,3}\1[`~]*[ \t]*", re.DOTALL)


def take_apart(text: str) -> dict[str, Any]:
    conversation = read_conversation(text)
    header: dict[str, Any] = {}
    if conversation.header.strip():
        document = read_yaml("document header", conversation.header)
        if not isinstance(document.tree, dict):
            raise DataError("; ".join(str(one) for one in document.problems) or "Header must be an object.")
        header = {"raw": conversation.header, **document.tree}
    messages = []
    for item in conversation.items:
        if isinstance(item, Block):
            messages.append({"role": "assistant", "name": item.name, "content": [*_nodes(item.content)]})
        else:
            messages.append({"role": "user", "content": [*_nodes(item.text)]})
    return {"header": header, "messages": messages}


def _nodes(text: str) -> Iterator[dict[str, Any]]:
    for block in markdown_blocks(text):
        record = next((kind for kind in _RECORDS if block.startswith((f"<{kind} ", f"<{kind}>"))), "")
        if record:
            yield {"type": record, "value": block}
        elif heading := _HEADING.fullmatch(block):
            yield {"type": "heading", "depth": len(heading[1]), "children": [{"type": "text", "value": heading[2]}]}
        elif fence := _FENCE.fullmatch(block):
            yield {"type": "code", "lang": fence[2] or None, "meta": None, "value": fence[3]}
        elif block.startswith("<"):
            yield {"type": "html", "value": block}
        else:
            yield {"type": "paragraph", "children": [{"type": "text", "value": block}]}


def assemble(text: str) -> str:
    """From JSON or YAML."""
    document = read_yaml("input", text)
    tree = document.tree
    if not isinstance(tree, dict) or not isinstance(tree.get("messages"), list):
        raise DataError("; ".join(str(one) for one in document.problems) or "Invalid input format")
    parts = [f"---\n{header}---" for header in (_header(tree.get("header")),) if header]
    for message in tree["messages"]:
        body = "\n\n".join(_source(node) for node in message.get("content") or ())
        if message.get("role") == "assistant":
            body = f":::{message.get('name')}\n\n{body}\n\n:::"
        parts += [body] if body.strip() else []
    return "\n\n".join(parts).strip() + "\n"


def _header(header: Any) -> str:
    """As it was written, unless somebody has changed what it says."""
    import yaml  # slow to import

    if not isinstance(header, Mapping) or not header:
        return ""
    rest = {key: value for key, value in header.items() if key != "raw"}
    raw = str(header.get("raw", ""))
    if raw and read_yaml("header", raw).tree == rest:
        return raw if raw.endswith("\n") else f"{raw}\n"
    return yaml.safe_dump(rest, allow_unicode=True, sort_keys=False) if rest else ""


def _source(node: Mapping[str, Any]) -> str:
    match node.get("type"):
        case "heading":
            return "#" * int(node.get("depth", 1)) + " " + _inner(node)
        case "code":
            fence = "```" if "```" not in str(node.get("value", "")) else "````"
            return f"{fence}{node.get('lang') or ''}\n{node.get('value', '')}\n{fence}"
        case _:
            return str(node["value"]) if "value" in node else _inner(node)


def _inner(node: Mapping[str, Any]) -> str:
    return "".join(_source(child) for child in node.get("children") or ())
