"""Subscribers of a status page: double opt-in, unsubscribe links, limits."""

from pathlib import Path

import msgspec
import pytest

from belvedere.base.clock import DAY
from belvedere.db import Tx
from belvedere.notifications.delivery.dispatcher import SealedMail
from belvedere.server.background.loops import queue_status_mails
from belvedere.settings import Settings
from belvedere.statuspages import mailings, subscribers
from contract.client import Client
from contract.world import World
from manual_clock import ManualClock

PAGE = "/-/status/acme-page"
READER = "reader@example.com"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    mail = "mailto://mail.test?from=noreply@acme.test"
    return Settings(data=str(tmp_path), url="http://belvedere.test", mail=mail)


async def new_page(ada: Client) -> str:
    page = await ada.post("/statuspage", {"title": "Acme", "slug": "acme-page"})
    return str(page.json["id"])


class Mail(msgspec.Struct):
    recipient: str
    title: str
    body: str

    def token(self, action: str) -> str:
        return self.body.partition(f"?{action}=")[2].split()[0]


async def mails(world: World) -> list[Mail]:
    """All mails in the outbox, oldest first."""
    keys = world.runtime.keyring

    def read(tx: Tx) -> list[Mail]:
        rows = tx.rows("select id, recipient, box from messages order by id")
        texts = [
            msgspec.json.decode(keys.unseal(box, f"message/{message_id}"), type=SealedMail)
            for message_id, _, box in rows
        ]
        pairs = zip(rows, texts, strict=True)
        return [Mail(row[1], text.title, text.body) for row, text in pairs]

    return await world.runtime.db.read(read)


async def subscribe(world: World, anonymous: Client, email: str = READER) -> Mail:
    assert (await anonymous.post(f"{PAGE}/subscriber", {"email": email})).status == 202
    mail = (await mails(world))[-1]
    reply = await anonymous.post(f"{PAGE}/subscriber/confirm", {"token": mail.token("confirm")})
    assert reply.status == 200
    return mail


async def test_a_confirmed_subscriber_gets_a_mail_about_an_incident(
    world: World, ada: Client, anonymous: Client
) -> None:
    page = await new_page(ada)
    await subscribe(world, anonymous, "Reader@Example.com")
    await anonymous.post(f"{PAGE}/subscriber", {"email": "pending@example.com"})
    body = {"title": "Shop is slow", "text": "We are looking into it."}
    await ada.post(f"/statuspage/{page}/incident", body)
    await queue_status_mails(world.runtime)
    confirm, _, news = await mails(world)
    assert (confirm.recipient, news.recipient) == (READER, READER)
    assert news.title == "[Acme] Shop is slow: investigating"
    assert news.body.startswith("We are looking into it.\n")
    path = f"{PAGE}/subscriber/unsubscribe"
    for _ in range(2):
        assert (await anonymous.post(path, {"token": news.token("unsubscribe")})).status == 200
    rows = (await ada.get(f"/statuspage/{page}/subscriber")).json
    assert [row["email"] for row in rows] == ["pending@example.com"]


async def test_an_incident_without_notify_sends_no_mail(
    world: World, ada: Client, anonymous: Client
) -> None:
    page = await new_page(ada)
    await subscribe(world, anonymous)
    body = {"title": "Shop", "text": "Typo in the last one.", "notify": False}
    await ada.post(f"/statuspage/{page}/incident", body)
    await queue_status_mails(world.runtime)
    assert len(await mails(world)) == 1


