"""Contents that nothing refers to are deleted, and no longer count for the storage quota."""

import asyncio
import hashlib
import threading
from typing import Any

import pytest

from belvedere.base.clock import DAY, HOUR, SECOND
from belvedere.db import Tx
from belvedere.files import blob_sweep, quota, store
from belvedere.jobs import scraper
from belvedere.jobs.history import unused_contents
from belvedere.jobs.lifecycle import commands
from belvedere.server.background import loops
from contract.client import Client
from contract.running import create
from contract.world import World
from manual_clock import ManualClock

CONTENT = "data of the file"
SHA256 = hashlib.sha256(CONTENT.encode()).hexdigest()
FILE = "data:text/plain;name=a.txt;base64,ZGF0YSBvZiB0aGUgZmlsZQ=="
FILE_ARGUMENT = [{"type": "file", "label": "data"}]
LONG = DAY + HOUR


def digests(tx: Tx) -> set[str]:
    return {sha256 for (sha256,) in tx.rows("select sha256 from blobs")}


def age(tx: Tx) -> None:
    """A day later. The clock itself is not moved: sessions of the test would end."""
    tx.execute("update blob_uses set used_at = used_at - ?", LONG)
    tx.execute("update files set deleted_at = deleted_at - ? where deleted_at is not null", LONG)
    tx.execute("update blob_sweep set ended_at = ended_at - ?", LONG)


async def sweep(world: World) -> set[str]:
    """A day later, everything is deleted that may be; the remaining contents."""
    # The first sweep only notes contents that have no time yet.
    for _ in range(2):
        await world.runtime.db.write(age)
        while await world.runtime.db.write(unused_contents.step):
            pass
    return await world.runtime.db.read(digests)


async def upload(ada: Client, text: str = CONTENT, filename: str = "a.txt") -> str:
    response = await ada.post("/acme/file", {"filename": filename, "source": text})
    assert response.status == 200, response.text
    return str(response.json["id"])


async def delete(client: Client, target: str) -> None:
    answer = await client.delete(target)
    assert answer.status == 200, answer.text


async def test_the_content_of_a_deleted_file_is_deleted(world: World, ada: Client) -> None:
    before = await world.runtime.db.read(quota.file_bytes)
    file_id = await upload(ada)
    changed = await ada.put(f"/acme/file/{file_id}", {"source": "second version"})
    assert changed.status == 200, changed.text
    assert SHA256 in await sweep(world), "earlier versions can be read"
    assert (await world.runtime.db.read(quota.file_bytes)) != before
    await delete(ada, f"/acme/file/{file_id}")
    while await world.runtime.db.write(unused_contents.step):
        pass
    assert SHA256 in await world.runtime.db.read(digests), "not on the day of the deletion"
    remaining = await sweep(world)
    assert (
        SHA256 not in remaining and hashlib.sha256(b"second version").hexdigest() not in remaining
    )
    assert await world.runtime.db.read(quota.file_bytes) == before


async def test_a_content_stays_while_another_file_has_it(
    world: World, ada: Client, eve: Client
) -> None:
    file_id = await upload(ada)
    other = await eve.post("/globex/file", {"filename": "b.txt", "source": CONTENT})
    await delete(ada, f"/acme/file/{file_id}")
    assert SHA256 in await sweep(world)
    response = await eve.get(f"/globex/file/{other.json['id']}/download")
    assert response.text == CONTENT


async def test_a_script_stays_while_a_job_names_it(world: World, ada: Client) -> None:
    file_id = await upload(ada, filename="a.sh")
    task = await world.task("backup", script=None, script_id=file_id)
    job = await create(ada, task)
    async with world.agent() as agent:
        await agent.end(await agent.order())
    await delete(ada, f"/acme/task/{task}")
    await delete(ada, f"/acme/file/{file_id}")
    assert SHA256 in await sweep(world)
    await world.runtime.db.write(_delete_job, job["id"])
    assert SHA256 not in await sweep(world)


