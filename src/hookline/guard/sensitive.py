"""Files that matter by their name: secrets, what runs by itself later, the guards themselves, a repository's inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from hookline.core.agents import AGENTS
from hookline.guard.effects import Harm
from hookline.guard.pattern import lazy_pattern

# Each pattern is searched in a normalised path; a slash is put in front, so that "/\.env" matches ".env" too.
_KEYS: Final = lazy_pattern(
    r"/\.ssh(/(\*|id_[\w-]+|identity|[\w.-]+\.pem|[\w.-]*_?key))?$|/id_(rsa|dsa|ecdsa|ed25519)(_sk)?$|/\.gnupg(/.*)?$"
    r"|/\.(aws|oci)/(\*|credentials|[\w.-]*credential[\w.-]*|.*\.pem)$|/\.aws/(sso|cli)/cache|/etc/(g?shadow-?|sudoers|security/opasswd|ssl/private.*|ssh/ssh_host_\w+_key|kubernetes/.*\.conf)$"
    r"|/\.(aws|azure|oci)/?$|/\.kube(/config)?$|/\.docker/config\.json$|/\.(netrc|pgpass|my\.cnf|pypirc|npmrc|yarnrc\.yml|git-credentials|boto|s3cfg|dockercfg|htpasswd|vault-token|terraformrc|databrickscfg)$"
    r"|/_netrc$|/\.terraform\.d/credentials\.tfrc\.json$|/\.(cargo/credentials(\.toml)?|gem/credentials|m2/settings(-security)?\.xml|gradle/gradle\.properties|composer/auth\.json|nuget/.*config)$"
    r"|/\.config/(gh/hosts\.yml|glab-cli/config\.yml|hub|gcloud(/.*)?|op(/.*)?|rclone/rclone\.conf|sops/age/keys\.txt|doctl/config\.yaml|stripe/config\.toml|heroku/.*|netlify/config\.json)$"
    r"|/\.azure/(accessTokens|msal_token_cache|azureProfile|service_principal_entries)[\w.]*$|/application_default_credentials\.json$"
    r"|/Library/(Keychains|Cookies|Application Support/(Google/Chrome|Firefox|com\.apple\.TCC)).*|/\.local/share/keyrings|/\.password-store|/\.mozilla/firefox|/\.config/(google-chrome|chromium)/.*(Login Data|Cookies)"
    r"|/proc/(self|\d+|\*)/environ$|/\.(bitcoin|ethereum|solana)/|/wallet\.dat$|/\.claude/\.credentials\.json$|/\.codex/auth\.json$|/\.gemini/oauth_creds\.json$|/\.(bash|zsh|psql|mysql|python)_history$"
)
_PROJECT: Final = lazy_pattern(
    r"/\.envrc$|/\.env(\.(?!example|sample|template|dist|test|schema|defaults|local$)[\w.-]+)?$|/\.env\.local$|/(secrets?|credentials?)(\.(json|ya?ml|toml|ini|env|enc|txt|xml|properties|gpg))?$"
    r"|/[\w.-]*(service[-_]?account|client[-_]secret)[\w.-]*\.json$|[\w-]\.(key|p12|pfx|jks|keystore|kdbx|ppk)$|(private|secret|key)[\w.-]*\.asc$|/[\w.-]*(private|priv|secret|server|tls|ssl|client|root)[\w.-]*\.pem$|/key\.pem$|/master\.key$|/[\w-]*-key$"
    r"|/\.(secrets?|vault_pass(word)?)(/.*|\.txt)?$|/vault[-_]pass(word)?(\.txt)?$|/wp-config\.php$|\.tfstate(\.backup)?$|\.auto\.tfvars$|/database\.yml$|/\.htpasswd$"
)
_FOLDERS: Final = lazy_pattern(
    r"/(certs?|certificates|keys|secrets?|credentials?|private|\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.docker)(/\*?)?$"
)
_SAMPLES: Final = lazy_pattern(r"/(tests?|fixtures?|testdata|examples?|__tests__|spec|mocks?)/")
_SHELLS: Final = lazy_pattern(
    r"/\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|inputrc|xprofile|xinitrc|xsession)$"
    r"|/\.config/(fish/(config\.fish|conf\.d/.*)|autostart/.*|systemd/.*|environment\.d/.*)$|/etc/(profile(\.d/.*)?|bash\.bashrc|bashrc|zsh/?.*|zshrc|environment|rc\.local|ld\.so\.(preload|conf.*)|init\.d/.*|systemd/.*|cron.*|anacrontab|pam\.d/.*|ssh/sshd?_config.*|update-motd\.d/.*|xdg/autostart/.*)$"
    r"|/var/spool/(cron|at)(/.*)?$|/(usr/)?lib/systemd/.*|/\.ssh/(authorized_keys2?|config|rc|environment)$|/Library/(LaunchAgents|LaunchDaemons|StartupItems)(/.*)?$|/\.git/hooks/(?!.*\.sample$).+|/\.gitconfig$|/\.config/git/config$"
    r"|/(usercustomize|sitecustomize)\.py$|\.pth$|/\.pythonrc(\.py)?$|/\.vimrc$|/\.tmux\.conf$|/\.pam_environment$"
)
_ACCOUNTS: Final = lazy_pattern(
    r"/etc/(passwd-?|shadow-?|gshadow-?|group-?|sudoers(\.d(/.*)?)?|hosts|fstab|crypttab|resolv\.conf|nsswitch\.conf|doas\.conf|login\.defs)$|/proc/(sysrq-trigger|sys/.*)$|/boot(/.*)?$"
)
_OWN: Final = lazy_pattern(
    r"/\.hookline(/.*)?$|/(\.config|\.local/(state|share)|\.cache)/hookline(/.*)?$|/etc/hookline(/.*)?$|/hookline\.(toml|sock)$|/(s?bin|Scripts)/hookline[\w-]*$|/site-packages/hookline(/.*)?$"
)
_GUARDS: Final = lazy_pattern(
    r"/(\.config|\.local/share|etc)/(nah|dcg|shguard|safety-net|cc-safety-net|dippy|tirith|destructive_command_guard)(/.*)?$|/\.(nah|dcg|dippy|shguard)(/.*|\.(ya?ml|toml|json))?$|/\.?(safety-net|shguard|dcg|dippy)\.(json|toml|ya?ml)$"
    r"|/etc/(claude-code|codex|gemini-cli|apparmor(\.d)?|selinux)(/.*)?$|/managed-settings\.json$"
)
_AGENTS: Final = lazy_pattern(
    "|".join(
        rf"(^|/){re.escape(file)}$"
        for agent in AGENTS.values()
        for name in agent.files.values()
        for file in (name, *((name.rpartition("/")[0] + "/" + agent.inline,) if agent.inline else ()))
    )
)
_HIJACKS: Final = lazy_pattern(
    r"/(\.local|\.cargo|\.npm-global|go|home/[^/]+|usr/local)/s?bin/(git|ls|cat|rm|cp|mv|sudo|su|ssh|scp|bash|sh|zsh|env|python\d?|node|npm|npx|pip\d?|curl|wget|docker|kubectl|make|gcc|cc|go|cargo|grep|find|sed|awk|ps|kill|which|gh|vim|code|tar)$"
)
_REPOSITORY: Final = lazy_pattern(r"(/\.git|\.git)(/(objects|refs|logs|HEAD|packed-refs|modules|worktrees|\*)(/.*)?)?$")
_GIT_CONFIG: Final = lazy_pattern(r"/\.git/(config(\.worktree)?|info/attributes)$")
_LOCKS: Final = lazy_pattern(
    r"/(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|poetry\.lock|uv\.lock|Pipfile\.lock|pdm\.lock|Cargo\.lock|Gemfile\.lock|composer\.lock|go\.sum|flake\.lock|mix\.lock|packages\.lock\.json)$"
)
_PIPELINES: Final = lazy_pattern(
    r"/(\.github/(workflows|actions)/.*|\.gitlab-ci\.ya?ml|\.circleci/.*|Jenkinsfile|azure-pipelines\.ya?ml|\.travis\.yml|bitbucket-pipelines\.yml|\.buildkite/.*|\.drone\.yml|CODEOWNERS|\.pre-commit-config\.yaml)$"
)


#: Variables that make a harmless program run something else.
RISKY_VARIABLES: Final = lazy_pattern(
    r"(PATH|LD_\w+|DYLD_\w+|\w*PAGER|\w*EDITOR|VISUAL|GIT_\w+|BASH_ENV|ENV|IFS|PROMPT_COMMAND|PYTHON\w+|NODE_OPTIONS|PERL5?\w+|RUBY\w+|LESS\w*|BROWSER|SHELLOPTS|PS4|\w+_COMMAND|TAR_OPTIONS|RIPGREP_CONFIG_PATH|KUBECTL_EXTERNAL_DIFF|CURL_HOME|GREP_OPTIONS|SHELL|HOME|KUBECONFIG|XDG_\w+|PSQLRC|MANPATH|GCONV_PATH|LOCPATH|TERMINFO|TERMCAP|OPENSSL_\w+|HGRCPATH|\w*_OPTS|\w*_TOOL_OPTIONS|\w+_PROXY|FZF_\w+|MANOPT|PS1|DOCKER_\w+)$"
)


#: A variable that by its name holds a credential, as it stands in a command.
SECRET_VARIABLE: Final = lazy_pattern(
    r"\$\{?!?\w*(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SECRET_?KEY|CREDENTIALS?|_PAT)(_?\d+)?(?!\w)"
)
#: A credential itself, by the form that its issuer gives it.
CREDENTIAL: Final = lazy_pattern(
    r"\b(gh[pousr]_|github_pat_|glpat-|glsa_|npm_|pypi-|sk-(ant|proj|svcacct)-|[sr]k_live_|xox[abeprs]-|hf_|dop_v1_|shpat_|lin_api_|SG\.|ya29\.|AIza)[\w-]{16,}"
    r"|\bsk-[A-Za-z0-9]{20,}|\b(AKIA|ASIA)[A-Z0-9]{16}\b|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.|AGE-SECRET-KEY-1|BEGIN [A-Z ]*PRIVATE KEY"
)
SECRET_NAME: Final = lazy_pattern(r"(?i)token|secret|passw|passphrase|api_?key|access_?key|private_?key|credential")


@lru_cache(maxsize=2048)
def secret_harm(path: str) -> Harm | None:
    """How bad reading this file is: keys and credentials of a person or machine, then those that a project keeps."""
    path = "/" + path.lstrip("/")
    if path.endswith(".pub"):
        return None
    if _KEYS.search(path):
        return "high"
    return "medium" if _PROJECT.search(path) and not _SAMPLES.search(path) else None


#: One of each kind, which a pattern may mean.
_KEPT: Final = (
    ".ssh/id_rsa", ".ssh/id_ed25519", ".aws/credentials", ".netrc", ".git-credentials", ".npmrc", ".kube/config", ".docker/config.json",
    ".config/gh/hosts.yml", ".pgpass", ".env", ".env.local", ".env.production", "etc/shadow",
)  # fmt: skip


@lru_cache(maxsize=256)
def secret_pattern_harm(pattern: str) -> Harm | None:
    """``~/.ssh/id_*``: the worst of what it may match. A pattern for all files of a folder means others."""
    if pattern.rpartition("/")[2].strip("*.?") == "":
        return None
    found = [secret_harm(one) for one in _KEPT if _matches(one.split("/"), pattern.split("/"))]
    return "high" if "high" in found else "medium" if found else None


def _matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """By their last names; a dot at the beginning must be written."""
    last = patterns[-len(names) :]
    return len(last) == len(names) and all(
        fnmatchcase(name, one) and (name[0] != "." or one[0] == ".")
        for name, one in zip(names, last, strict=True)
        if one
    )


@lru_cache(maxsize=2048)
def holds_secrets(path: str) -> bool:
    """A directory that by its name holds keys: sending all of it sends them."""
    return bool(_FOLDERS.search("/" + path.strip("/"))) and not _SAMPLES.search(path)


@lru_cache(maxsize=2048)
def write_kind(path: str) -> tuple[str, Harm, str] | None:
    """(kind, harm, why) of writing this file, if it is one that matters by its name."""
    path = "/" + path.lstrip("/")
    for pattern, kind, harm, why in _WRITES:
        if pattern.search(path):
            return kind, harm, why
    return ("secret", "high", "it holds credentials, and is written") if secret_harm(path) == "high" else None


_WRITES: Final[tuple[tuple[re.Pattern[str], str, Harm, str], ...]] = (
    (_OWN, "guard", "critical", "it belongs to hookline, which guards this agent"),
    (_GUARDS, "guard", "critical", "it belongs to a guard of this machine"),
    (_ACCOUNTS, "overwrite", "critical", "the system depends on it"),
    (_AGENTS, "guard", "high", "it says what an agent may do and which hooks it runs"),
    (_SHELLS, "persistence", "high", "what is written there runs later by itself or opens a door"),
    (_HIJACKS, "persistence", "high", "it takes the place of a program that people call"),
    (_GIT_CONFIG, "persistence", "medium", "it says which programs git runs"),
    (_REPOSITORY, "git-history", "high", "git keeps its history there"),
)


def repository_part(path: str) -> bool:
    """A directory in which git keeps history; hooks and the description are not."""
    return bool(_REPOSITORY.search("/" + path.strip("/")))


def own_path(path: str) -> bool:
    return bool(_OWN.search("/" + path.lstrip("/")) or _GUARDS.search("/" + path.lstrip("/")))


def edit_kind(path: str) -> tuple[str, Harm, str] | None:
    """What matters more when an agent edits a file with its own tool: lock files and pipelines, beside ``write_kind``."""
    slashed = "/" + path.lstrip("/")
    if _LOCKS.search(slashed):
        return "overwrite", "medium", "a lock file is written by its program, not by hand"
    if _PIPELINES.search(slashed):
        return "persistence", "medium", "it decides what the project's pipeline runs"
    return write_kind(path)
