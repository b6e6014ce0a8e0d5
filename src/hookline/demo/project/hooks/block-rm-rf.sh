#!/bin/sh
# Letta Code: exit 2 blocks, and stderr is what the agent is told.
if grep -q '"command":"rm -rf'; then
  echo "Blocked: rm -rf commands must be run manually." >&2
  exit 2
fi
