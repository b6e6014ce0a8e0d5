import json, sys

snapshot = json.load(sys.stdin)

