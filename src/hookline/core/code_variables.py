"""Variables that make a program load code: shells, interpreters and the dynamic linker read them before anything else."""

from __future__ import annotations

CODE_VARIABLES = frozenset({
    "BASH_ENV", "ENV", "ZDOTDIR", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONPLATLIBDIR",
    "NODE_OPTIONS", "NODE_PATH", "NODE_COMPILE_CACHE", "RUBYOPT", "RUBYLIB", "PERL5LIB", "PERL5OPT", "PERL5DB", "LUA_PATH",
    "LUA_CPATH", "LUA_INIT", "PHPRC", "PHP_INI_SCAN_DIR", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "JAVA_TOOL_OPTIONS", "BUN_OPTIONS",
})  # fmt: skip
