"""The secret key of a task: read by admins, rotated, never part of a record."""

import re

from contract.client import Client
from contract.world import World
from manual_clock import ManualClock


async def secret_of(ada: Client, task: str) -> str:
    response: str = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    return response


async def test_the_secret_of_a_task_creates_a_job(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await world.task()
    secret = await secret_of(ada, task)
    assert re.fullmatch(r"[0-9a-f]{64}", secret)
    response = await anonymous.post(f"/job/secret/{secret}?customer=acme", {"task": task})
    assert response.status == 200


async def test_a_changed_key_revokes_the_old_one_at_once(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await world.task()
    old = await secret_of(ada, task)
    rotated = await ada.post(f"/acme/task/{task}/credentials/rotate", {})
    assert rotated.status == 200
    new = rotated.json["secret"]
    assert new != old and await secret_of(ada, task) == new
    body = {"task": task}
    assert (await anonymous.post(f"/job/secret/{old}?customer=acme", body)).status == 403
    assert (await anonymous.post(f"/job/secret/{new}?customer=acme", body)).status == 200


async def test_the_old_key_stays_valid_for_the_overlap(
    world: World, ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    task = await world.task()
    old = await secret_of(ada, task)
    await ada.post(f"/acme/task/{task}/credentials/rotate", {"overlap": 60})
    target, body = f"/job/secret/{old}?customer=acme", {"task": task}
    assert (await anonymous.post(target, body)).status == 200
    clock.move(61)
    assert (await anonymous.post(target, body)).status == 403


async def test_every_reading_is_audited(world: World, ada: Client) -> None:
    task = await world.task()
    await secret_of(ada, task)
    rows = (await ada.get(f"/api/audit?object_id={task}")).json
    assert rows[0]["action"] == "task.reveal_secret" and rows[0]["user"] == "ada@acme.test"


async def test_only_admins_read_it(world: World) -> None:
    task = await world.task()
    for who in ("vic", "uma", "max"):
        assert (await world.client(who).get(f"/acme/task/{task}/credentials")).status == 403
    assert (await world.client("token").get(f"/acme/task/{task}/credentials")).status == 200


async def test_a_credential_is_in_no_record_list_event_or_audit_entry(
    world: World, ada: Client
) -> None:
    task = await world.task()
    secret = await secret_of(ada, task)
    await ada.post("/acme/job", {"task": task})
    for target in ("/acme/task", f"/acme/task/{task}", "/acme/job", "/api/audit"):
        assert secret not in (await ada.get(target)).text
    items = world.runtime.db.write_blocking(lambda tx: tx.rows("select data from events"))
    assert secret not in str(items)


async def test_the_key_of_a_deleted_task_is_invalid(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await world.task()
    secret = await secret_of(ada, task)
    await ada.delete(f"/acme/task/{task}")
    refused = await anonymous.post(f"/job/secret/{secret}?customer=acme", {"task": task})
    assert (refused.status, refused.code) == (403, "wrong_secret")
