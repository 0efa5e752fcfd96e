"""Attacks on sign-in: locking others out, guessing, finding out who has an account."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from belvedere.access.crypto import password_hash
from belvedere.access.limits import failed_attempts
from belvedere.access.limits.rate_limits import WRONG_PER_MINUTE
from belvedere.server.background import loops
from belvedere.server.transport import proxies
from belvedere.server.transport.proxies import MAX_PEERS, Proxies
from contract.client import Client
from contract.world import World
from manual_clock import ManualClock
from people import PASSWORD
from security.browsing import LOGIN, TestBrowser

PROXY = "192.0.2.50"


async def guess(client: Client, name: str = "uma", times: int = WRONG_PER_MINUTE) -> None:
    for _ in range(times):
        answer = await client.post(LOGIN, {"email": name, "password": "wrong"})
        assert answer.status in (401, 429)


# Locking out


async def test_wrong_passwords_do_not_lock_secrets_links_or_agents(
    world: World, anonymous: Client, ada: Client, quick_passwords: None
) -> None:
    task = await world.task()
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    await guess(anonymous, times=WRONG_PER_MINUTE + 1)
    assert (await anonymous.post(LOGIN, {"email": "vic", "password": PASSWORD})).status == 429
    run = await anonymous.post(f"/job/secret/{secret}?customer=acme&task={task}")
    assert run.status == 200
    assert (await anonymous.post("/api/auth/link", {"token": "bvl_x"})).status == 404
    assert (await anonymous.post("/token", headers={"authorization": "Basic eDp5"})).status == 401


async def test_wrong_secrets_do_not_lock_sign_in(
    anonymous: Client, quick_passwords: None, clock: ManualClock
) -> None:
    for n in range(101):
        task = f"{n:024x}"
        await anonymous.post(f"/job/secret/{'0' * 64}?customer=acme&task={task}")
    wrong = await anonymous.post(f"/job/secret/{'0' * 64}?customer=acme&task={'f' * 24}")
    assert wrong.status == 429
    assert (await anonymous.post(LOGIN, {"email": "vic", "password": PASSWORD})).status == 200


async def test_a_known_browser_signs_in_while_its_address_is_locked(
    world: World, anonymous: Client, quick_passwords: None, clock: ManualClock
) -> None:
    """Behind an undeclared proxy everyone has one address."""
    browser = TestBrowser(world, PROXY)
    assert (await browser.sign_in()).status == 200
    assert (await browser.request("POST", "/api/session/logout")).status == 200
    await guess(anonymous, "uma", WRONG_PER_MINUTE + 1)
    assert (await TestBrowser(world, PROXY).sign_in()).status == 429
    assert (await browser.sign_in()).status == 200
    # It bypasses only the limit of its own account.
    assert (await browser.sign_in("max")).status == 429


async def test_a_known_browser_has_a_limit_of_its_own(
    world: World, quick_passwords: None, clock: ManualClock
) -> None:
    browser = TestBrowser(world, PROXY)
    await browser.sign_in()
    for _ in range(WRONG_PER_MINUTE):
        assert (await browser.sign_in(password="wrong")).status == 401
    assert (await browser.sign_in()).status == 429


async def test_a_planted_browser_mark_is_not_accepted(world: World, quick_passwords: None) -> None:
    planted = "bvb_" + "x" * 43
    browser = TestBrowser(world, cookies={"belvedere-browser": planted})
    await browser.sign_in()
    assert browser.cookies["belvedere-browser"].startswith("bvb_")
    assert browser.cookies["belvedere-browser"] != planted


async def test_a_new_password_makes_other_browsers_unknown(
    world: World, anonymous: Client, quick_passwords: None
) -> None:
    browser, other = TestBrowser(world, PROXY), TestBrowser(world, PROXY)
    await browser.sign_in()
    await other.sign_in()
    body = {"current": PASSWORD, "password": "maple-heron-cello"}
    assert (await browser.request("POST", "/api/auth/password/change", body)).status == 200
    await guess(anonymous, "uma", WRONG_PER_MINUTE + 1)
    assert (await other.sign_in()).status == 429
    assert (await browser.sign_in()).status == 200


async def test_a_program_gets_no_browser_mark(anonymous: Client, quick_passwords: None) -> None:
    answer = await anonymous.post(LOGIN, {"email": "uma", "password": PASSWORD})
    assert "Set-Cookie" not in answer.headers


async def test_the_browser_mark_is_no_credential(
    world: World, anonymous: Client, quick_passwords: None
) -> None:
    browser = TestBrowser(world, scheme="https")
    await browser.sign_in()
    mark = browser.cookies["__Host-belvedere-browser"]
    for headers in (
        {"cookie": f"__Host-belvedere={mark}"},
        {"authorization": f"Bearer {mark}"},
        {"cookie": f"__Host-belvedere-browser={mark}"},
    ):
        answer = await world.client(scheme="https").get("/api/session/profile", headers=headers)
        assert answer.status == 401


# Proxies


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        (["198.51.100.7"], "198.51.100.7"),
        (["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
        (["203.0.113.9, 198.51.100.7, 10.1.2.3"], "198.51.100.7"),
        (["203.0.113.9", "198.51.100.7, 10.1.2.3"], "198.51.100.7"),
        (["198.51.100.7:4711"], "198.51.100.7"),
        (["[2001:db8::1]:4711"], "2001:db8::1"),
        (["::ffff:198.51.100.7"], "198.51.100.7"),
        (["10.1.2.3, 10.1.2.4"], "10.1.2.3"),
        (["203.0.113.9, unknown, 10.1.2.3"], "10.1.2.3"),
        (["<script>"], "10.0.0.1"),
        ([""], "10.0.0.1"),
        ([], "10.0.0.1"),
    ],
)
def test_the_caller_is_the_last_hop_that_is_no_proxy(forwarded: list[str], address: str) -> None:
    existing_proxies = Proxies("10.0.0.1, 10.1.0.0/16, a-name, fd00::/8", ManualClock())
    headers = [(b"x-forwarded-for", text.encode()) for text in forwarded]
    assert existing_proxies.trusts("10.0.0.1") and existing_proxies.trusts("::ffff:10.1.9.9")
    assert not existing_proxies.trusts("10.0.0.2")
    assert existing_proxies.client("10.0.0.1", headers) == address


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip"])
async def test_an_undeclared_proxy_is_reported(
    world: World, ada: Client, vic: Client, header: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await ada.get("/-/ready")).json["warnings"] == []
    behind = world.client(address="203.0.113.1", headers={header: "198.51.100.7"})
    for _ in range(3):
        assert (await behind.get("/-/health")).status == 200
    assert caplog.text.count("peer=203.0.113.1") == 1
    assert (await ada.get("/api/about")).json["undeclared_proxies"] == ["203.0.113.1"]
    assert (await vic.get("/api/about")).json["undeclared_proxies"] == []
    assert (await ada.get("/-/ready")).json["warnings"] == ["undeclared_proxy"]


async def test_a_declared_proxy_is_not_reported(world: World, ada: Client) -> None:
    behind = world.client(address="10.0.0.1", headers={"x-forwarded-for": "198.51.100.7"})
    await behind.get("/-/health")
    assert (await ada.get("/api/about")).json["undeclared_proxies"] == []


def test_undeclared_proxies_take_bounded_memory_and_log_lines(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = ManualClock()
    existing_proxies = Proxies("", clock)
    for n in range(1_000):
        existing_proxies.record(f"203.0.113.{n}")
    assert len(existing_proxies.undeclared()) == MAX_PEERS
    assert len(caplog.records) == MAX_PEERS
    clock.move(3_601)
    existing_proxies.record("203.0.113.1")
    assert len(caplog.records) == MAX_PEERS + 1
    clock.move(8 * 86_400)
    assert existing_proxies.undeclared() == []


async def test_doctor_and_the_next_start_know_of_undeclared_proxies(
    world: World, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    runtime = world.runtime
    behind = world.client(address="203.0.113.1", headers={"x-real-ip": "198.51.100.7"})
    await behind.get("/-/health")
    await loops.record_proxies(runtime)
    text = await runtime.db.read(proxies.undeclared_peers, ())
    assert list(text) == ["203.0.113.1"]
    started = Proxies("", runtime.clock)
    await runtime.db.write(started.save)
    assert started.undeclared() == ["203.0.113.1"]
    declared = Proxies("203.0.113.0/24", runtime.clock)
    await runtime.db.write(declared.save)
    assert declared.undeclared() == []
    assert await runtime.db.read(proxies.undeclared_peers, ()) == {}


# Finding out who has an account


@pytest.fixture
def work(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """What a request costs: hash checks, delays and database statements."""
    done: list[str] = []
    matches = password_hash.matches

    def count_hash(text: str | None, password: str) -> bool:
        done.append("hash")
        return matches(None, password)

    async def sleep(seconds: float) -> None:
        done.append(f"sleep {seconds}")

    monkeypatch.setattr(password_hash, "matches", count_hash)
    monkeypatch.setattr(world.runtime.passwords, "_sleep", sleep)
    read, write = world.runtime.db.read, world.runtime.db.write

    async def counted_read(verb: Any, *a: Any, **k: Any) -> Any:
        return await read(_counting(verb, done), *a, **k)

    async def counted_write(verb: Any, *a: Any, **k: Any) -> Any:
        return await write(_counting(verb, done), *a, **k)

    monkeypatch.setattr(world.runtime.db, "read", counted_read)
    monkeypatch.setattr(world.runtime.db, "write", counted_write)

    def take() -> list[str]:
        texts = list(done)
        done.clear()
        return texts

    return take


def _counting(verb: Any, done: list[str]) -> Any:
    def count_hash(tx: Any, *a: Any, **k: Any) -> Any:
        return verb(_CountingTx(tx, done), *a, **k)

    return count_hash


class _CountingTx:
    """Records the text of every statement."""

    def __init__(self, tx: Any, done: list[str]) -> None:
        self._tx, self._done = tx, done

    def __getattr__(self, name: str) -> Any:
        result = getattr(self._tx, name)
        if name not in ("rows", "row", "run", "all", "one", "value"):
            return result

        def record_statement(*a: Any, **k: Any) -> Any:
            self._done.append(next(text for text in a if isinstance(text, str)))
            return result(*a, **k)

        return record_statement


STATES = {
    "no password": "update users set password_hash = null where id = ?",
    "disabled": "update users set enabled = 0 where id = ?",
    "member disabled": "update members set enabled = 0 where user_id = ?",
    "invited": "update members set invited_at = 1 where user_id = ?",
    "provider only": "update customers set providers_only = 1 where id <> ?",
}


@pytest.mark.parametrize("state", ["ordinary", *STATES])
async def test_a_wrong_password_costs_the_same_for_every_name(
    world: World, work: Callable[[], list[str]], state: str, clock: ManualClock
) -> None:
    """From the first attempt to far beyond those after which attempts are delayed."""
    # From where uma has signed in before: an account must not respond faster there.
    client = world.client(address=world.actors.uma.address)
    if state in STATES:
        await world.runtime.db.write(lambda tx: tx.execute(STATES[state], world.actors.uma.user_id))
    work()
    for _ in range(12):
        items = []
        for name in ("uma@acme.test", "uma", "nobody@acme.test", "nobody"):
            answer = await client.post(LOGIN, {"email": name, "password": "wrong"})
            items.append((answer.status, {**answer.json, "request_id": ""}, work()))
        assert all(item == items[0] for item in items), items
        assert items[0][0] == 401 and "hash" in items[0][2]
        clock.move(13)


async def test_a_name_with_several_accounts_costs_the_same(
    world: World, anonymous: Client, work: Callable[[], list[str]]
) -> None:
    """Accounts of one organization may share an address with accounts of another."""

    def copy_user(tx: Any) -> None:
        tx.execute(
            "insert into users (id, email, username, password_hash, scope, created_at, updated_at)"
            " select ?, email, username, password_hash, ?, 1, 1 from users where id = ?",
            *("f" * 24, world.actors.globex.id, world.actors.uma.user_id),
        )
        tx.execute(
            "insert into members (id, customer_id, user_id, level, created_at, updated_at)"
            " values (?, ?, ?, 'viewer', 1, 1)",
            *("e" * 24, world.actors.globex.id, "f" * 24),
        )

    await world.runtime.db.write(copy_user)
    work()
    for customer in ({}, {"customer": "acme"}, {"customer": "globex"}, {"customer": "none"}):
        items = []
        for name in ("uma@acme.test", "vic@acme.test", "nobody@acme.test"):
            await anonymous.post(LOGIN, {"email": name, "password": "wrong", **customer})
            items.append(work())
        assert items[0] == items[1] == items[2]
        assert items[0].count("hash") == 2


async def test_names_of_one_account_do_not_show_that_they_belong_together(
    anonymous: Client, work: Callable[[], list[str]]
) -> None:
    await guess(anonymous, "uma@acme.test", 8)
    work()
    await guess(anonymous, "uma", 1)
    assert not [item for item in work() if item.startswith("sleep")]


async def test_a_forgotten_password_costs_the_same_before_the_answer(
    world: World, work: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[list[str]] = []
    wait_idle = world.runtime.passwords.wait_idle

    async def record_work() -> None:
        before.append(work())
        await wait_idle()

    monkeypatch.setattr(world.runtime.passwords, "wait_idle", record_work)
    for name in ("uma", "nobody"):
        answer = await world.client().post("/api/auth/password/recover", {"email": name})
        assert answer.status == 200
        work()
    assert before == [[], []]


# Failed sign-ins are recorded


async def list_audit(world: World) -> list[Any]:
    await loops.record_failures(world.runtime)
    rows: list[Any] = (await world.client("ada").get("/api/audit?action=sign_in.failed")).json
    return rows


async def test_failed_sign_ins_are_audited_together_per_minute(
    world: World, anonymous: Client, quick_passwords: None
) -> None:
    await guess(anonymous, "uma", 7)
    (row,) = await list_audit(world)
    assert row["address"] == anonymous.address
    assert (row["object"], row["object_id"]) == ("member", world.actors.uma.member_id)
    assert row["after"] == {"kind": "password", "wrong": 7, "refused": 0}
    assert len(await list_audit(world)) == 1


async def test_entered_passwords_reach_neither_the_log_nor_the_audit(
    world: World, anonymous: Client, quick_passwords: None, caplog: pytest.LogCaptureFixture
) -> None:
    """People type passwords into the field for the name."""
    caplog.set_level(logging.INFO)
    body = {"email": "hunter2-in-wrong-field", "password": "hunter2-typed", "customer": "acme"}
    assert (await anonymous.post(LOGIN, body)).status == 401
    (row,) = await list_audit(world)
    assert row["object_id"] == "" and row["after"]["wrong"] == 1
    assert "hunter2" not in str(row)
    lines = [record.getMessage() for record in caplog.records if "failed" in record.getMessage()]
    assert f"address={anonymous.address}" in lines[0]
    assert "hunter2" not in caplog.text


async def test_failures_of_one_organization_are_not_shown_to_another(
    world: World, anonymous: Client, eve: Client, quick_passwords: None
) -> None:
    await guess(anonymous, "uma", 3)
    await loops.record_failures(world.runtime)
    assert (await eve.get("/api/audit?action=sign_in.failed")).json == []


def test_an_attacker_cannot_fill_the_audit(caplog: pytest.LogCaptureFixture) -> None:
    actual_failed_attempts = failed_attempts.FailedAttempts(ManualClock())
    for n in range(10_000):
        actual_failed_attempts.add("password", f"address {n}", f"user {n % 7}")
    failed_attempts_record = actual_failed_attempts.take()
    assert len(failed_attempts_record) == failed_attempts.MAX_FAILURES + 1
    assert sum(item.wrong for item in failed_attempts_record) == 10_000
    assert len(caplog.records) == failed_attempts.MAX_FAILURES + 1


@pytest.mark.parametrize("times", [WRONG_PER_MINUTE + 5])
async def test_refused_attempts_are_counted_too(
    world: World, anonymous: Client, quick_passwords: None, times: int, clock: ManualClock
) -> None:
    for _ in range(times):
        await anonymous.post(LOGIN, {"email": "x", "password": "wrong", "customer": "acme"})
    actual_failed_attempts = world.runtime.limits.failures.take()
    assert (
        sum(item.wrong for item in actual_failed_attempts),
        sum(item.refused for item in actual_failed_attempts),
    ) == (20, 5)
