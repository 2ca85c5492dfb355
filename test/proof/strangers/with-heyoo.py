"""The attributes `base_url`, `v15_base_url` and `url` point heyoo at the simulator."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from heyoo import WhatsApp
from the_simulator import APP, NUMBER, PERSON, TOKEN, URL, call, control, end, until

messenger = WhatsApp(TOKEN, phone_number_id=NUMBER)
messenger.base_url = f"{URL}/v14.0"
messenger.v15_base_url = f"{URL}/v15.0"
messenger.url = f"{messenger.base_url}/{NUMBER}/messages"

posts = []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        posts.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


receiver = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
callback = {"callback_url": f"http://127.0.0.1:{receiver.server_port}/", "updates_per_post": 1}
control("POST", f"apps/{APP}", callback)

order = [
    {"type": "body", "parameters": [{"type": "text", "text": "Ana"}, {"type": "text", "text": "A-1"}]},
    {"type": "button", "sub_type": "url", "index": 0, "parameters": [{"type": "text", "text": "A-1"}]},
]
call("template", lambda: messenger.send_template("order_update", PERSON, order, lang="en_US"), lambda it: "messages" in it)
call("text", lambda: messenger.send_message("Hello", PERSON), lambda it: "messages" in it)
call("answer", lambda: messenger.reply_to_message("wamid.x", PERSON, "Hello"), lambda it: "messages" in it)
call("read mark", lambda: messenger.mark_as_read("wamid.x"), lambda it: it["success"])
call(
    "a picture",
    lambda: messenger.send_image("https://shop.example/a.png", PERSON),
    lambda it: "takes templates and text" in str(it),
)
control("POST", f"recipients/{PERSON}/message", {"phone_number_id": NUMBER, "text": "Hello?"})
call("reads statuses", lambda: until(lambda: any(messenger.get_delivery(post) == "read" for post in posts)), bool)
call(
    "reads messages",
    lambda: [(messenger.get_mobile(post), messenger.get_name(post), messenger.get_message(post)) for post in posts if messenger.is_message(post)],
    lambda it: it == [(PERSON, f"Recipient {PERSON}", "Hello?")],
)
end()
