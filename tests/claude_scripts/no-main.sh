#!/bin/sh
# Edits only below src and tests; an answer by jq, without a matcher of its own.
payload=$(cat)
tool=$(printf '%s' "$payload" | jq -r .tool_name)
path=$(printf '%s' "$payload" | jq -r '.tool_input.file_path // .tool_input.path // ""')
case "$tool" in Write|Edit|MultiEdit) ;; *) exit 0 ;; esac
case "$path" in
  "$CLAUDE_PROJECT_DIR"/src/*|"$CLAUDE_PROJECT_DIR"/tests/*) exit 0 ;;
esac
printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s is outside src and tests"}}\n' "$path"
