import sys

from out import AuthenticatedClient, Client
from out.api.access import login
from out.api.sending import messages_send
from out.models import AcceptedSend, LoginAnswer, LoginRequest, Recipient, RecipientParams, SendRequest, SendRequestTemplate

url = sys.argv[1]
credentials = LoginRequest(username="supervisor1001", password="demo-supervisor1001")
token = login.sync(client=Client(base_url=url), body=credentials)
assert isinstance(token, LoginAnswer), token

did = "5491100000001"
message = SendRequest(
    did=did,
    type_="template",
    channel="MESSAGING",
    template=SendRequestTemplate(name="order_update", language="en_US"),
    recipients=[Recipient(to="5491155550001", params=RecipientParams(body=["Ana", "A-1001"], buttons=["A-1001"]))],
)
client = AuthenticatedClient(base_url=url, token=token.access_token)
answer = messages_send.sync_detailed(did, client=client, body=message)
assert isinstance(answer.parsed, AcceptedSend), answer
print(answer.headers["dispatch-id"])
