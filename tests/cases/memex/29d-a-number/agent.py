import json, sys

snapshot = json.load(sys.stdin)
print(json.dumps({"last_text": 42, "error": None}))
