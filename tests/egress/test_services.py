"""Addresses as the console's wizard makes them: Apprise knows the service of each.

`web/src/pages/settings/notifications/services.test.ts` checks that the forms make them.
"""

import pytest

from egress.test_worker import pool

KEY = "3ccdd113474722377935511fc85d3dd4"


@pytest.mark.parametrize(
    ("service", "url"),
    [
        (
            "E-Mail",
            "mailtos://smtp.example.com:587/?user=ops%40example.com&pass=pa%2Fss"
            "&from=b%40example.com&to=a%40example.com&mode=starttls",
        ),
        ("Slack", "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"),
        ("Telegram", "tgram://123456789:abcdefg_hijklmnop/12315544/"),
        ("Discord", "https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnop"),
        ("ntfy", "ntfys://ntfy.sh/ops"),
        ("ntfy", "ntfy://tk_1@10.0.0.5:8080/ops"),
        ("Pushover", "pover://uQiRzpo4DXghDmr9QzzfQu27cmVRsG@azGDORePK8gMaC0QOYAMyEEuzJnyUi"),
        ("Gotify", "gotifys://push.example.com/Aabcdefghijklmn"),
        ("Mattermost", f"mmosts://chat.example.com/{KEY}"),
        ("Pager Duty", f"pagerduty://{KEY}@belvedere"),
        ("Opsgenie", "opsgenie://a1b2c3d4-1111-2222-3333-444455556666?region=eu"),
        ("Webhook", "https://example.com/hook"),
    ],
)
async def test_the_address_of_a_service_is_known(service: str, url: str) -> None:
    async with pool() as workers:
        outcome = await workers.of("acme").check(url)
    assert (outcome.fault, outcome.service) == ("", service)
