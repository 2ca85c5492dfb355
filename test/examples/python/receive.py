"""Verifies one delivery: `python3 receive.py SECRET` reads {"headers", "body"} as JSON from stdin."""

import json
import sys

from service import verified_event

delivery = json.load(sys.stdin)
try:
    event = verified_event(sys.argv[1], delivery["headers"], delivery["body"].encode())
except ValueError as error:
    sys.exit(str(error))
data = event["data"]
print(event["type"], data.get("dispatch_id") or data.get("name") or "")
