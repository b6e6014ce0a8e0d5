"""The folder of the fleet's owner: the keys that issue identities, and the broker's configuration made from them.

``fleet.json`` has the addresses, the secret keys and who was issued what; it stays with the owner. ``server/`` is for the
hosts of the broker: a configuration for each, certificates, and nothing secret besides the host's own key. Identities are
JWTs (decision 0040): a new machine needs no change on the broker, and a revocation is one message to it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hookline.core._dataclass import dataclass, replace
from hookline.core.errors import ConfigError, UsageError
from hookline.core.files import replace_atomically
from hookline.fleet import credentials
from hookline.fleet.subjects import Role, require_name

_FILE, SERVER = "fleet.json", "server"
_LIMITS = {
    "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": True, "conn": -1, "leaf": -1,
    "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
}  # fmt: skip
#: Between the port for clients and the one for the other servers of a cluster.
_ROUTE_OFFSET = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """An identity that was issued, by its public key, and whether it was revoked since."""

    name: str
    role: Role
    group: str
    team: str
    key: str
    revoked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    folder: str
    #: ``HOST:PORT`` of every server.
    servers: tuple[str, ...]
    operator: str
    system: str
    #: Team -> seed of its account.
    teams: Mapping[str, str]
    members: tuple[_Member, ...]
    certificate: str

    @property
    def replicas(self) -> int:
        return 3 if len(self.servers) >= 3 else 1

    def broker(self) -> dict[str, Any]:
        return {"servers": [f"tls://{one}" for one in self.servers], "authority": self.certificate}

    def team(self, name: str) -> str:
        """The team that was named, or the only one. Raises UsageError."""
        if not name and len(self.teams) == 1:
            return next(iter(self.teams))
        if name not in self.teams:
            raise UsageError(f"which team? --team {' | '.join(sorted(self.teams))}")
        return name

    def account_jwt(self, team: str) -> str:
        seed = self.teams[team]
        revoked = {one.key: one.revoked for one in self.members if one.team == team and one.revoked}
        claims = {
            "limits": _LIMITS,
            "default_permissions": {"pub": {}, "sub": {}},
            "revocations": revoked,
            "type": "account",
        }
        return credentials.sign_claims(self.operator, credentials.public_key(seed), team, claims)

    def member(self, team: str, name: str) -> _Member:
        found = next((one for one in reversed(self.members) if (one.team, one.name) == (team, name)), None)
        if found is None:
            raise UsageError(f"{name} is not a member of {team}; hookline fleet members lists them")
        return found


def system_credentials(authority: Authority) -> credentials.Credentials:
    """For the one message that changes an account."""
    return _issue_owner(authority, authority.system, "system")


def admin_credentials(authority: Authority, team: str) -> credentials.Credentials:
    return _issue_owner(authority, authority.teams[team], team)


def _issue_owner(authority: Authority, seed: str, team: str) -> credentials.Credentials:
    _, text = credentials.issue(seed, authority.broker(), team=team, role="admin", name="owner", group="")
    return credentials.parse_credentials(text, team)


def init(folder: str, servers: Sequence[str], teams: Sequence[str]) -> Authority:
    """Raises UsageError if the folder is in use."""
    if os.path.lexists(os.path.join(folder, _FILE)):
        raise UsageError(f"{folder} is a fleet already; hookline fleet add NAME adds a machine to it")
    if len(servers) not in {1, 3, 5}:
        raise UsageError("a broker is 1 server, or a cluster of 3 or 5: --server HOST:PORT for each")
    for one in servers:
        host, _, port = one.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536 - _ROUTE_OFFSET:
            raise UsageError(f"--server {one}: write HOST:PORT, as machines reach it")
    os.makedirs(os.path.join(folder, SERVER), 0o700, exist_ok=True)
    from hookline.fleet.certificates import make_certificates  # its library takes long to load

    certificate = make_certificates(os.path.join(folder, SERVER), [one.rpartition(":")[0] for one in servers])
    made = Authority(
        folder=folder, servers=tuple(servers), certificate=certificate, members=(),
        operator=credentials.new_seed("operator"), system=credentials.new_seed("account"),
        teams={require_name(one, "team"): credentials.new_seed("account") for one in teams},
    )  # fmt: skip
    _save(made)
    return made


def load(folder: str) -> Authority:
    """Raises ConfigError."""
    path = os.path.join(folder, _FILE)
    try:
        with open(path, encoding="utf-8") as file:
            tree = json.load(file)
        tree |= {"servers": tuple(tree["servers"]), "members": tuple(_Member(**one) for one in tree["members"])}
        return Authority(folder=folder, **tree)
    except FileNotFoundError:
        raise ConfigError(
            f"{folder} is not a fleet (it has no {_FILE}); to make one: hookline fleet init {folder} --server HOST:PORT"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None


def _save(authority: Authority) -> None:
    """The secrets, then what follows from them for the servers."""
    tree = asdict(authority)
    del tree["folder"]
    replace_atomically(os.path.join(authority.folder, _FILE), json.dumps(tree, indent=1).encode(), mode=0o600)
    for at, _ in enumerate(authority.servers):
        path = os.path.join(authority.folder, SERVER, f"nats-{at + 1}.conf")
        replace_atomically(path, _server_config(authority, at).encode(), mode=0o600)


def add(authority: Authority, team: str, role: Role, name: str, group: str) -> tuple[Authority, str]:
    """Issue an identity; who had the name before keeps theirs until it is revoked, so a name is issued once."""
    require_name(name, role)
    require_name(group, "group")
    if any((one.team, one.name) == (team, name) and not one.revoked for one in authority.members):
        raise UsageError(f"{name} has credentials already; hookline fleet revoke {name} makes room for new ones")
    key, text = credentials.issue(
        authority.teams[team], authority.broker(), team=team, role=role, name=name, group=group
    )
    changed = replace(
        authority, members=(*authority.members, _Member(name=name, role=role, group=group, team=team, key=key))
    )
    _save(changed)
    return changed, text


def revoke(authority: Authority, team: str, name: str) -> Authority:
    """From now on, in our files; the servers learn it by ``account_jwt`` (``streams.tell_servers``)."""
    gone = authority.member(team, name)
    at = int(time.time()) + 86_400  # a clock that was ahead when it was issued must not keep it alive
    changed = replace(
        authority, members=tuple(replace(one, revoked=at) if one == gone else one for one in authority.members)
    )
    _save(changed)
    return changed


# ── the broker ───────────────────────────────────────────────────────────────────────────────────────


def _server_config(authority: Authority, at: int) -> str:
    """For ``nats-server -c``, started in ``server/``."""
    host, _, port = authority.servers[at].rpartition(":")
    system = credentials.public_key(authority.system)
    accounts = {credentials.public_key(seed): authority.account_jwt(team) for team, seed in authority.teams.items()}
    none = {"limits": {**_LIMITS, "mem_storage": 0, "disk_storage": 0, "streams": 0, "consumer": 0}, "type": "account"}
    accounts[system] = credentials.sign_claims(authority.operator, system, "system", none)
    claims = {"type": "operator", "system_account": system}
    operator = credentials.sign_claims(
        authority.operator, credentials.public_key(authority.operator), "hookline", claims
    )
    listen = "127.0.0.1" if host in {"127.0.0.1", "localhost"} else "0.0.0.0"  # noqa: S104  the broker of a fleet
    tls = f'{{ cert_file: "./{at + 1}.pem", key_file: "./{at + 1}.key", ca_file: "./ca.pem"'
    lines = [
        f"# made by hookline fleet init; start it in this folder: nats-server -c nats-{at + 1}.conf",
        f"server_name: hookline-{at + 1}", f"listen: {listen}:{port}", f"tls: {tls} }}", "max_payload: 1MB",
        f'jetstream: {{ store_dir: "./data-{at + 1}" }}', f"operator: {operator}", f"system_account: {system}",
        f'resolver: {{ type: full, dir: "./accounts-{at + 1}" }}', "resolver_preload: {",
        *(f"  {key}: {jwt}" for key, jwt in accounts.items()), "}",
    ]  # fmt: skip
    if len(authority.servers) > 1:
        routes = [f'"nats-route://{_route(one)}"' for one in authority.servers]
        lines += [
            "cluster: {", "  name: hookline", f"  listen: {listen}:{int(port) + _ROUTE_OFFSET}",
            # Only who has a certificate of ours joins the cluster.
            f"  tls: {tls}, verify: true }}", f"  routes: [{', '.join(routes)}]", "}",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _route(server: str) -> str:
    host, _, port = server.rpartition(":")
    return f"{host}:{int(port) + _ROUTE_OFFSET}"
