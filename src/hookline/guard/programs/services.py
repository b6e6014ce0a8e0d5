"""Containers, clusters, clouds, registries and databases: what is destroyed or published elsewhere.

The programs share one shape: words that name an action, and options. A row says which actions lose something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from hookline.guard.call import Handler, ProgramCall
from hookline.guard.effects import Effect, Harm
from hookline.guard.pattern import LazyPattern, words
from hookline.guard.reading import Word

_Rule = tuple[str, str, Harm, str]

_GONE = "resources are destroyed; what they hold cannot be brought back"
_STOP = "something that others may use is stopped or deleted"
_OUT = "others can install it from then on; most registries do not take it back"

#: program -> rows of (pattern on the action's words, kind, harm, why). The first row that matches counts.
_ROWS: Final[Mapping[str, tuple[_Rule, ...]]] = MappingProxyType({
    "docker": (
        (r"(system|volume|builder) prune.*--volumes|system reset|volume (rm|remove|prune)|compose (\S+ )*down.*( -v| --volumes)|(compose )?rm .*-\w*v", "infrastructure", "high", "volumes and the data in them are deleted"),
        (r"(system|image|container|network|builder|buildx) prune|(container |image |network |config |secret |stack |service |node |context |plugin )?(rm|rmi|remove)\b|swarm leave|compose (\S+ )*(kill|rm)|(container )?(kill|stop)|image rm", "infrastructure", "medium", _STOP),
        (r"(run|create|container run) .*(--privileged|--pid[= ]host|-v ?/:|--volume[= ]/:|/var/run/docker\.sock|--cap-add[= ](ALL|SYS_ADMIN))", "privilege", "high", "the container has the rights of the machine's root"),
        (r"(image )?push|trust sign|manifest push", "publish", "medium", _OUT),
    ),
    "kubectl": (
        (r"delete (.* )?(ns|namespaces?|pvc?|persistentvolume(claim)?s?|crds?|customresourcedefinitions?|statefulsets?|nodes?)\b|delete .*(--all\b|--all-namespaces|-A\b)", "infrastructure", "high", _GONE),
        (r"delete\b|drain\b|cordon|replace .*--force|scale .*--replicas[= ]0|rollout undo|taint|config (delete|unset)", "infrastructure", "medium", _STOP),
        (r"get (.*[ ,])?secrets?\b.* (-o|--output)|get (.* )?secrets?/\S+ .*-o|config view .*--raw", "secret", "medium", "it prints credentials"),
        (r"(apply|create) .*https?://", "remote-code", "medium", "what is at that address is set up unread"),
        (r"exec|cp|port-forward|proxy|attach|debug", "infrastructure", "low", ""),
    ),
    "helm": (
        (r"(uninstall|delete|del|un)\b(?!.*--dry-run)", "infrastructure", "high", _GONE),
        (r"rollback\b(?!.*--dry-run)", "infrastructure", "medium", _STOP),
        (r"push\b", "publish", "medium", _OUT),
    ),
    "terraform": (
        (r"(run-all |run |stack run )?(-- )?destroy|apply .*-destroy|apply .*-auto-approve|apply$|workspace delete|state rm|force-unlock|state push|taint|apply\b", "infrastructure", "high", _GONE),
    ),
    "pulumi": ((r"destroy|stack rm|up .*(-y|--yes)|state delete|cancel", "infrastructure", "high", _GONE),),
    "cdk": ((r"destroy|gc|rollback", "infrastructure", "high", _GONE),),
    "serverless": ((r"remove", "infrastructure", "high", _GONE),),
    "ansible": ((r".*-m (shell|command|raw|file)", "infrastructure", "medium", "it changes other machines"),),
    "aws": (
        (r"s3 (rb|rm) .*|s3 sync .*--delete|s3api delete-bucket|s3api delete-objects?\b|(rds|dynamodb|redshift|elasticache|efs|fsx|docdb|neptune) delete-\S+|ec2 (terminate-instances|delete-(volume|snapshot|vpc))|cloudformation delete-stack|eks delete-\S+|kms (schedule-key-deletion|disable-key)|iam delete-\S+|secretsmanager delete-secret|route53 delete-hosted-zone|organizations \S*(delete|remove|leave|close)\S*|backup delete-\S+|lambda delete-function|ecr (delete|batch-delete)-\S+", "infrastructure", "high", _GONE),
        (r"\S+ (delete|terminate|remove|destroy|purge|deregister|disable|stop|reboot|revoke|detach|reset)-\S+", "infrastructure", "medium", _STOP),
        (r"secretsmanager get-secret-value|secretsmanager batch-get|ssm get-parameters?\b.*--with-decryption|sts (assume-role|get-session-token)|configure (get|export-credentials)|iam create-access-key|ec2 get-password-data|ecr get-(login-password|authorization-token)", "secret", "medium", "it prints credentials"),
        (r"iam (attach|put|add|create|update)-\S+", "privilege", "medium", "it changes who may do what"),
        (r"s3 (cp|sync|mv) (?!s3://)\S+ s3://", "send", "medium", "files are copied to the cloud"),
    ),
    "gcloud": (
        (r"(projects|sql (instances|databases)|storage buckets|compute (instances|disks|snapshots)|container clusters|firestore|spanner|bigtable|secrets|kms|dns managed-zones) (\S+ )*(delete|destroy|rm)\b|storage rm\b", "infrastructure", "high", _GONE),
        (r"(\S+ )+(delete|destroy|remove-\S+|stop|disable|reset)\b", "infrastructure", "medium", _STOP),
        (r"secrets versions access|auth print-(access|identity)-token|auth application-default print-access-token|iam service-accounts keys create", "secret", "medium", "it prints credentials"),
    ),
    "gsutil": ((r"(-m )?(rm|rb)\b|(-m )?rsync .*-d", "infrastructure", "high", _GONE), (r"(-m )?(cp|mv|rsync) (?!gs:)\S+ gs:", "send", "medium", "files are copied to the cloud")),
    "bq": ((r"rm\b|query .*(drop|delete|truncate)", "database", "high", "data are deleted"),),
    "az": (
        (r"(group|vm|sql|storage|aks|keyvault|cosmosdb|disk|snapshot|redis|postgres|mysql) (\S+ )*(delete|purge|deallocate)\b", "infrastructure", "high", _GONE),
        (r"(\S+ )+(delete|purge|remove|stop|deallocate|disable|revoke|regenerate-keys?)\b", "infrastructure", "medium", _STOP),
        (r"keyvault secret (show|download)|account get-access-token|ad sp create-for-rbac|(\S+ )+keys list|(\S+ )+list-keys|(\S+ )+list-publishing-\S+|(\S+ )+show-connection-string", "secret", "medium", "it prints credentials"),
    ),
    "eksctl": ((r"delete\b|drain\b", "infrastructure", "high", _GONE),), "vsce": ((r"(un)?publish\b", "publish", "medium", _OUT),),
    "rpm": ((r"(.* )?(-e\b|--erase)", "install", "medium", "software of the machine is removed"),),
    "doctl": ((r"(\S+ )+(delete|rm|d)\b|(\S+ )+destroy", "infrastructure", "high", _GONE),),
    "heroku": ((r"(apps:destroy|apps:delete|addons:destroy|pg:reset|destroy|ps:stop|domains:clear|config:unset)", "infrastructure", "high", _GONE),),
    "flyctl": ((r"(apps |volumes |machines? |postgres )?(destroy|delete|rm)\b", "infrastructure", "high", _GONE), (r"deploy", "publish", "medium", "it goes live")),
    "vercel": ((r"(rm|remove|projects? rm|env rm)\b", "infrastructure", "high", _GONE), (r"(deploy\b.*)?--prod", "publish", "medium", "it goes live")),
    "netlify": ((r"sites:delete|api deletesite", "infrastructure", "high", _GONE), (r"deploy .*--prod", "publish", "medium", "it goes live")),
    "wrangler": ((r"(delete|\S+ delete|\S+ \S+ delete|kv:\S+ delete|d1 .*drop)", "infrastructure", "high", _GONE), (r"deploy|publish", "publish", "medium", "it goes live")),
    "firebase": ((r"\S*:(delete|disable)|projects:delete|firestore:delete", "infrastructure", "high", _GONE), (r"deploy", "publish", "medium", "it goes live")),
    "gh": (
        (r"repo (delete|archive)|api .*(-X|--method)[= ]?DELETE", "infrastructure", "high", "a repository or its data are deleted"),
        (r"(issue|release|gist|secret|variable|label|cache|ssh-key|gpg-key|project|run|codespace|extension|alias) (delete|remove)\b|release delete-asset|auth logout|repo (edit|rename) |pr merge .*--admin", "infrastructure", "medium", _STOP),
        (r"release create|gist create|repo create .*--push|release upload|pr (create|merge)|repo edit .*--visibility", "publish", "medium", "others can see it from then on"),
        (r"auth (token|setup-git)|secret set|auth status .*(-t|--show-token)", "secret", "medium", "it prints or stores a credential"),
        (r"workflow (run|disable|enable)", "infrastructure", "low", ""),
    ),
    "glab": ((r"repo delete|project delete|release delete|api .*DELETE", "infrastructure", "high", _GONE), (r"auth (token|status .*-t)", "secret", "medium", "it prints a credential")),
    "npm": (
        (r"(publish|pub)\b(?!.*--dry-run)|dist-tag (add|rm)|access (public|restricted|set|grant)", "publish", "medium", _OUT),
        (r"(config |c )?set registry", "persistence", "medium", "packages come from another address from then on"),
        (r"unpublish|deprecate|owner (add|rm)|token (create|revoke)|team (destroy|rm)", "publish", "high", "a published package changes for everybody"),
        (r"(i|install|add) (.* )?(git\+|https?://)", "remote-code", "medium", "it runs the setup code of that address"),
        (r"(uninstall|remove|rm|un|r|unlink) .*(-g|--global)\b|(-g|--global) (.* )?(uninstall|remove|rm)\b", "install", "medium", "it changes the machine, not the project"),
        (r"(i|install|add|update|up|link) .*(-g|--global|--location=global)\b|(-g|--global) (i|install|add)\b", "install", "medium", "it changes the machine, not the project"),
    ),
    "cargo": ((r"install .*--git\b", "remote-code", "medium", "it builds and installs what is at that address"), (r"(\+\S+ )?publish\b(?!.*(--dry-run| -n))", "publish", "medium", _OUT), (r"yank|owner (--add|-a|--remove|-r)", "publish", "high", "a published crate changes for everybody"), (r"uninstall (dcg|shguard|nah|hookline)\b", "guard", "critical", "it removes a guard of this machine")),
    "pip": ((r"(tool |runpip \S+ )?uninstall .*\b(hookline|nah|dippy)\b", "guard", "critical", "it removes a guard of this machine"), (r"publish\b(?!.*--dry-run)", "publish", "medium", _OUT), (r"config set \S*index-url", "persistence", "medium", "packages come from another address from then on"), (r"install .*--break-system-packages|uninstall .*-y\b.*-r", "install", "medium", "it changes the machine, not the project"), (r"install (.* )?(git\+|https?://)", "remote-code", "medium", "it runs the setup code of that address"), (r"install .*(--(extra-)?index-url|-i )[= ]?http://", "remote-code", "high", "packages come from an address that nobody vouches for")),
    "twine": ((r"upload", "publish", "medium", _OUT),),
    "poetry": ((r"publish(?!.*--dry-run)", "publish", "medium", _OUT),),
    "gem": ((r"push", "publish", "medium", _OUT), (r"yank|owner", "publish", "high", "a published gem changes for everybody")),
    "mvn": ((r"(.* )?deploy\b", "publish", "medium", _OUT),),
    "gradle": ((r"(.* )?publish\w*", "publish", "medium", _OUT),),
    "dotnet": ((r"nuget (push|delete)", "publish", "medium", _OUT),),
    "goreleaser": ((r"release(?!.*(--snapshot|--skip[= ]publish))", "publish", "medium", _OUT),),
    "apt": ((r"(.* )?(remove|purge|autoremove|dist-upgrade|full-upgrade)\b", "install", "medium", "software of the machine is removed"), (r"(.* )?install\b", "install", "low", "")),
    "brew": ((r"(uninstall|remove|rm|untap|autoremove|cleanup) .*", "install", "medium", "software of the machine is removed"),),
    "pacman": ((r"-R\w*|--remove", "install", "medium", "software of the machine is removed"),),
    "snap": ((r"remove", "install", "medium", "software of the machine is removed"),),
    "redis-cli": ((r"(.* )?(flushall|flushdb|shutdown|debug|config set|script flush|swapdb)\b", "database", "high", "all data are deleted"), (r"(.* )?(del|unlink|ltrim|hdel) ", "database", "medium", "data are deleted")),
    "mongosh": ((r".*(dropDatabase|\.drop\(|deleteMany\(\s*\{\s*\}|remove\(\s*\{\s*\})", "database", "high", "all data are deleted"),),
    "dropdb": ((r"(?!.*--help).+", "database", "high", "a database is deleted"),),
    "mysqladmin": ((r".*\b(drop|shutdown)\b", "database", "high", "a database is deleted"),),
    "pg_restore": ((r".*(--clean|-c\b)", "database", "high", "tables are dropped first"),),
    "rails": ((r"(db:(drop|reset|schema:load|purge|migrate:reset|truncate_all|seed:replant))", "database", "high", "all data of the database are deleted"),),
    "prisma": ((r"(migrate reset|db push .*(--force-reset|--accept-data-loss))", "database", "high", "all data of the database are deleted"),),
    "artisan": ((r"(migrate:(fresh|reset|refresh)|db:wipe)", "database", "high", "all data of the database are deleted"),),
    "manage.py": ((r"(flush|reset_db|sqlflush|migrate \S+ zero)", "database", "high", "all data of the database are deleted"),),
    "alembic": ((r"downgrade (base|-\d+)", "database", "high", "tables and their data are dropped"),), "flask": ((r"db downgrade", "database", "high", "tables and their data are dropped"),), "sequelize": ((r"db:(drop|migrate:undo:all)", "database", "high", "all data of the database are deleted"),), "knex": ((r"migrate:rollback .*--all", "database", "high", "tables and their data are dropped"),), "typeorm": ((r"schema:drop", "database", "high", "tables and their data are dropped"),),
    "supabase": ((r"db reset|projects delete|branches delete", "database", "high", "all data of the database are deleted"),),
    "influx": ((r"(bucket )?delete|.*drop (database|measurement)", "database", "high", "data are deleted"),),
    "vault": ((r"(kv )?(delete|destroy|metadata delete)|secrets disable|auth disable|operator (seal|rekey)", "infrastructure", "high", _GONE),),
    "consul": ((r"kv delete .*-recurse|leave", "infrastructure", "high", _GONE),),
    "nomad": ((r"(job )?(stop|purge)|system gc|volume (delete|deregister)", "infrastructure", "high", _GONE),),
    "etcdctl": ((r"del\b", "database", "high", "data are deleted"),),
    "vagrant": ((r"destroy", "infrastructure", "medium", _GONE),),
    "virsh": ((r"(undefine|destroy|vol-delete|pool-delete|snapshot-delete)", "infrastructure", "high", _GONE),),
    "packer": ((r"build\b", "infrastructure", "low", ""),),
    "restic": ((r"(.* )?(forget|prune)\b", "delete", "high", "backups are deleted"),),
    "borg": ((r"(.* )?(delete|prune|compact)\b", "delete", "high", "backups are deleted"),),
    "rclone": ((r"(delete|purge|deletefile|sync|rmdirs?|cleanup|dedupe)\b(?!.*--dry-run)", "delete", "high", "files at the target are deleted"), (r"(copy|copyto|move) (?!\S+:)\S+ \S+:", "send", "medium", "files are copied to the cloud")),
    "nix": ((r"(store )?(delete|gc)|.*collect-garbage", "delete", "medium", "old generations are deleted"),),
    "auth0": ((r"(\S+ )+(delete|rm|remove)\b|api delete", "infrastructure", "medium", _STOP),),
})  # fmt: skip
_SAME: Final[Mapping[str, str]] = MappingProxyType({
    "podman": "docker", "nerdctl": "docker", "docker-compose": "docker", "podman-compose": "docker", "oc": "kubectl", "k": "kubectl", "kubecolor": "kubectl", "microk8s": "kubectl", "k3s": "kubectl",
    "tofu": "terraform", "terragrunt": "terraform", "sls": "serverless", "ansible-playbook": "ansible", "pnpm": "npm", "yarn": "npm", "bun": "npm", "pip3": "pip", "pipx": "pip", "uv": "pip", "flit": "poetry", "hatch": "poetry", "pdm": "poetry", "maturin": "poetry",
    "apt-get": "apt", "aptitude": "apt", "dnf": "apt", "yum": "apt", "zypper": "apt", "apk": "apt", "dpkg": "apt", "mongo": "mongosh", "valkey-cli": "redis-cli", "fly": "flyctl", "rake": "rails", "nix-collect-garbage": "nix", "gradlew": "gradle", "flatpak": "snap", "keydb-cli": "redis-cli",
})  # fmt: skip
#: GivenOptions with a value that may stand before the action.
_SKIP: Final = LazyPattern(
    r"^(-n|--namespace|--context|--kubeconfig|--cluster|--user|-s|--server|--profile|--region|--output|--endpoint-url|--project|--subscription|--account|--format|--configuration|-H|--host|-c|--log-level|--config|-f|--file|-p|--project-name|--env-file|--chdir|-R|--repo|--prefix|-C|--cwd|--registry|-h|-a|-u|--tenant|-t|--kube-context|--query|-o|-g|--resource-group|-w|--workspace)$"
)
_DRY: Final = words("--help -help --dry-run --dryrun --dry-run=client --dry-run=server --what-if help")
_VALUE_H = frozenset({"docker", "redis-cli"})


def _service(call: ProgramCall) -> Iterator[Effect]:
    name = _SAME.get(call.name, call.name)
    texts = list(call.texts)
    if set(texts) & _DRY or ("-h" in texts and name not in _VALUE_H):
        return
    given = call.invocation.stdin
    if given is not None and name in {"redis-cli", "mongosh"}:
        texts += given.text.split()
    line = ("compose " if call.name.endswith("-compose") else "") + " ".join(_action(texts, name))
    for pattern, kind, harm, why in _ROWS[name]:
        if re.match(pattern, line, re.IGNORECASE):
            yield call.effect(kind, harm, line, where="remote", why=why)
            return


def _action(texts: list[str], name: str) -> list[str]:
    """The words from the action on; options before it, and their values, are left out."""
    rest = list(texts)
    while rest and rest[0].startswith("-") and name not in {"pacman", "vercel", "ansible", "rpm"}:
        option = rest.pop(0)
        if _SKIP.match(option) and rest:
            rest.pop(0)
    return rest


_DROPS: Final = LazyPattern(
    r"(?is)\b(drop\s+(database|schema|table|keyspace|index|view|user|role|owned|collection|tablespace)|truncate\s+(table\s+)?\w|delete\s+from\s+[\w.\"`\[\]]+\s*(;|$|'|\"|where\s+(1\s*=\s*1|true)\b)|alter\s+table\s+.*\bdrop\b|update\s+[\w.\"`]+\s+set\s+(?!.*\bwhere\b))"
)
_SELECTS: Final = LazyPattern(r"(?i)\s*(select|show|explain)\b[^;]*;?\s*$")
_SQL_OPTIONS = "c:,command: e:,execute: f:,file: q:,query: Q: s: ,cmd: ,eval: d:,dbname:,database: h:,host: U:,username: u:,user: p?,password? P:,port: t A B N i: S: o:,output: v: w W X"


def _sql(call: ProgramCall) -> Iterator[Effect]:
    code = [*call.words]
    if call.invocation.stdin is not None:
        code.append(call.invocation.stdin)
    for word in code:
        found = _DROPS.search(re.sub(r"'[^']*'", "''", word.text) if _SELECTS.match(word.text) else word.text)
        if found:
            harm: Harm = "high" if not re.match(r"(?i)update|alter", found[0]) else "medium"
            yield call.effect(
                "database", harm, found[0].strip(), why="data are deleted for good", safer="make a dump first"
            )
        shell = re.search(
            r"\\!\s*(.+)|\\copy .* program '([^']+)'|(?i:copy .* (?:from|to) program '([^']+)')|^\.(?:shell|system)\s+(.+)",
            word.text,
        )
        if shell:
            yield from call.shell(Word((next(group for group in shell.groups() if group),), shell[0]))


PROGRAMS: Final[Mapping[str, Handler]] = MappingProxyType({
    **dict.fromkeys((*_ROWS, *_SAME), _service),
    **dict.fromkeys(words("psql mysql mariadb sqlite3 duckdb sqlcmd cqlsh clickhouse-client clickhouse sqlplus cockroach usql mycli pgcli snowsql presto trino mssql-cli"), _sql),
})  # fmt: skip
