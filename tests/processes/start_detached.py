"""A process that starts a detached hook and ends before the hook has read its payload."""

import os
import sys

from hookline.core.event import EVENTS, Event
from hookline.core.hook import Command, HookSpec, Origin
from hookline.core.settings import Settings
from hookline.dialects.base import Call
from hookline.runners.base import Job, Stop
from hookline.runners.command import CommandRunner

state, out = sys.argv[1:]
spec = HookSpec(
    id="1", name="later", dialect="native", event="Stop", origin=Origin(file="x"), action=Command(form="script")
)
script = f"#!/bin/sh\nsleep 0.5\ncat >{out}.new\nmv {out}.new {out}\n"
raw = CommandRunner().start(
    Job(
        spec=spec,
        event=Event(kind=EVENTS["Stop"], data={}, environ=dict(os.environ)),
        call=Call(script=script, stdin=b"payload"),
        settings=Settings(state_dir=state),
        stop=Stop(),
    )
)
sys.exit(1 if raw.error else 0)
