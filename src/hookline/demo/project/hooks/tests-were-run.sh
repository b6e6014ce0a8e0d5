#!/bin/sh
# Sends the agent back to work once, until the tests were run.
[ -e .tests-were-run ] && exit 0
touch .tests-were-run
echo "The tests were not run yet. Run them, then stop." >&2
exit 2
