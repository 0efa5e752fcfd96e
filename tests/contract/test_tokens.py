"""Where a request may have its credential, and what happens with an invalid one."""

from contract.client import Client
from contract.world import World
from manual_clock import ManualClock


async def test_a_token_may_be_in_the_header_or_the_query(world: World, anonymous: Client) -> None:
    """As the header Authorization: Bearer, or as the query parameter access_token."""
    token = world.things.integration["acme"]
    by_header = await world.client("token").get("/acme/task")
    by_query = await anonymous.get(f"/acme/task?access_token={token}")
    assert by_header.status == by_query.status == 200
    assert (await anonymous.get(f"/task?access_token={token}&customer=acme")).status == 200


async def test_the_same_token_twice_is_accepted(world: World) -> None:
    token = world.things.integration["acme"]
    assert (await world.client("token").get(f"/acme/task?access_token={token}")).status == 200


async def test_two_different_tokens_are_refused(world: World, ada: Client) -> None:
    token = world.things.integration["acme"]
    refused = await ada.get(f"/acme/task?access_token={token}")
    assert (refused.status, refused.code) == (400, "two_tokens")
    twice = f"access_token={token}&access_token={world.actors.tokens['ada']}"
    assert (await world.client().get(f"/acme/task?{twice}")).status == 400


async def test_a_missing_token_is_401_with_advice(anonymous: Client) -> None:
    refused = await anonymous.get("/acme/task")
    assert (refused.status, refused.code) == (401, "unauthenticated")
    assert refused.headers["www-authenticate"] == "Bearer"


async def test_any_invalid_token_is_401(world: World) -> None:
    good = world.things.integration["acme"]
    bad = ["x", good[:-1], good + "x", good.upper(), "bvt_" + "x" * 40, "bvt_", "é" * 30]
    bad += [good.replace("bvt_", "bva_"), "y" * 5_000, "null", "Bearer " + good]
    items = []
    for token in bad:
        headers = {"authorization": f"Bearer {token}"}
        refused = await world.client().get("/acme/task", headers=headers)
        assert refused.status == 401, token
        items.append({**refused.json, "request_id": ""})
    assert all(item == items[0] for item in items)


async def test_other_schemes_are_no_token(anonymous: Client) -> None:
    for value in ("Basic YTpi", "Bearer", "Bearer ", "Token x", ""):
        refused = await anonymous.get("/acme/task", headers={"authorization": value})
        assert refused.status == 401, value


async def test_the_scheme_has_no_case(world: World, anonymous: Client) -> None:
    headers = {"authorization": f"bEARER {world.things.integration['acme']}"}
    assert (await anonymous.get("/acme/task", headers=headers)).status == 200


async def test_an_expired_token_is_refused(world: World, ada: Client, clock: ManualClock) -> None:
    token = (await ada.post("/api/token", {"name": "short", "expires_in": 60})).json
    client = Client(world.app, token["token"], check=world.conformity)
    assert (await client.get("/acme/task")).status == 200
    clock.move(61)
    assert (await client.get("/acme/task")).status == 401


async def test_a_revoked_token_is_invalid_at_once(world: World, ada: Client) -> None:
    token = (await ada.post("/api/token", {"name": "doomed"})).json
    client = Client(world.app, token["token"], check=world.conformity)
    assert (await client.get("/acme/task")).status == 200
    gone = await ada.delete(f"/api/token/{token['id']}")
    assert gone.status == 200 and "token" not in gone.json
    assert (await client.get("/acme/task")).status == 401


async def test_a_token_revokes_itself_and_no_other(world: World, ada: Client) -> None:
    items = [(await ada.post("/api/token", {"name": name})).json for name in ("one", "two")]
    client = Client(world.app, items[0]["token"], check=world.conformity)
    refused = await client.delete(f"/api/token/{items[1]['id']}")
    assert (refused.status, refused.code) == (403, "person_only")
    assert (await client.delete(f"/api/token/{items[0]['id']}")).status == 200
    assert (await client.get("/acme/task")).status == 401


async def test_a_token_is_listed_without_its_text(world: World, ada: Client) -> None:
    token = (await ada.post("/api/token", {"name": "mine"})).json
    listed = await ada.get("/api/token")
    assert token["token"] not in listed.text
    records = next(record for record in listed.json if record["id"] == token["id"])
    assert (
        records["prefix"] == token["token"][: len(records["prefix"])]
        and len(records["prefix"]) < 12
    )


async def test_an_integration_token_cannot_make_itself_permanent(world: World) -> None:
    token = world.client("token")
    assert (await token.post("/api/token", {"name": "heir"})).code == "person_only"
    assert (await token.post("/api/enrolment", {})).code == "person_only"
    body = {"user": {"email": "mallory@acme.test"}, "credential": "admin"}
    assert (await token.post("/api/member", body)).code == "person_only"


async def test_an_enrolment_token_is_no_credential(world: World, ada: Client) -> None:
    enrolment = (await ada.post("/api/enrolment", {})).json
    client = Client(world.app, enrolment["token"], check=world.conformity)
    assert (await client.get("/acme/task")).status == 401


async def test_a_credential_opens_its_own_organization_only(world: World, eve: Client) -> None:
    assert (await eve.get("/acme/task")).code == "other_customer"
    assert (await eve.get("/task?customer=acme")).code == "other_customer"
    assert (await eve.get("/task?customer=globex")).status == 200
    assert (await eve.get("/task")).status == 200


async def test_a_removed_member_is_out_at_once(world: World, uma: Client) -> None:
    olga = world.client("olga")
    member = world.actors.uma.member_id
    assert (await uma.get("/acme/task")).status == 200
    assert (await olga.delete(f"/api/member/{member}")).status == 200
    assert (await uma.get("/acme/task")).status == 401
