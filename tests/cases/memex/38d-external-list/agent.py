import json, sys

snapshot = json.load(sys.stdin)
print("[1]")
