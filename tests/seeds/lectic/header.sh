#!/usr/bin/env bash
echo "LECTIC:final"
echo ""
echo "System check complete. One issue found."
