"""The address of the graph in its session points facebook_business at the simulator."""

from facebook_business.adobjects.business import Business
from facebook_business.adobjects.whatsappbusinessaccount import WhatsAppBusinessAccount
from facebook_business.api import FacebookAdsApi
from facebook_business.session import FacebookSession
from the_simulator import APP, BUSINESS, NUMBER, PERSON, SECRET, TOKEN, URL, WABA, call, end, refused

FacebookSession.GRAPH = URL
api = FacebookAdsApi.init(app_id=APP, app_secret=SECRET, access_token=TOKEN)
account = WhatsAppBusinessAccount(WABA)
body = {
    "type": "BODY",
    "text": "Dear {{1}}, your order is REVIEW_NOW on its way.",
    "example": {"body_text": [["Ana"]]},
}
template = {"name": "by_facebook", "language": "en_US", "category": "UTILITY", "components": [body]}
codes = {
    "name": "codes_by_facebook",
    "languages": ["en_US", "es"],
    "category": "AUTHENTICATION",
    "components": [
        {"type": "BODY", "add_security_recommendation": True},
        {"type": "FOOTER", "code_expiration_minutes": 5},
        {"type": "BUTTONS", "buttons": [{"type": "OTP", "otp_type": "COPY_CODE"}]},
    ],
}
message = {
    "messaging_product": "whatsapp",
    "to": PERSON,
    "type": "template",
    "template": {
        "name": "by_facebook",
        "language": {"code": "en_US"},
        "components": [{"type": "body", "parameters": [{"type": "text", "text": "Bo"}]}],
    },
}
text = {"messaging_product": "whatsapp", "to": PERSON, "type": "text", "text": {"body": "Hello"}}


def messages_of(params):
    return api.call("POST", [NUMBER, "messages"], params).json()["messages"]


call("account", lambda: account.api_get(fields=["name", "currency"])["name"], lambda it: it == "Andes Retail")
call(
    "owned accounts",
    lambda: [one["id"] for one in Business(BUSINESS).get_owned_whats_app_business_accounts()],
    lambda it: it == [WABA],
)
call("numbers", lambda: list(account.get_phone_numbers()), lambda it: len(it) == 2)
call("templates", lambda: list(account.get_message_templates(params={"limit": 5})), lambda it: len(it) > 10)
call("create a template", lambda: account.create_message_template(params=template))
call(
    "choose from the library",
    lambda: account.create_message_template(
        params={
            "name": "chosen_by_facebook",
            "language": "en_US",
            "category": "UTILITY",
            "library_template_name": "low_balance_warning_1",
            "library_template_button_inputs": [
                {"type": "URL", "url": {"base_url": "https://bank.example/"}},
                {"type": "PHONE_NUMBER", "phone_number": "+16505551234"},
            ],
        }
    ),
)
call("upsert", lambda: account.create_upsert_message_template(params=codes))
call("send it", lambda: messages_of(message), lambda it: it[0]["message_status"] == "accepted")
call("text", lambda: messages_of(text), lambda it: "message_status" not in it[0])
call("delete it", lambda: account.delete_message_templates(params={"name": "by_facebook"}))
call("flows", lambda: refused(lambda: list(account.get_flows())), lambda it: "takes templates and text" in it)
end()
