"""Generates the forms of the notification services from Apprise's own details: `make services`.

The table says which services the console offers and which of their fields it asks for. Labels,
secrecy, choices and templates of the address come from the library. A service that gets another
required field in a new version of Apprise makes this program fail.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from apprise import Apprise

# The scheme is not asked for: it follows from the address of the server.
IMPLIED = {"schema"}


@dataclass(frozen=True)
class Offer:
    """A service of the console's list. Without a scheme its webhook URL is pasted as it is."""

    label: str
    scheme: str = ""
    # Parts of the address; `targets=topic` takes the label of `targets` from the token `topic`.
    tokens: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    # Required by the form although Apprise has a default.
    required: tuple[str, ...] = ()
    initial: dict[str, str] = field(default_factory=dict)


OFFERS = {
    "email": Offer(
        "E-mail",
        "mailtos",
        ("host", "port", "user", "password"),
        ("mode", "from", "to"),
        ("port", "mode", "from", "to"),
        {"port": "587"},
    ),
    "slack": Offer("Slack"),
    "teams": Offer("Microsoft Teams"),
    "telegram": Offer("Telegram", "tgram", ("bot_token", "targets=target_user"), (), ("targets",)),
    "discord": Offer("Discord"),
    "ntfy": Offer(
        "ntfy",
        "ntfys",
        ("host", "targets=topic", "token"),
        (),
        ("host",),
        {"host": "https://ntfy.sh"},
    ),
    "pushover": Offer("Pushover", "pover", ("user_key", "token")),
    "gotify": Offer("Gotify", "gotifys", ("host", "token")),
    "mattermost": Offer("Mattermost", "mmosts", ("host", "token")),
    "pagerduty": Offer(
        "PagerDuty",
        "pagerduty",
        ("integrationkey", "apikey", "source"),
        ("region",),
        initial={"source": "belvedere"},
    ),
    "opsgenie": Offer("Opsgenie", "opsgenie", ("apikey",), ("region",)),
    "webhook": Offer("Webhook"),
}


def services() -> list[dict[str, Any]]:
    schemas = Apprise().details()["schemas"]
    by_scheme = {
        scheme: schema for schema in schemas for scheme in schema["secure_protocols"] or ()
    }
    return [_service(id_, offer, by_scheme.get(offer.scheme)) for id_, offer in OFFERS.items()]


def _service(id_: str, offer: Offer, schema: dict[str, Any] | None) -> dict[str, Any]:
    if not offer.scheme:
        return {"id": id_, "label": offer.label}
    if schema is None:
        raise SystemExit(f"Apprise has no service with the scheme {offer.scheme!r}.")
    details = schema["details"]
    _check_required(offer, details["tokens"])
    return {
        "id": id_,
        "label": offer.label,
        "help": str(schema["setup_url"]),
        "scheme": offer.scheme,
        "plainScheme": next(iter(schema["protocols"] or ()), None),
        "templates": [str(template) for template in details["templates"]],
        "fields": [
            *(_field(offer, name, details["tokens"]) for name in offer.tokens),
            *(
                _field(offer, name, details["args"]) | {"isArgument": True}
                for name in offer.arguments
            ),
        ],
    }


def _check_required(offer: Offer, tokens: dict[str, Any]) -> None:
    asked = {name.partition("=")[0] for name in offer.tokens} | IMPLIED
    missing = {name for name, token in tokens.items() if token.get("required")} - asked
    if missing:
        raise SystemExit(f"The form of {offer.label} lacks required fields: {sorted(missing)}.")


def _field(offer: Offer, text: str, details: dict[str, Any]) -> dict[str, Any]:
    name, _, source = text.partition("=")
    entry = details[name]
    is_required = entry["required"] or name in offer.required
    form_field = {
        "name": name,
        "label": _sentence_case(str(details[source or name]["name"])),
        "isOptional": not is_required,
        "isSecret": bool(entry["private"]),
    }
    initial = offer.initial.get(name)
    if entry["type"].startswith("choice"):
        form_field["choices"] = sorted(str(value) for value in entry["values"])
        initial = initial or str(entry.get("default", ""))
    return form_field | ({"initial": initial} if initial else {})


def _sentence_case(label: str) -> str:
    first, *others = label.split()
    return " ".join([first, *(word if word.isupper() else word.lower() for word in others)])


if __name__ == "__main__":
    print(json.dumps(services(), indent=2))
