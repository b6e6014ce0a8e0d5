import json, sys

snapshot = json.load(sys.stdin)
print(json.dumps({"last_text": None, "error": None}))
