"""GET /api/enrolment/address: where new hosts reach the server."""

import pytest

from belvedere.server.api import install_address
from belvedere.settings import Settings
from contract.client import Client
from contract.world import World


async def test_possible_addresses_of_the_server_are_listed(
    world: World, ada: Client, vic: Client
) -> None:
    world.runtime.settings.url = ""
    answer = await ada.get("/api/enrolment/address")
    assert answer.status == 200
    assert answer.json["listens_on_loopback"] is True
    assert len(answer.json["addresses"]) == len(answer.json["options"])
    assert (await vic.get("/api/enrolment/address")).status == 403


def test_a_server_on_loopback_is_told_how_to_start() -> None:
    address = install_address.describe(Settings(), ["192.0.2.7", "[fd00::2]"])
    assert address.listens_on_loopback
    assert address.options == [
        "--host 0.0.0.0 --url http://192.0.2.7:8420",
        "--host :: --url http://[fd00::2]:8420",
    ]


def test_a_server_on_every_address_needs_only_a_url() -> None:
    settings = Settings(host="0.0.0.0", port=9000, tls_cert="cert.pem")
    address = install_address.describe(settings, ["192.0.2.7"])
    assert not address.listens_on_loopback
    assert address.addresses == ["https://192.0.2.7:9000"]
    assert address.options == ["--url https://192.0.2.7:9000"]


@pytest.mark.parametrize("url", ["https://belvedere.example.org", "http://192.0.2.7:8420/"])
def test_the_address_of_the_settings_is_enough(url: str) -> None:
    address = install_address.describe(Settings(url=url), ["192.0.2.8"])
    assert (address.url, address.addresses, address.options) == (url.rstrip("/"), [], [])


def test_a_loopback_url_is_not_enough() -> None:
    address = install_address.describe(Settings(url="http://localhost:8420"), ["192.0.2.7"])
    assert address.options == ["--host 0.0.0.0 --url http://192.0.2.7:8420"]


def test_no_address_of_the_machine_is_a_loopback_address() -> None:
    addresses = install_address.machine_addresses()
    assert 0 < len(addresses) <= install_address.MAX_ADDRESSES
    assert [text for text in addresses if text.startswith(("127.", "[::1]", "169.254."))] == []
