#!/bin/sh
if grep -q 'rm -rf'; then
  echo 'Blocked: rm -rf must be run by hand.' >&2
  exit 2
fi
