"""Limits on failed attempts: 20 per minute and address, by the clock."""

from contract.client import Client
from contract.world import World
from manual_clock import ManualClock
from people import PASSWORD

WRONG = f"/job/secret/{'0' * 64}?customer=acme&task={'0' * 24}"


async def test_wrong_secrets_are_limited_for_a_minute(
    world: World, anonymous: Client, clock: ManualClock
) -> None:
    for _ in range(20):
        assert (await anonymous.post(WRONG)).status == 403
    refused = await anonymous.post(WRONG)
    assert (refused.status, refused.code) == (429, "too_many_requests")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    clock.move(int(refused.headers["retry-after"]) + 1)
    assert (await anonymous.post(WRONG)).status == 403


async def test_wrong_passwords_count_alike(anonymous: Client, clock: ManualClock) -> None:
    for n in range(20):
        body = {"email": f"nobody-{n}@acme.test", "password": "wrong"}
        assert (await anonymous.post("/api/auth/login", body)).status == 401
    refused = await anonymous.post("/api/auth/login", {"email": "x@y.z", "password": "wrong"})
    assert refused.status == 429 and "retry-after" in refused.headers
    assert (await anonymous.post(WRONG)).status == 403
    clock.move(61)
    right = {"email": "uma@acme.test", "password": PASSWORD}
    assert (await anonymous.post("/api/auth/login", right)).status == 200


async def test_other_addresses_are_not_limited(world: World, anonymous: Client) -> None:
    for _ in range(21):
        await anonymous.post(WRONG)
    assert (await world.client(address="198.51.100.77").post(WRONG)).status == 403


async def test_wrong_secrets_of_one_task_do_not_hold_up_another(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await world.task()
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    for _ in range(21):
        await anonymous.post(WRONG)
    right = f"/job/secret/{secret}?customer=acme&task={task}"
    assert (await anonymous.post(right)).status == 200


async def test_a_valid_secret_is_not_limited_by_wrong_ones(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await world.task()
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    right = f"/job/secret/{secret}?customer=acme&task={task}"
    wrong = f"/job/secret/{'0' * 64}?customer=acme&task={task}"
    assert (await anonymous.post(right)).status == 200
    for _ in range(20):
        assert (await anonymous.post(wrong)).status == 403
    assert (await anonymous.post(wrong)).status == 429
    assert (await anonymous.post(right)).status == 200


async def test_right_secrets_are_not_counted(world: World, ada: Client, anonymous: Client) -> None:
    task = await world.task()
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    for _ in range(25):
        response = await anonymous.post(f"/job/secret/{secret}?customer=acme&task={task}")
        assert response.status == 200


async def test_a_right_secret_has_a_limit_of_its_own(
    world: World, ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    world.runtime.secret_uses.limit = 3
    task = await world.task()
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    target = f"/job/secret/{secret}?customer=acme&task={task}"
    assert [(await anonymous.post(target)).status for _ in range(4)] == [200, 200, 200, 429]
    clock.move(2)
    assert (await anonymous.post(target)).status == 200


async def test_wrong_links_count_too(anonymous: Client) -> None:
    for _ in range(20):
        assert (await anonymous.post("/api/auth/link", {"token": "bvl_x"})).status == 404
    assert (await anonymous.post("/api/auth/link", {"token": "bvl_x"})).status == 429


async def test_requests_with_a_valid_token_are_not_limited(world: World, ada: Client) -> None:
    for _ in range(25):
        await world.client(address=ada.address).post(WRONG)
    assert (await ada.get("/acme/task")).status == 200
