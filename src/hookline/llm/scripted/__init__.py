"""A model server that plays a script, over the real wire protocols, on loopback only.

For tests, for the demo, and for anybody who writes hooks that ask a model::

    with ModelServer([{"json": {"ok": False, "reason": "not on Fridays"}}]) as server:
        run_something(environ=os.environ | server.environ())
        assert "deploy" in server.requests[0].text
"""

from hookline.llm.scripted.script import Request, Script, ScriptError, read_script
from hookline.llm.scripted.server import ModelServer

__all__ = ["ModelServer", "Request", "Script", "ScriptError", "read_script"]
