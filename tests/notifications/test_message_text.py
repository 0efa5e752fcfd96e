"""The text of a message."""

import json

from belvedere.notifications.delivery import message_text
from belvedere.notifications.model import Notice, NoticeSeverity

AT = 1_772_359_200_000


def notice(title: str = "shop fails", **more: str) -> Notice:
    body = {"text": "status 500", "link": "https://b.test/ui/acme/monitors/1", **more}
    return Notice(
        "monitor.failure", "monitor", "1", title, AT, NoticeSeverity.HIGH, "failure", **body
    )


def test_a_message_names_organization_and_event() -> None:
    assert message_text.title("acme", [notice()]) == "[acme] shop fails"
    assert message_text.text([notice()]).splitlines() == [
        "shop fails (high, 2026-03-01 10:00:00 UTC)",
        "status 500",
        "https://b.test/ui/acme/monitors/1",
    ]


def test_several_are_listed() -> None:
    two = [notice(), notice("web fails", text="", link="")]
    assert message_text.title("acme", two, 3) == "[acme] 5 events: shop fails, …"
    text = message_text.text(two, 3)
    assert text.startswith("- shop fails (high") and text.endswith("- and 3 more")
    assert "- web fails" in text


def test_names_cannot_break_out_of_their_line() -> None:
    """A subject with a line break would be a header of a mail."""
    assert message_text.one_line("a\r\nBcc: x\0\u2028y") == "a Bcc: x y"
    assert len(message_text.title("acme", [notice("x" * 500)])) == 200


def test_a_webhook_gets_all_fields() -> None:
    record = json.loads(message_text.payload("m1", "acme", "t", "HIGH", [notice()], 2))
    assert (record["id"], record["customer"], record["more"]) == ("m1", "acme", 2)
    (event,) = record["events"]
    assert (event["kind"], event["state"], event["date"]) == (
        "monitor.failure",
        "failure",
        "2026-03-01T10:00:00.000Z",
    )
