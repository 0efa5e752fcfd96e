"""Endpoints of second factors: set-up, sign-in with a code, requirement, reset."""

from base64 import b64encode
from typing import Any

import pytest

from belvedere.access.crypto import totp
from belvedere.base.clock import SECOND
from contract.client import Client, Response
from contract.world import World
from manual_clock import ManualClock
from people import PASSWORD

BASE, LOGIN = "/api/auth/second-factor", "/api/auth/login"
AGAIN = {"password": PASSWORD}


@pytest.fixture(autouse=True)
def fast_passwords(quick_passwords: None) -> None:
    """Passwords are tested elsewhere."""


def code(secret: str, clock: ManualClock) -> str:
    """The next code: none is accepted twice."""
    clock.move(totp.STEP / SECOND)
    return totp.code_at(secret, clock() // totp.STEP)


async def enable_second_factor(client: Client, clock: ManualClock) -> tuple[str, list[str]]:
    begun = await client.post(BASE, AGAIN)
    assert begun.status == 201
    secret: str = begun.json["secret"]
    done = await client.put(BASE, {"code": code(secret, clock)})
    assert done.status == 200
    return secret, done.json["recovery_codes"]


async def login(anonymous: Client, name: str, **more: Any) -> Response:
    return await anonymous.post(LOGIN, {"email": f"{name}@acme.test", **AGAIN, **more})


async def exchange_ticket(anonymous: Client, ticket: str, code: str) -> Response:
    return await anonymous.post(f"{LOGIN}/second-factor", {"ticket": ticket, "code": code})


async def test_a_second_factor_is_set_up(
    world: World, uma: Client, anonymous: Client, clock: ManualClock
) -> None:
    before = (await uma.get(BASE)).json
    assert before == {
        "enabled": False,
        "since": None,
        "recovery_codes": 0,
        "required": False,
        "available": True,
    }
    begun = (await uma.post(BASE, AGAIN)).json
    assert begun["uri"].startswith("otpauth://totp/Belvedere:uma%40acme.test?")
    assert begun["secret"] in begun["uri"] and begun["qr"].startswith("<svg ")
    secret, codes = await enable_second_factor(uma, clock)
    assert len(codes) == 10
    after = (await uma.get(BASE)).json
    assert (after["enabled"], after["recovery_codes"]) == (True, 10)
    response = await login(anonymous, "uma")
    assert response.status == 200 and "set-cookie" not in response.headers
    assert set(response.json) == {"second_factor", "ticket"}
    assert response.json["second_factor"] == "totp"
    done = await exchange_ticket(anonymous, response.json["ticket"], code(secret, clock))
    assert done.status == 200
    assert done.headers["set-cookie"].startswith(f"belvedere={done.json['access_token']}; ")
    client = Client(world.app, done.json["access_token"], check=world.conformity)
    listed = (await client.get("/api/session")).json
    assert [item["method"] for item in listed if item["current"]] == ["totp"]


async def test_http_basic_requires_it_too(
    uma: Client, anonymous: Client, clock: ManualClock
) -> None:
    await enable_second_factor(uma, clock)
    pair = b64encode(f"uma:{PASSWORD}".encode()).decode()
    response = await anonymous.post(LOGIN, headers={"authorization": f"Basic {pair}"})
    assert response.json["second_factor"] == "totp" and "access_token" not in response.json


async def test_a_ticket_is_valid_for_nothing_else(
    world: World, uma: Client, anonymous: Client, clock: ManualClock
) -> None:
    await enable_second_factor(uma, clock)
    ticket = (await login(anonymous, "uma")).json["ticket"]
    for client in (
        Client(world.app, ticket, check=world.conformity),
        world.client(headers={"cookie": f"belvedere={ticket}"}),
    ):
        assert (await client.get("/acme/task")).status == 401


async def test_wrong_codes_are_refused_and_counted(
    uma: Client, anonymous: Client, clock: ManualClock
) -> None:
    await enable_second_factor(uma, clock)
    ticket = (await login(anonymous, "uma")).json["ticket"]
    for wrong in ("", "not-a-code", "12345", "١٢٣٤٥٦", "x" * 10_000):
        refused = await exchange_ticket(anonymous, ticket, wrong)
        assert (refused.status, refused.code) == (401, "wrong_code")
    dead = await exchange_ticket(anonymous, ticket, "12345")
    assert (dead.status, dead.code) == (401, "ticket_gone")
    for _ in range(5):
        ticket = (await login(anonymous, "uma")).json["ticket"]
        refused = await exchange_ticket(anonymous, ticket, "12345")
    ticket = (await login(anonymous, "uma")).json["ticket"]
    assert (await exchange_ticket(anonymous, ticket, "12345")).code == "too_many_requests"


async def test_an_address_that_guesses_is_limited(
    world: World, clock: ManualClock, anonymous: Client
) -> None:
    for name in ("olga", "ada", "max", "uma", "vic"):
        await enable_second_factor(world.client(name), clock)
    for name in ("olga", "ada", "max", "uma"):
        ticket = (await login(anonymous, name)).json["ticket"]
        for _ in range(5):
            assert (await exchange_ticket(anonymous, ticket, "1")).status == 401
    ticket = (await login(anonymous, "vic")).json["ticket"]
    assert (await exchange_ticket(anonymous, ticket, "1")).status == 429
    elsewhere = world.client(address="198.51.100.9")
    assert (await exchange_ticket(elsewhere, ticket, "1")).status == 401


async def test_the_password_is_required_again(uma: Client, clock: ManualClock) -> None:
    wrong = {"password": "wrong"}
    assert (await uma.post(BASE, wrong)).code == "wrong_password"
    await enable_second_factor(uma, clock)
    for path in ("disable", "recovery-codes"):
        refused = await uma.post(f"{BASE}/{path}", wrong)
        assert (refused.status, refused.code) == (403, "wrong_password")
    assert len((await uma.post(f"{BASE}/recovery-codes", AGAIN)).json["recovery_codes"]) == 10
    assert (await uma.post(f"{BASE}/disable", AGAIN)).status == 200
    assert (await uma.get(BASE)).json["enabled"] is False


async def test_requests_in_the_wrong_state_are_refused(uma: Client, clock: ManualClock) -> None:
    assert (await uma.put(BASE, {"code": "000000"})).code == "no_second_factor"
    assert (await uma.post(f"{BASE}/disable", AGAIN)).code == "no_second_factor"
    assert (await uma.post(f"{BASE}/recovery-codes", AGAIN)).code == "no_second_factor"
    await uma.post(BASE, AGAIN)
    refused = await uma.put(BASE, {"code": "no"})
    assert (refused.status, refused.code) == (403, "wrong_code")
    await enable_second_factor(uma, clock)
    assert (await uma.post(BASE, AGAIN)).code == "second_factor_on"


async def test_without_a_password_there_is_nothing_to_guard(world: World, uma: Client) -> None:
    await world.runtime.db.write(
        lambda tx: tx.execute(
            "update users set password_hash = null where id = ?", world.actors.uma.user_id
        )
    )
    assert (await uma.get(BASE)).json["available"] is False
    assert (await uma.post(BASE, AGAIN)).code == "no_password"


async def test_an_admin_resets_it_and_managers_see_who_uses_it(
    world: World, ada: Client, uma: Client, vic: Client, anonymous: Client, clock: ManualClock
) -> None:
    await enable_second_factor(uma, clock)
    member = world.actors.uma.member_id
    assert "second_factor" not in (await vic.get(f"/api/member/{member}")).json
    assert (await ada.get(f"/api/member/{member}")).json["second_factor"] is True
    assert (await world.client("max").delete(f"/api/member/{member}/second-factor")).status == 403
    assert (await world.client("eve").delete(f"/api/member/{member}/second-factor")).status == 404
    done = await ada.delete(f"/api/member/{member}/second-factor")
    assert (done.status, done.json["second_factor"]) == (200, False)
    assert (await uma.get("/acme/task")).status == 401
    assert "access_token" in (await login(anonymous, "uma")).json


async def test_an_organization_requires_it(
    world: World, anonymous: Client, clock: ManualClock
) -> None:
    olga = world.client("olga")
    body = {"second_factor_level": "user"}
    assert (await olga.put("/api/customer", body)).code == "second_factor_off"
    await enable_second_factor(olga, clock)
    assert (await olga.put("/api/customer", {"second_factor_level": "god"})).status == 400
    assert (await olga.put("/api/customer", body)).json["second_factor_level"] == "user"
    assert (await world.client("uma").get("/acme/task")).status == 401
    assert (await world.client("vic").get("/api/customer")).json["second_factor_level"] == "user"
    record = (await login(anonymous, "uma")).json
    assert record["second_factor"] == "setup"
    setup = await anonymous.post(f"{LOGIN}/second-factor/setup", {"ticket": record["ticket"]})
    done = await exchange_ticket(anonymous, record["ticket"], code(setup.json["secret"], clock))
    assert done.status == 200 and len(done.json["recovery_codes"]) == 10
    uma = Client(world.app, done.json["access_token"], check=world.conformity)
    assert (await uma.get(BASE)).json["required"] is True
    assert (await uma.post(f"{BASE}/disable", AGAIN)).code == "second_factor_required"
    await olga.put("/api/customer", {"second_factor_level": ""})
    assert (await uma.post(f"{BASE}/disable", AGAIN)).status == 200


async def test_nothing_of_it_is_revealed(world: World, ada: Client, clock: ManualClock) -> None:
    secret, codes = await enable_second_factor(ada, clock)
    rows = await world.runtime.db.read(lambda tx: tx.rows("select data from events"))
    text = (await ada.get("/api/audit?limit=1000")).text + str(rows)
    assert secret not in text
    assert not [item for item in codes if item in text]
