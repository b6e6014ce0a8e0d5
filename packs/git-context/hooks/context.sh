#!/bin/sh
# Branch, status and last commits; nothing outside of a repository. Nothing that a repository configures is started.
cat >/dev/null
git="git -c core.fsmonitor=false -c core.hooksPath=/dev/null --no-optional-locks"
$git rev-parse --is-inside-work-tree >/dev/null 2>&1 || exit 0
echo "Git: on branch $($git symbolic-ref --short -q HEAD || echo "(no branch) $($git rev-parse --short HEAD)")"
changes=$($git status --short --ignore-submodules=dirty 2>/dev/null | head -n "${GIT_CONTEXT_FILES:-20}")
if [ -n "$changes" ]; then printf 'Changed files:\n%s\n' "$changes"; else echo "No changes."; fi
printf 'Last commits:\n%s\n' "$($git log --no-show-signature --oneline -n "${GIT_CONTEXT_COMMITS:-5}" 2>/dev/null)"
