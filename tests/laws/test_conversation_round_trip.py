"""What is written into a conversation file is read back exactly, whatever anybody said."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.agent.conversation.document import Block, UserText, read_conversation
from hookline.agent.conversation.records import (
    Attachment,
    CallRecord,
    Comment,
    Prose,
    Segment,
    ThoughtRecord,
    read_content,
    render_segment,
)
from hookline.agent.conversation.values import StreamGuard, escape, guard_prose, unescape, unguard_prose
from hookline.agent.message import ToolOutput

NASTY = (
    "┆", "│", "<│", "<", ">", "&", '"', "\n", "\n\n", "\n\n\n", "\r\n", "\r", ":::", "::::", ":::Bot", "\n:::\n", "</tool-call>",
    '<tool-call with="x">', '<inline-attachment kind="hook">', "</inline-attachment>", "<thought-block>", "</content>",
    "<command>", "```", "```py", "~~~", "-->", "\\", "\\:::", " ", "\t", "a", "é", "\u2028", "\x0b", "\x85", "---", "...",
)  # fmt: skip

any_text = (
    st.lists(st.sampled_from(NASTY) | st.text(max_size=5), max_size=12)
    .map("".join)
    .map(lambda text: text.encode("utf-8", "replace").decode())
)
#: A comment of a model's own is taken out when it is replayed, as Lectic does; blank prose is no prose.
prose_text = any_text.map(lambda text: text.replace("<!--", "<!-")).filter(str.strip)
names = st.text(alphabet="abcXYZ_-09é.$ ", min_size=1, max_size=8)
attribute_names = st.from_regex(r"[a-z0-9_-]{1,8}", fullmatch=True).filter(lambda key: key not in {"kind", "icon"})
attributes = st.dictionaries(attribute_names, any_text, max_size=3)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)

attachments = st.builds(
    Attachment,
    content=any_text,
    command=any_text,
    kind=st.sampled_from(("hook", "attach")),
    icon=any_text,
    attributes=attributes,
)
calls = st.builds(
    CallRecord,
    name=any_text,
    id=any_text,
    arguments=st.dictionaries(names, json_values, max_size=4),
    results=st.lists(st.builds(ToolOutput, mimetype=any_text, content=any_text), max_size=3).map(tuple),
    is_error=st.booleans(),
    kind=any_text,
    icon=any_text,
    opaque=st.dictionaries(names, any_text, max_size=2),
)
thoughts = st.builds(
    ThoughtRecord, text=any_text, provider=any_text, opaque=st.dictionaries(names, any_text, max_size=2)
)
comments = st.builds(Comment, text=any_text.map(lambda text: text.replace("-->", "-- >")))
records = attachments | calls | thoughts | comments


@st.composite
def contents(draw: st.DrawFn) -> list[Segment]:
    """What a run writes: prose is always followed by something else, or the end."""
    segments: list[Segment] = []
    for record in draw(st.lists(records, max_size=4)):
        if draw(st.booleans()):
            segments.append(Prose(text=draw(prose_text)))
        segments.append(record)
    return [*segments, Prose(text=draw(prose_text))] if draw(st.booleans()) else segments


def block_text(segments: list[Segment]) -> str:
    return "".join(f"{render_segment(segment)}\n\n" for segment in segments)


@given(any_text)
def test_text_in_a_record_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text
    assert "\n\n" not in escape(text)


@given(any_text)
def test_prose_comes_back_and_holds_no_structure(text: str) -> None:
    assert unguard_prose(guard_prose(text)) == text
    assert not any(line.lstrip(" \t").startswith((":::", "<tool-call")) for line in guard_prose(text).split("\n"))


@given(st.lists(any_text, max_size=6))
def test_a_stream_is_guarded_as_the_whole_would_be(pieces: list[str]) -> None:
    guard = StreamGuard()
    assert "".join([guard.feed(piece) for piece in pieces] + [guard.flush()]) == guard_prose("".join(pieces))


@settings(max_examples=40)
@given(contents())
def test_every_segment_of_a_block_comes_back(segments: list[Segment]) -> None:
    assert read_content(block_text(segments).removesuffix("\n")) == segments


@settings(max_examples=40)
@given(st.lists(contents(), min_size=1, max_size=3), st.sampled_from(("Bot", "My Bot", "a.b", "0é_-")))
def test_no_answer_ends_its_own_block(answers: list[list[Segment]], name: str) -> None:
    body = "\n\n".join(f"Hello.\n\n:::{name}\n\n{block_text(answer)}:::" for answer in answers)
    conversation = read_conversation(f"---\ninterlocutor: x\n---\n{body}", {name})
    blocks = [item for item in conversation.items if isinstance(item, Block)]
    assert [read_content(block.content) for block in blocks] == answers
    assert all(item.text.strip() == "Hello." for item in conversation.items if isinstance(item, UserText))
