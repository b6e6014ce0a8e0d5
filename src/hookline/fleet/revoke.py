"""Tell the broker who is revoked: the account as it is now, signed by the operator, to every server."""

from __future__ import annotations

import asyncio
import json

from hookline.core.errors import ConfigError
from hookline.fleet.authority import Authority, system_credentials
from hookline.fleet.connection import connection

_SUBJECT = "$SYS.REQ.CLAIMS.UPDATE"
#: Seconds that servers have to answer.
_PATIENCE = 5.0


async def tell_servers(authority: Authority, team: str) -> int:
    """How many servers have taken it. Who is connected with what was revoked is cut off by them. Raises ConfigError."""
    taken, refused = set[str](), list[str]()
    async with connection(system_credentials(authority)) as client:
        inbox = client.new_inbox()
        answers = await client.subscribe(inbox)
        await client.publish(_SUBJECT, authority.account_jwt(team).encode("ascii"), reply=inbox)
        until = asyncio.get_running_loop().time() + _PATIENCE
        while len(taken) < len(authority.servers) and (left := until - asyncio.get_running_loop().time()) > 0:
            try:
                answer = json.loads((await answers.next_msg(timeout=left)).data)
            except TimeoutError:
                break
            if "error" in answer:
                refused.append(str(answer["error"].get("description", answer["error"])))
            else:
                taken.add(str(answer.get("server", {}).get("name")))
    if not taken:
        why = refused[0] if refused else "no server answered"
        raise ConfigError(f"the broker did not take the revocation ({why}); run it again: hookline fleet revoke")
    return len(taken)
