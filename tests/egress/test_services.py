"""Addresses as the console's wizard makes them: Apprise knows the service of each.

`web/src/pages/settings/notifications/services.test.ts` checks that the forms make them.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from egress.test_worker import pool

ROOT = Path(__file__).parents[2]
KEY = "3ccdd113474722377935511fc85d3dd4"


@pytest.mark.parametrize(
    ("service", "url"),
    [
        (
            "E-Mail",
            "mailtos://ops%40example.com:pa%2Fss@smtp.example.com:587"
            "?mode=starttls&from=b%40example.com&to=a%40example.com",
        ),
        ("Slack", "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"),
        ("Telegram", "tgram://123456789:abcdefg_hijklmnop/12315544"),
        ("Discord", "https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnop"),
        ("ntfy", "ntfys://ntfy.sh/ops"),
        ("ntfy", "ntfy://tk_1@10.0.0.5:8080/ops"),
        ("Pushover", "pover://uQiRzpo4DXghDmr9QzzfQu27cmVRsG@azGDORePK8gMaC0QOYAMyEEuzJnyUi"),
        ("E-Mail", "mailto://relay.lan:25?mode=insecure&from=b%40example.com&to=a%40b.com"),
        ("Gotify", "gotifys://push.example.com/Aabcdefghijklmn"),
        ("Gotify", "gotifys://example.com/push/Aabcdefghijklmn"),
        ("Mattermost", f"mmosts://chat.example.com/{KEY}"),
        ("Mattermost", f"mmost://example.com:8065/team/chat/{KEY}"),
        ("Pager Duty", f"pagerduty://{KEY}@{KEY}/belvedere?region=eu"),
        ("Opsgenie", "opsgenie://a1b2c3d4-1111-2222-3333-444455556666?region=eu"),
        ("Webhook", "https://example.com/hook"),
    ],
)
async def test_the_address_of_a_service_is_known(service: str, url: str) -> None:
    async with pool() as workers:
        outcome = await workers.of("acme").check(url)
    assert (outcome.fault, outcome.service) == ("", service)


def run(*arguments: str) -> str:
    """In a process of its own: importing Apprise warns and takes long."""
    command = [sys.executable, "-W", "ignore", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_mail_address_keeps_user_password_and_server() -> None:
    url = (
        "mailtos://ops%40example.com:pa%2Fss@smtp.example.com:587"
        "?mode=starttls&from=b%40example.com&to=a%40example.com"
    )
    code = (
        "import apprise, sys; plugin = apprise.Apprise.instantiate(sys.argv[1]);"
        "print(plugin.user, plugin.password, plugin.smtp_host, plugin.port)"
    )
    assert run("-c", code, url) == "ops@example.com pa/ss smtp.example.com 587\n"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("gotifys://example.com/push/A1", "example.com /push/ A1"),
        (f"mmost://example.com:8065/team/chat/{KEY}", f"example.com /team/chat {KEY}"),
    ],
)
def test_the_address_of_a_server_keeps_its_path(url: str, expected: str) -> None:
    code = (
        "import apprise, sys; plugin = apprise.Apprise.instantiate(sys.argv[1]);"
        "print(plugin.host, plugin.fullpath, plugin.token)"
    )
    assert run("-c", code, url) == f"{expected}\n"


def test_a_mail_relay_is_used_without_encryption() -> None:
    url = "mailto://relay.lan:25?mode=insecure&from=b%40example.com&to=a%40b.com"
    code = (
        "import apprise, sys; plugin = apprise.Apprise.instantiate(sys.argv[1]);"
        "print(plugin.smtp_host, plugin.port, plugin.secure_mode)"
    )
    assert run("-c", code, url) == "relay.lan 25 insecure\n"


def test_the_forms_of_the_console_are_those_of_the_installed_apprise() -> None:
    """After an upgrade of the library: make services."""
    forms = ROOT / "web/src/pages/settings/notifications/services.json"
    output = run(str(ROOT / "tools/notification_services.py"))
    assert json.loads(forms.read_text()) == json.loads(output)