async def test_a_file_argument_is_deleted_with_its_last_job(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Several batches, also within the jobs that have files.
    monkeypatch.setattr(unused_contents, "BATCH", 3)
    monkeypatch.setattr(unused_contents, "MAX_TEXTS", 1)
    monkeypatch.setattr(blob_sweep, "BATCH", 2)
    monkeypatch.setattr(blob_sweep, "MAX_DELETED", 1)
    task, plain = await world.task("load", task_arguments=FILE_ARGUMENT), await world.task("plain")
    jobs = []
    for _ in range(3):
        await create(ada, plain)
        jobs.append((await create(ada, task, [FILE]))["id"])
    for job_id in jobs:
        assert SHA256 in await sweep(world)
        await world.runtime.db.write(_delete_job, job_id)
    assert SHA256 not in await sweep(world)
    assert await world.runtime.db.read(quota.argument_bytes) == {}


def _delete_job(tx: Tx, job_id: str) -> None:
    """As retention does."""
    tx.execute("delete from attempts where job_id = ?", job_id)
    tx.execute("delete from jobs where id = ?", job_id)


async def test_sources_of_the_server_stay(world: World) -> None:
    for keep in (scraper.store_source, commands.store_source):
        await world.runtime.db.write(keep)
    assert {scraper.SHA256, commands.SHA256} <= await sweep(world)


async def test_the_loop_does_a_bounded_part_of_the_work(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blob_sweep, "BATCH", 1)
    monkeypatch.setattr(unused_contents, "MAX_STEPS", 1)
    for number in range(3):
        await upload(ada, f"text {number}")
    await world.runtime.db.write(age)
    await loops.delete_unused_contents(world.runtime)
    first = (await world.runtime.db.read(blob_sweep.current)).blob_position
    await loops.delete_unused_contents(world.runtime)
    assert "" < first < (await world.runtime.db.read(blob_sweep.current)).blob_position


async def candidate(world: World, ada: Client) -> None:
    """A content that the sweep is about to delete."""
    await delete(ada, f"/acme/file/{await upload(ada)}")
    for _ in range(2):
        await world.runtime.db.write(age)
        while await world.runtime.db.write(unused_contents.step):
            if (await world.runtime.db.read(blob_sweep.is_due)) and await _phase(world) == "delete":
                return
    raise AssertionError("nothing to delete")


async def _phase(world: World) -> str:
    return (await world.runtime.db.read(blob_sweep.current)).phase


async def _both(world: World, first: Any, second: Any) -> None:
    """The second operation starts when the first has done its work and is not committed."""
    begun, over = threading.Event(), threading.Event()

    def holding(tx: Tx) -> None:
        first(tx)
        begun.set()
        # If the engine lets two operations write at once, the second now waits for a row of the
        # first.
        over.wait(0.3)

    async def following() -> None:
        await asyncio.to_thread(begun.wait, 30)
        await world.runtime.db.write(second)
        over.set()

    await asyncio.gather(world.runtime.db.write(holding), following())


@pytest.mark.parametrize("order", ["upload first", "deletion first"])
async def test_an_upload_during_the_deletion_keeps_its_content(
    world: World, ada: Client, order: str
) -> None:
    await candidate(world, ada)

    def storing(tx: Tx) -> None:
        store.store_content(tx, CONTENT.encode())

    pair = (storing, unused_contents.step)
    await _both(world, *(pair if order == "upload first" else reversed(pair)))
    assert SHA256 in await world.runtime.db.read(digests)


async def test_content_that_was_stored_again_is_kept_whatever_the_clock(
    world: World, ada: Client, clock: ManualClock
) -> None:
    await candidate(world, ada)
    task = await world.task("load", task_arguments=FILE_ARGUMENT)
    await create(ada, task, [FILE])
    clock.move(LONG // SECOND)
    await world.runtime.db.write(unused_contents.step)
    assert SHA256 in await world.runtime.db.read(digests)
