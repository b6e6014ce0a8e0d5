#!/usr/bin/env bash
# Refuse recursive deletion. Exit code 2, the reason on stderr.
set -euo pipefail
command=$(jq -r '.tool_input.command // empty')
if [[ "$command" =~ rm[[:space:]]+-[a-zA-Z]*r[a-zA-Z]*f ]]; then
  echo "Recursive deletion is not allowed: move it to the trash instead." >&2
  exit 2
fi
exit 0
