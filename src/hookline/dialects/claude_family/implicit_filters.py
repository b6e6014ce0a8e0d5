"""Events that the agents of this family never send: our own host and other agents do, so hooks are kept from them."""

from __future__ import annotations

from hookline.core.hook import FieldTest

#: A call that a hook refused has not failed.
NOT_REFUSED = FieldTest(path="tool_error.type", equals="blocked", negate=True)
#: A command of the agent's own is no prompt.
NOT_A_COMMAND = FieldTest(path="is_command", equals=True, negate=True)

IMPLIED = (NOT_REFUSED, NOT_A_COMMAND)
