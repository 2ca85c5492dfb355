"""This client of the service needs only Python's standard library (3.9 or newer)."""

import base64
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class Refused(Exception):
    """The service has refused: the meaning of `code` never changes, and `errors` has each fault with its path."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('code')}: {body.get('message')}")
        self.status = status
        self.code = body.get("code")
        self.errors = body.get("errors", [])


class Service:
    def __init__(self, url, username, password):
        self.url = url.rstrip("/")
        self.token = None
        login = {"username": username, "password": password}
        self.token = self.call("POST", "/login", json_body=login)[0]["access_token"]

    def call(self, method, path, query=None, json_body=None, form=None, headers=None, seconds=90):
        """Returns the answer and its headers. Repeats the request after Retry-After while the answer is 429."""
        end = time.monotonic() + seconds
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        sent = dict(headers or {})
        if self.token:
            sent["Authorization"] = "Bearer " + self.token
        data = None
        if json_body is not None:
            data, sent["Content-Type"] = json.dumps(json_body).encode(), "application/json"
        elif form is not None:
            data, sent["Content-Type"] = form
        while True:
            request = urllib.request.Request(url, data=data, method=method, headers=sent)
            try:
                with urllib.request.urlopen(request, timeout=35) as reply:
                    return json.loads(reply.read() or b"null"), reply.headers
            except urllib.error.HTTPError as error:
                wait = int(error.headers.get("Retry-After", "1"))
                if error.code == 429 and time.monotonic() + wait <= end:
                    time.sleep(wait)
                    continue
                text = error.read()
                raise Refused(error.code, json.loads(text) if text else {}) from None

    def get(self, path, **query):
        return self.call("GET", path, query=query)[0]

    def send(self, did, template, recipients, component=None, campaign_id=None, headers=None):
        """
        Sends a template, and returns the id of the dispatch. The key makes it safe to repeat when no answer comes. Other
        `headers` say when it may leave (Send-At, Send-Window, ...) and what it may cost (Max-Cost).
        """
        body = {
            "did": did,
            "type": "template",
            "channel": "MESSAGING",
            "template": {"name": template["name"], "language": template["language"]},
            "recipients": recipients,
        }
        if component:
            body["component"] = component
        if campaign_id:
            body["campaignId"] = campaign_id
        return self.dispatched(f"/v1/template/messages/{did}", body, headers)

    def retry(self, did, dispatch_id, codes=None):
        """Sends again to the recipients not reached; `codes` names causes that only you know to be over."""
        body = {"codes": codes} if codes else {}
        return self.dispatched(f"/v1/template/messages/{did}/{dispatch_id}/retry", body)

    def dispatched(self, path, body, headers=None):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        return self.call("POST", path, json_body=body, headers={**(headers or {}), **key})[1]["Dispatch-Id"]

    def cancel_campaign(self, campaign_id):
        """Cancels the messages of a campaign that are still pending; returns the number of dispatches."""
        cancelled = 0
        while True:
            told = self.call("DELETE", "/v1/dispatches", query={"campaign_id": campaign_id})[0]
            cancelled += told["cancelled"]
            if not told["more"]:
                return cancelled

    def report(self, did, dispatch_id):
        """Returns the rows of all recipients, once no message of the dispatch is pending."""
        path = f"/v1/template/messages/{did}/{dispatch_id}"
        until("the dispatch is complete", lambda: self.get(path, limit=1)["complete"])
        rows, cursor = [], None
        while True:
            page = self.get(path, limit=1000, **({"cursor": cursor} if cursor else {}))
            rows += page["data"]
            cursor = page["paging"]["cursors"].get("after")
            if cursor is None:
                return rows


def until(what, holds, seconds=90):
    """Polls until the condition holds, and returns the last answer."""
    end = time.monotonic() + seconds
    while True:
        told = holds()
        if told:
            return told
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s in vain until {what}")
        time.sleep(0.3)


def template_form(template, file_name, content_type, content):
    """Returns the body of a creation with a file for its header, and its content type."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="template"\r\n\r\n'.encode(),
        json.dumps(template).encode(),
        f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file_name}"\r\n'.encode(),
        f"Content-Type: {content_type}\r\n\r\n".encode(),
        content,
        f"\r\n--{boundary}--\r\n".encode(),
    ]
    return b"".join(parts), f"multipart/form-data; boundary={boundary}"


def verified_event(secret, headers, body, now=None):
    """Returns the verified event (Standard Webhooks 1.0). Raises ValueError: wrong signature, or over 5 minutes old."""
    event_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs((now or time.time()) - int(timestamp)) > 300:
        raise ValueError("the delivery is too old")
    key = base64.b64decode(secret.split("_", 1)[1])
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # The header has one signature for each valid secret: two for a day after a rotation.
    given = [each.split(",", 1)[1] for each in headers["webhook-signature"].split() if each.startswith("v1,")]
    if not any(hmac.compare_digest(each, expected) for each in given):
        raise ValueError("the signature is wrong")
    return json.loads(body)
