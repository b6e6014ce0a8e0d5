#!/usr/bin/env bash
# After a source file was edited, remind the model of the tests.
file=$(jq -r '.tool_input.file_path // empty')
[[ "$file" == *.py ]] || exit 0
jq -n --arg file "$(basename "$file")" '{hookSpecificOutput: {hookEventName: "PostToolUse",
  additionalContext: ("Run the tests of " + $file + " before you go on.")}}'
