#!/bin/bash
tool=$(jq -r .tool_name)
if [ "$tool" = DangerousTool ]; then echo "Blocked: $tool" >&2; exit 2; fi
echo "Allowed: $tool"
