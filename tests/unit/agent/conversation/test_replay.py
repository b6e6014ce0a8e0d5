"""A transcript as messages for a model."""

from __future__ import annotations

import pytest

from hookline.agent.conversation.records import Attachment, CallRecord, Comment, Prose, ThoughtRecord, render_segment
from hookline.agent.conversation.replay import InterlocutorTurn, UserTurn, replay_messages
from hookline.agent.message import AssistantMessage, Message, Thought, ToolCall, ToolOutput, ToolResult, UserMessage
from hookline.core.errors import DataError


def answer(*segments: Prose | Attachment | CallRecord | Comment | ThoughtRecord, name: str = "Bot") -> InterlocutorTurn:
    return InterlocutorTurn(
        name=name, content="".join(f"{render_segment(one)}\n\n" for one in segments).removesuffix("\n")
    )


CALL = CallRecord(
    name="ls", id="c1", arguments={"path_name": "."}, results=(ToolOutput(mimetype="text/plain", content="a\nb"),)
)


def user(*parts: str) -> UserMessage:
    return UserMessage(parts=parts)


def test_a_call_is_replayed_with_its_arguments_and_results() -> None:
    messages = replay_messages([UserTurn(text="Hi"), answer(Prose(text="Look"), CALL, Prose(text="Done"))], "Bot")
    asked = AssistantMessage(text="Look", tool_calls=(ToolCall(id="c1", name="ls", arguments={"path_name": "."}),))
    expected: list[Message] = [
        user("Hi"),
        asked,
        ToolResult(id="c1", name="ls", content="a\nb"),
        AssistantMessage(text="Done"),
    ]
    assert messages == expected


def test_calls_without_an_id_get_different_ones() -> None:
    plain = CallRecord(name="ls")
    messages = replay_messages([UserTurn(text="Hi"), answer(plain, plain, Prose(text="x"), plain)], "Bot")
    ids = [call.id for message in messages if isinstance(message, AssistantMessage) for call in message.tool_calls]
    assert len(set(ids)) == 3


def test_what_hooks_attached_is_told_as_the_persons_and_comments_are_not_told() -> None:
    note = Attachment(content="note")
    messages = replay_messages(
        [UserTurn(text="Hi"), answer(note, note, Comment(text="hidden"), Prose(text="Yes"), note)], "Bot"
    )
    assert messages == [user("Hi"), user("note", "note"), AssistantMessage(text="Yes"), user("note")]


def test_a_reset_drops_everything_before_it_also_in_its_own_block() -> None:
    reset = Attachment(content="summary", attributes={"reset": "true"})
    block = answer(Prose(text="Old"), reset, Attachment(content="more"), Prose(text="New"))
    messages = replay_messages([UserTurn(text="Hi"), block, UserTurn(text="And?")], "Bot")
    assert messages == [user("summary", "more"), AssistantMessage(text="New"), user("And?")]


def test_what_another_said_is_told_as_theirs_without_their_records() -> None:
    messages = replay_messages(
        [UserTurn(text="Hi"), answer(Prose(text="I think"), CALL, name="Other"), UserTurn(text="You?")], "Bot"
    )
    assert messages == [user("Hi"), user('<speaker name="Other">I think</speaker>'), user("You?")]


def test_thoughts_go_back_to_their_own_provider_only() -> None:
    thought = ThoughtRecord(text="hm", provider="anthropic", opaque={"signature": "s"})
    block = answer(Prose(text="Yes"), thought)
    mine = AssistantMessage(text="Yes", thinking=(Thought(text="hm", provider="anthropic", opaque={"signature": "s"}),))
    assert replay_messages([block], "Bot", "anthropic") == [mine]
    assert replay_messages([block], "Bot", "openai") == [AssistantMessage(text="Yes")]


def test_an_empty_message_is_sent_as_something() -> None:
    assert replay_messages([UserTurn(text=""), answer(Prose(text="x"))], "Bot")[0] == user("…")


def test_a_malformed_attachment_is_refused() -> None:
    with pytest.raises(DataError, match="Malformed inline-attachment"):
        replay_messages(
            [InterlocutorTurn(name="Bot", content='<inline-attachment kind="hook">\nx\n</inline-attachment>')], "Bot"
        )


def test_a_record_written_by_hand_on_one_line_is_read() -> None:
    text = (
        '<inline-attachment kind="hook"><command>x</command><content type="text/plain">y</content></inline-attachment>'
    )
    assert replay_messages([InterlocutorTurn(name="Bot", content=text)], "Bot") == [user("y")]