async def test_the_response_does_not_reveal_who_is_subscribed(
    world: World, ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    await new_page(ada)
    await subscribe(world, anonymous)
    clock.move(3_600)
    response = await anonymous.post(f"{PAGE}/subscriber", {"email": READER})
    new = await anonymous.post(f"{PAGE}/subscriber", {"email": "new@example.com"})
    assert (response.status, response.body) == (new.status, new.body)
    # And the subscriber is not mailed again.
    assert [mail.recipient for mail in await mails(world)] == [READER, "new@example.com"]


@pytest.mark.parametrize("action", ["confirm", "unsubscribe"])
async def test_a_forged_token_is_refused(
    world: World, ada: Client, anonymous: Client, action: str
) -> None:
    page = await new_page(ada)
    mail = await subscribe(world, anonymous)
    token = mail.token("confirm")
    other = token[:-1] + ("0" if token[-1] != "0" else "1")
    swapped = {"confirm": "", "unsubscribe": token}[action]
    for wrong in (other, swapped, "", "0" * 88, token[:24], "é" * 88):
        reply = await anonymous.post(f"{PAGE}/subscriber/{action}", {"token": wrong})
        assert reply.code == "subscription_not_found", wrong
    assert len((await ada.get(f"/statuspage/{page}/subscriber")).json) == 1


async def test_an_address_that_is_not_confirmed_expires(
    world: World, ada: Client, anonymous: Client, clock: ManualClock
) -> None:
    await new_page(ada)
    await anonymous.post(f"{PAGE}/subscriber", {"email": READER})
    (mail,) = await mails(world)
    clock.move(DAY // 1_000 + 1)
    token = {"token": mail.token("confirm")}
    assert (await anonymous.post(f"{PAGE}/subscriber/confirm", token)).status == 404
    await anonymous.post(f"{PAGE}/subscriber", {"email": "new@example.com"})
    sql = "select email from statuspage_subscribers"
    assert await world.runtime.db.read(lambda tx: tx.rows(sql)) == [("new@example.com",)]


async def test_requests_and_mails_are_limited(
    world: World, ada: Client, anonymous: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await new_page(ada)
    for _ in range(3):
        reply = await anonymous.post(f"{PAGE}/subscriber", {"email": READER})
        assert reply.status == 202
    assert len(await mails(world)) == 1, "one mail to an address in 15 minutes"
    monkeypatch.setattr(subscribers, "MAX_SUBSCRIBERS", 1)
    full = await anonymous.post(f"{PAGE}/subscriber", {"email": "new@example.com"})
    assert (full.status, full.code) == (409, "too_many_subscribers")
    monkeypatch.undo()
    for _ in range(subscribers.MAX_PER_NETWORK):
        last = await anonymous.post(f"{PAGE}/subscriber", {"email": READER})
    assert last.status == 429 and int(last.headers["retry-after"]) > 0
    assert (await anonymous.post("/-/status/missing/subscriber", {"email": READER})).status == 429


async def test_mails_are_queued_in_steps(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await new_page(ada)
    monkeypatch.setattr(mailings, "BATCH", 2)
    monkeypatch.setattr(mailings, "MAX_WAITING", 4)
    runtime, slug = world.runtime, "acme-page"

    def add(tx: Tx) -> None:
        for n in range(5):
            address = f"reader{n}@example.com"
            subscribers.subscribe(tx, runtime.keyring, "http://x", slug, address)
        tx.execute("update statuspage_subscribers set confirmed_at = created_at")
        tx.execute("delete from messages")

    await runtime.db.write(add)
    await ada.post(f"/statuspage/{page}/incident", {"title": "Shop", "text": "Down."})
    counts = []
    for _ in range(3):
        await queue_status_mails(runtime)
        counts.append(len(await mails(world)))
    assert counts == [2, 4, 4], "the queue of the organization is full"
    await runtime.db.write(lambda tx: tx.execute("update messages set state = 'sent'"))
    await queue_status_mails(runtime)
    recipients = [mail.recipient for mail in await mails(world)]
    assert sorted(recipients) == [f"reader{n}@example.com" for n in range(5)]
    await queue_status_mails(runtime)
    assert not await runtime.db.read(lambda tx: mailings.any_mailing(tx))


async def test_only_admins_see_and_remove_subscribers(
    world: World, ada: Client, anonymous: Client
) -> None:
    page = await new_page(ada)
    await subscribe(world, anonymous)
    manager = world.client("max")
    assert (await manager.get(f"/acme/statuspage/{page}/subscriber")).code == "level"
    (row,) = (await ada.get(f"/statuspage/{page}/subscriber")).json
    assert row["email"] == READER and row["confirmed"] is not None
    assert (await ada.delete(f"/statuspage/{page}/subscriber/{row['id']}")).status == 200
    assert (await ada.get(f"/statuspage/{page}/subscriber")).json == []
    rows = (await ada.get(f"/api/audit?object_id={page}")).json
    assert rows[0]["action"] == "statuspage.subscriber_remove"
