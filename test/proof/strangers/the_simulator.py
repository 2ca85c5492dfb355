import json
import os
import socket
import sys
import time
import urllib.parse
import urllib.request

URL = os.environ["SIMULATOR"]
TOKEN = "demo-platform-token"
APP, SECRET = "500000000000001", "demo-app-secret"
BUSINESS = "400000000000001"
WABA = "200000000000001"
NUMBER = "300000000000001"
TEMPLATE, OTHER_TEMPLATE = "1100000000000001", "1100000000000002"
PERSON = "5491150000001"

faults = []
calls = 0


def control(method, path, body=None):
    data = None if method == "GET" else json.dumps(body or {}).encode()
    request = urllib.request.Request(f"{URL}/_control/{path}", data, {"content-type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def call(what, run, holds=lambda answer: True):
    """Runs one call of the library; it fails when it raises, or when what came back is not as expected."""
    global calls
    calls += 1
    try:
        answer = run()
    except Exception as error:  # Whatever the library raises is what is wanted.
        faults.append(f"{what}: {type(error).__name__}: {error}")
        return None
    if not holds(answer):
        faults.append(f"{what}: answered {answer!r}")
    return answer


def refused(run):
    """Returns what a call says that is not simulated."""
    try:
        return repr(run())
    except Exception as error:
        return f"{error!r} {getattr(error, 'body', lambda: '')()}"


def until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def end():
    for fault in faults:
        print(fault)
    print(f"{calls} calls, {len(faults)} failed")
    sys.stdout.flush()
    os._exit(1 if faults else 0)
