#!/bin/sh
echo "from home" >&2
exit 1
