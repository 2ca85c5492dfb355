"""The base URL of its HTTP client points pywa at the simulator; its webhook server runs on uvicorn."""

import datetime
import threading

import fastapi
import httpx
import uvicorn
from pywa import WhatsApp
from pywa.types.others import Industry
from pywa.types.templates import (
    AuthenticationBody,
    BodyText,
    Buttons,
    CopyCodeOTPButton,
    FooterText,
    HeaderText,
    LibraryTemplate,
    ParamFormat,
    QuickReplyButton,
    Template,
    TemplateCategory,
    TemplateLanguage,
    TemplateStatus,
    URLButton,
)
from the_simulator import APP, BUSINESS, NUMBER, OTHER_TEMPLATE, PERSON, SECRET, TEMPLATE, TOKEN, URL, WABA
from the_simulator import call, control, end, free_port, refused, until

ENGLISH, SPANISH = TemplateLanguage.ENGLISH_US, TemplateLanguage.SPANISH
port = free_port()
session = httpx.Client()
server = fastapi.FastAPI()
wa = WhatsApp(
    phone_id=NUMBER,
    token=TOKEN,
    session=session,
    waba_id=WABA,
    business_portfolio_id=BUSINESS,
    app_id=APP,
    app_secret=SECRET,
    server=server,
    callback_url=f"http://127.0.0.1:{port}",
    webhook_challenge_delay=2,
    verify_token="verify-me",
)
session.base_url = f"{URL}/v26.0"
# pywa reads the first update of a POST alone.
control("POST", f"apps/{APP}", {"updates_per_post": 1})

told = []


@wa.on_message
def on_message(_, message):
    message.mark_as_read()
    message.indicate_typing()
    told.append(("message", message.text, message.from_user.wa_id, message.reply("Thank you").id))


@wa.on_message_status
def on_status(_, status):
    told.append((status.status.value, status.id, status.from_user.wa_id, status.from_user.bsuid))


@wa.on_callback_button
def on_button(_, button):
    told.append(("button", button.data, button.from_user.wa_id))


@wa.on_template_status_update
def on_template(_, update):
    told.append(("template", update.template_name, update.new_status))


threading.Thread(target=lambda: uvicorn.run(server, host="127.0.0.1", port=port, log_level="error"), daemon=True).start()
call(
    "registers its callback",
    lambda: until(lambda: any(app["callback"] for app in control("GET", "overview")["apps"])),
    bool,
)

call("app token", lambda: wa.get_app_access_token(app_id=int(APP), app_secret=SECRET), lambda it: it.startswith(APP))
call("account", wa.get_business_account, lambda it: it.id == WABA)
call("owned accounts", lambda: list(wa.get_owned_business_accounts()), lambda it: [one.id for one in it] == [WABA])
call("shared accounts", lambda: list(wa.get_shared_business_accounts()))
call("number", wa.get_business_phone_number, lambda it: it.id == NUMBER)
call("numbers", lambda: list(wa.get_business_phone_numbers()), lambda it: len(it) == 2)
call("change the profile", lambda: wa.update_business_profile(about="Open", industry=Industry.RETAIL), lambda it: it.success)
call("profile", wa.get_business_profile, lambda it: it.about == "Open" and it.industry == Industry.RETAIL)

