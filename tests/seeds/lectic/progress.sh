#!/usr/bin/env bash
TOKEN="${RUN_ID:-lectic-run}"
lectic editor progress begin \
  --token "$TOKEN" \
  --title "Running assistant task"
