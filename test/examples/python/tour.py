"""The tour goes from the login to the report on the local stack: `python3 tour.py URL USERNAME PASSWORD`."""

import struct
import sys
import uuid
import zlib
from datetime import datetime, timedelta, timezone

from service import Refused, Service, template_form, until

IMAGE_URL = "https://example.com/picture.png"
ORDER = {"name": "order_update", "language": "en_US"}
ORDER_PARAMS = {"body": ["Ana", "A-1"], "buttons": ["A-1"]}


def png():
    rows = b"".join(b"\0" + b"\x80" * 3 * 64 for _ in range(64))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def values(need):
    """Returns a value for each variable of a text: the platform's example, or one of ours."""
    return [each.get("example", "A17") for each in need["values"]]


def parts(need):
    """Returns the `body` and `buttons` that a template or a card needs."""
    filled = {}
    if "body" in need:
        filled["body"] = values(need["body"])
    if "buttons" in need:
        filled["buttons"] = [each.get("example", "A17") for each in need["buttons"]]
    return filled


def products(need):
    action = {"thumbnailProductRetailerId": "AND-001"}
    if need["kind"] == "list":
        action["sections"] = [{"title": "All", "product_items": [{"product_retailer_id": "AND-001"}]}]
    return [{"type": "action", "action": action}]


def params_of(need):
    """Returns the `params` of one recipient, from the answer to GET /v1/templates/{id}."""
    params = parts(need)
    if "header" in need:
        params["header"] = values(need["header"])
    if "products" in need:
        params["products"] = products(need["products"])
    if "cards" in need:
        params["cards"] = [parts(card) for card in need["cards"]]
    return params


def component_of(need):
    """Returns the header that is the same for all recipients; None for most templates."""
    kind = need.get("header", {}).get("type")
    if kind is None:
        return None
    if kind == "location":
        place = {"latitude": "-34.6", "longitude": "-58.4", "name": "Shop", "address": "Florida 100"}
        return {"header": {"type": kind, "location": place}}
    return {"header": {"type": kind, "value": IMAGE_URL}}


def started(service):
    try:
        told = service.call("POST", "/v1/templates/sync-from-platform", json_body={})[0]
        print("synchronization", told["status"])
        return True
    except Refused as refused:
        if refused.code != "sync_in_progress":
            raise
        return False


def create_and_delete(service, did):
    name = "python_" + uuid.uuid4().hex[:12]
    template = {
        "name": name,
        "language": "en_US",
        "category": "MARKETING",
        "components": [{"type": "HEADER", "format": "IMAGE"}, {"type": "BODY", "text": "A picture for you."}],
    }
    form = template_form(template, "picture.png", "image/png", png())
    print("created", service.call("POST", f"/v1/templates/{did}", form=form)[0]["status"])
    created = until("it is listed", lambda: service.get("/v1/templates", name=name, campaign_name="Unassigned")["data"])
    service.call("DELETE", f"/v1/templates/{did}/{created[0]['id']}")
    print("deleted", name)


def assign_and_enable(service, template_id, channel_id):
    campaign = service.get("/v1/campaigns")["data"][0]["id"]
    pair = {"channel_id": channel_id, "campaign_id": campaign}
    service.call("POST", f"/v1/templates/{template_id}/channel-campaigns", json_body={"channel_campaigns": [pair]})
    wanted = {"action": "disable", "templates": [template_id]}
    service.call("PATCH", "/v1/templates/status", json_body=wanted)
    result = service.call("PATCH", "/v1/templates/status", json_body={**wanted, "action": "enable"})[0]
    print("enabled", result["summary"]["succeeded"])
    # The template is unassigned again, as the next tour expects it.
    service.call("DELETE", f"/v1/templates/{template_id}/channel-campaigns")


def stop_and_start(service, recipient):
    """Stops marketing to a person and allows it again. The service refuses this for a person who stopped it."""
    stopped = service.call("PUT", f"/v1/opt-outs/{recipient}")[0]["state"]
    listed = service.get("/v1/opt-outs", limit=1000)["data"]
    started = service.call("DELETE", f"/v1/opt-outs/{recipient}")[0]["state"]
    print("opt-out", stopped, started, "of", "some" if listed else "none")


def schedule_and_cancel(service, did, campaign_id):
    """Schedules a send by day that costs a dollar at most, finds it by its campaign and cancels it."""
    tomorrow = datetime.now(timezone.utc) + timedelta(days=1)
    headers = {"Send-At": tomorrow.isoformat(timespec="seconds"), "Send-Window": "09:00-20:00", "Max-Cost": "1.00"}
    person = {"to": "5491158899998", "params": ORDER_PARAMS}
    service.send(did, ORDER, [person], campaign_id=campaign_id, headers=headers)
    found = service.get("/v1/dispatches", campaign_id=campaign_id, state="scheduled")["data"]
    print("scheduled", len(found), "cancelled", service.cancel_campaign(campaign_id))


def retry_the_rest(service, did):
    """Retries the recipients not reached. The service stores parameters for more than ten recipients only: hence eleven."""
    people = [f"54911587{at:05d}" for at in range(10)] + ["15550231026"]
    dispatch = service.send(did, ORDER, [{"to": to, "params": ORDER_PARAMS} for to in people])
    rows = service.report(did, dispatch)
    again = service.report(did, service.retry(did, dispatch, ["131026"]))
    print("retried", len(again), "of", len(rows))


def send_everything(service, did):
    listed = service.get("/v1/templates", campaign_name="Unassigned", state="APPROVED", size=100)["data"]
    for at, entry in enumerate(listed):
        one = service.get(f"/v1/templates/{entry['id']}")
        template = one["platform_template"]
        if not one["sendable"]["can"]:
            print("not sendable", template["name"], "-", one["sendable"]["reason"])
            continue
        recipient = {"to": f"54911588{at:05d}", "params": params_of(one["parameters"]["params"])}
        dispatch = service.send(did, template, [recipient], component_of(one["parameters"]["component"]))
        row = service.report(did, dispatch)[0]
        print("sent", template["name"], row["state"], row.get("code", ""))


def main(url, username, password):
    service = Service(url, username, password)
    me = service.get("/v1/me")
    print("logged in", me["user"]["username"], "of", me["client"]["name"])
    until("the synchronization starts", lambda: started(service))
    # With a webhook, the event `sync.completed` reports the end; without one, the listing shows it.
    wanted = {"name": "order_update", "campaign_name": "Unassigned"}
    template = until("the templates are listed", lambda: service.get("/v1/templates", **wanted)["data"])[0]

    channel = service.get("/v1/client-messaging-channels", fields="wa_id,channel_id")["data"][0]
    did = channel["wa_id"]
    create_and_delete(service, did)
    assign_and_enable(service, template["id"], channel["channel_id"])
    stop_and_start(service, "5491158899999")
    schedule_and_cancel(service, did, me["campaigns"][0]["id"])
    retry_the_rest(service, did)
    send_everything(service, did)

    # The cost is counted a moment after the receipts of the deliveries.
    total = service.get("/v1/spend", group="template")["total"]
    print("spent", total["amount"], total["currency"], "on", total["messages"], "messages")

    try:
        service.send(did, ORDER, [{"to": "5491155550001"}])
    except Refused as refused:
        print("refused", refused.code, refused.errors[0]["path"])


main(*sys.argv[1:])