call("templates", lambda: list(wa.get_templates()), lambda it: len(it) > 10)
call(
    "templates, filtered",
    lambda: list(wa.get_templates(statuses=[TemplateStatus.APPROVED], languages=[ENGLISH])),
    lambda it: it and all(one.language == ENGLISH for one in it),
)
call("template", lambda: wa.get_template(TEMPLATE), lambda it: it.name == "order_update")
made = call(
    "create a template",
    lambda: wa.create_template(
        Template(
            name="from_pywa",
            language=SPANISH,
            category=TemplateCategory.UTILITY,
            parameter_format=ParamFormat.NAMED,
            components=[
                HeaderText("Hola {{who}}!", who="Ana"),
                BodyText("REVIEW_NOW {{name}}, tu pedido {{order}} va en camino.", name="Ana", order="A-1"),
                FooterText(text="Hasta pronto"),
                Buttons(
                    buttons=[
                        URLButton(text="Ver", url="https://shop.example/{{1}}", example="https://shop.example/1"),
                        QuickReplyButton(text="Gracias"),
                    ]
                ),
            ],
        )
    ),
    lambda it: it.status == TemplateStatus.APPROVED,
)
call("read it", lambda: wa.get_template(made.id), lambda it: it.name == "from_pywa")
sent = call(
    "send it",
    lambda: wa.send_template(
        to=PERSON,
        name="from_pywa",
        language=SPANISH,
        params=[
            HeaderText.params(who="Bo"),
            BodyText.params(name="Bo", order="B-2"),
            URLButton.params(url_variable="B-2", index=0),
            QuickReplyButton.params(callback_data="thanks", index=1),
        ],
        tracker="mine",
    ),
    lambda it: it.id.startswith("wamid."),
)
call(
    "edit it",
    lambda: wa.update_template(
        made.id, new_components=[BodyText("REVIEW_NOW {{name}}, tu pedido {{order}} ya está.", name="Ana", order="A-1")]
    ),
    lambda it: it.success,
)
call("delete it", lambda: wa.delete_template("from_pywa"), lambda it: it.success)
call(
    "choose from the library",
    lambda: wa.create_template(
        LibraryTemplate(
            name="chosen_by_pywa",
            library_template_name="delivery_update_1",
            category=TemplateCategory.UTILITY,
            language=ENGLISH,
            library_template_button_inputs=[
                URLButton.library_input(
                    base_url="https://shop.example/{{1}}", url_suffix_example="https://shop.example/1"
                )
            ],
            library_template_body_inputs=BodyText.library_input(add_track_package_link=True),
        )
    ),
    lambda it: it.status == TemplateStatus.APPROVED,
)
call(
    "choose a code from the library",
    lambda: wa.create_template(
        LibraryTemplate(
            name="code_by_pywa",
            library_template_name="verification_code_1",
            category=TemplateCategory.AUTHENTICATION,
            language=ENGLISH,
            library_template_body_inputs=AuthenticationBody.library_input(add_security_recommendation=True),
            library_template_button_inputs=[CopyCodeOTPButton.library_input()],
        )
    ),
    lambda it: it.status == TemplateStatus.APPROVED,
)
call(
    "upsert",
    lambda: wa.upsert_authentication_template(
        name="codes_by_pywa",
        languages=[ENGLISH, SPANISH],
        otp_button=CopyCodeOTPButton(),
        add_security_recommendation=True,
        code_expiration_minutes=5,
    ),
    lambda it: len(list(it.templates)) == 2,
)
now = datetime.datetime.now()
call(
    "compare",
    lambda: wa.compare_templates(TEMPLATE, OTHER_TEMPLATE, start=now - datetime.timedelta(days=7), end=now),
    lambda it: it.times_sent == {TEMPLATE: 0, OTHER_TEMPLATE: 0},
)
call("text", lambda: wa.send_message(to="5491150000002", text="Hello", preview_url=True), lambda it: it.id)
for what, run in {
    "a picture": lambda: wa.send_image(to=PERSON, image="https://shop.example/a.png"),
    "flows": lambda: list(wa.get_flows()),
    "settings of a number": wa.get_business_phone_number_settings,
}.items():
    call(what, lambda run=run: refused(run), lambda it: "takes templates and text" in it)


def has(*wanted):
    return lambda: any(one[: len(wanted)] == wanted for one in told)


for status in ("sent", "delivered", "read"):
    call(f"is told: {status}", lambda status=status: until(has(status, sent.id, PERSON)), bool)
control("POST", f"recipients/{PERSON}/message", {"phone_number_id": NUMBER, "text": "Hello?"})
call("is told what a person writes, and answers", lambda: until(has("message", "Hello?", PERSON)), bool)
reply = next((one[3] for one in told if one[0] == "message"), "")
call("the answer arrives", lambda: until(has("read", reply, PERSON)), bool)
control("POST", f"messages/{sent.id}/reply", {"text": "Gracias", "payload": "thanks"})
call("is told of a button", lambda: until(has("button", "thanks", PERSON)), bool)
call("is told of a template", lambda: until(has("template", "from_pywa", TemplateStatus.APPROVED)), bool)
end()
