"""Variables that make a program load code: shells, interpreters and the dynamic linker read them before anything else."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from hookline.core.lazy_pattern import lazy_pattern

#: Options: some of them name code, and then every word may.
_OPTIONS = frozenset({
    "NODE_OPTIONS", "RUBYOPT", "PERL5OPT", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "BUN_OPTIONS", "LD_PRELOAD",
})  # fmt: skip
#: Options of which few name code: a path, what a shell or make expands, a variable, a plugin, a file, a Python class.
_FLAGS = frozenset({
    "MAKEFLAGS", "GNUMAKEFLAGS", "GOFLAGS", "PYTEST_ADDOPTS", "PYTHONWARNINGS", "MAVEN_OPTS", "GRADLE_OPTS", "JAVA_OPTS", "RUSTFLAGS",
})  # fmt: skip
#: Source text or a command line, whatever its value.
_SOURCES = frozenset({
    "PERL5DB", "PS4", "TAR_OPTIONS", "PYTEST_PLUGINS", "RSYNC_RSH", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND",
})  # fmt: skip
#: A function that bash takes over, and Lua's first lines.
_SOURCE_PREFIXES = ("BASH_FUNC_", "LUA_INIT")
#: Lists of paths.
_CODE_PATHS = frozenset({
    "BASH_ENV", "ENV", "ZDOTDIR", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX", "PYTHONEXECUTABLE", "NODE_PATH", "NODE_COMPILE_CACHE", "RUBYLIB", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE",
    "PERL5LIB", "PERLLIB", "LUA_PATH", "LUA_CPATH", "PHPRC", "PHP_INI_SCAN_DIR", "CLASSPATH", "R_PROFILE_USER", "JULIA_LOAD_PATH",
    "AWKPATH", "AWKLIBPATH", "TCLLIBPATH", "LD_LIBRARY_PATH", "LD_AUDIT", "GCONV_PATH", "OPENSSL_CONF", "OPENSSL_MODULES",
    "OPENSSL_ENGINES", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "DOTNET_STARTUP_HOOKS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_COMMON_DIR", "MAKEFILES", "RIPGREP_CONFIG_PATH", "CURL_HOME", "WGETRC",
    "UV_CONFIG_FILE", "UV_ENV_FILE", "UV_PROJECT", "KUBECONFIG", "AWS_CONFIG_FILE",
})  # fmt: skip
CODE_VARIABLES = _CODE_PATHS | _OPTIONS | _FLAGS | _SOURCES
#: Programs, by a path or by a name that is looked up in PATH.
_PROGRAMS = frozenset({
    "UV_PYTHON", "GIT_ASKPASS", "SSH_ASKPASS", "RUSTC", "RUSTC_WRAPPER", "npm_config_script_shell", "npm_config_userconfig",
    "NPM_CONFIG_SCRIPT_SHELL", "NPM_CONFIG_USERCONFIG",
})  # fmt: skip
#: Programs find more of their own files by these than code: they may be anywhere but in the project.
_PLACES = frozenset({"PATH", "HOME", "XDG_CONFIG_HOME"})

#: An option that loads what follows, in the same word or in the next.
_LOADS = lazy_pattern(
    r"--(?:require|import|preload|(?:experimental-)?loader|openssl-config|env-file\w*)(?==|$)|-[rIMmdex]"
)
_NAMES_CODE = lazy_pattern(r"[/$`]|--eval|(?:^|\s)(?:-[pcfI](?!\w*=)|\w+=)|:[^,]*\w\.\w")
_WORDS, _LIBRARIES = lazy_pattern(r"[\s,]+"), lazy_pattern(r"[\s,:]+")
_JOBS = lazy_pattern(r"--jobserver\S+")
_PLAIN = lazy_pattern(r"--?\w[\w.-]*(?:=[\w.%-]*)?|[\w.+-]+")
_PYTHON, _ISOLATING = lazy_pattern(r"python[\d.]*"), lazy_pattern(r"-[A-Za-z]*[EI]")
_ISOLATED = lazy_pattern(
    r"python[\d.]*[\"']?,?\s+(?:[\"']?-[\w=]+[\"']?,?\s+)*[\"']?-[A-Za-z]*[EI]"
    r"|executable,\s*(?:[\"']-[\w=]+[\"'],\s*)*[\"']-[A-Za-z]*[EI]"
    r"|\b(?:env\s+(?:-\S+\s+)*(?:-\w*i\b|--ignore-env|-\s)|sudo\s)[^\n;|&]*python|\bPYTHONPYCACHEPREFIX"
)
_OF_THE_PERSON = lazy_pattern(r"(?:~|\$HOME|\$\{HOME\})/([^$`]*)")


def foreign_parts(
    name: str, value: str, projects: Sequence[str], is_covered: Callable[[str], bool] | None = None
) -> list[str]:
    """What of a variable would make a program load code from a project, or is code itself; nothing of most variables."""
    if name in _SOURCES or name.startswith(_SOURCE_PREFIXES):
        return [value]
    if name in _OPTIONS:
        between = _LIBRARIES if name == "LD_PRELOAD" else _WORDS
        return [value] if _loads_code(between.split(value), projects) else []
    if name in _FLAGS:
        return [value] if _NAMES_CODE.search(_JOBS.sub("", value)) else []
    if name in _PROGRAMS:
        return [value] if "/" in value and _is_foreign(value, projects) else []
    if name not in _CODE_PATHS and name not in _PLACES:
        return []
    foreign = [part for part in value.split(os.pathsep) if _is_foreign(part, projects)]
    return [part for part in foreign if is_covered is None or part[:1] != "/" or not is_covered(part)]


def is_isolated_python(argv: Sequence[str]) -> bool:
    """Whether this starts a Python that ignores its variables (``-E``, ``-I``): then they do not keep it from reading
    compiled modules beside their source."""
    if not argv or not _PYTHON.fullmatch(os.path.basename(argv[0])):
        return False
    options = itertools.takewhile(lambda word: word[:1] == "-", argv[1:])
    return any(_ISOLATING.match(word) for word in options)


def starts_isolated_python(text: str) -> bool:
    """Whether a line of shell or a script may start one."""
    return bool(_ISOLATED.search(text))


def is_inside(path: str, folders: Iterable[str]) -> bool:
    """Whether it leads into one of the folders; ``/proc/self/cwd`` leads anywhere."""
    real = _real(path)
    return path.startswith(("/proc/", "/dev/")) or any(f"{real}/".startswith(f"{_real(one)}/") for one in folders)


def _loads_code(words: Sequence[str], projects: Sequence[str]) -> bool:
    loading = any(map(_LOADS.match, words))
    for word in filter(None, (word.strip("\"'") for word in words)):
        found = _LOADS.match(word)
        named = word[found.end() :].lstrip("=").strip("\"'") if found else word
        if named.startswith("/") or (found and not named):
            if _is_foreign(named, projects) and named:
                return True
        elif found or not _PLAIN.fullmatch(named) or (loading and not named.startswith("-")):
            return True
    return False


def _is_foreign(path: str, projects: Sequence[str]) -> bool:
    """What is relative, or expanded by the program, means whatever directory the hook runs in."""
    own = _OF_THE_PERSON.fullmatch(path) if path.startswith(("~", "$")) else None
    if own is not None:
        return ".." in own[1].split("/")
    return not path.startswith("/") or is_inside(path, projects)


#: The same few folders are in every caller's variables.
_real = lru_cache(maxsize=512)(os.path.realpath)
