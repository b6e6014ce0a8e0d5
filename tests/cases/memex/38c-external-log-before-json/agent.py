import json, sys

snapshot = json.load(sys.stdin)
print("log")
print(json.dumps({"last_text": "x"}))
