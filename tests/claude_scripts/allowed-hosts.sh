#!/bin/bash
# Fetch only from hosts on the list. The older form of a block.
INPUT=$(cat)
URL=$(echo "$INPUT" | jq -r '.tool_input.url // ""')
[ -z "$URL" ] && exit 0
HOST=$(echo "$URL" | sed -E 's#^[a-z]+://([^/:]+).*#\1#')
case "$HOST" in
  docs.example.org|example.org) exit 0 ;;
  *) jq -n --arg host "$HOST" '{decision: "block", reason: ("host not on the list: " + $host)}' ;;
esac
