"""Attacks on sessions, and what a person is told about their own account."""

from typing import Any

import pytest

from belvedere.access.crypto import totp
from belvedere.access.signin import known_browsers
from belvedere.base.clock import HOUR, SECOND
from belvedere.egress.messages import EgressResult
from belvedere.egress.pool import EgressPool
from belvedere.server.background import loops
from contract.client import Client, Response
from contract.notifying import deliver_notices
from contract.world import World
from manual_clock import ManualClock
from people import PASSWORD
from security.browsing import LOGIN, TestBrowser

CHANGE, FACTOR = "/api/auth/password/change", "/api/auth/second-factor"
NEW = "maple-heron-cello"


@pytest.fixture(autouse=True)
def fast_passwords(quick_passwords: None) -> None:
    """Passwords are tested elsewhere."""


def code(secret: str, clock: ManualClock) -> str:
    """The next code: none is accepted twice."""
    clock.move(totp.STEP / SECOND)
    return totp.code_at(secret, clock() // totp.STEP)


async def enable_second_factor(browser: TestBrowser, clock: ManualClock) -> str:
    begun = await browser.request("POST", FACTOR, {"password": PASSWORD})
    secret: str = begun.json["secret"]
    done = await browser.request("PUT", FACTOR, {"code": code(secret, clock)})
    assert done.status == 200
    return secret


async def is_in(world: World, token: str) -> bool:
    answer = await Client(world.app, token).get("/api/session/profile")
    return answer.status == 200


# Tokens of sessions


async def test_signing_in_never_takes_over_a_token_that_was_planted(world: World) -> None:
    planted = world.actors.tokens["vic"]
    browser = TestBrowser(world, cookies={"belvedere": planted})
    await browser.sign_in("uma")
    assert browser.cookies["belvedere"] != planted


@pytest.mark.parametrize("step", ["password", "second factor on", "second factor off"])
async def test_a_copied_cookie_is_invalid_after_a_change_of_the_credentials(
    world: World, clock: ManualClock, step: str
) -> None:
    browser = TestBrowser(world)
    await browser.sign_in()
    if step == "second factor off":
        await enable_second_factor(browser, clock)
    copied = browser.cookies["belvedere"]
    if step == "password":
        done = await browser.request("POST", CHANGE, {"current": PASSWORD, "password": NEW})
        assert done.status == 200
    elif step == "second factor on":
        await enable_second_factor(browser, clock)
    else:
        done = await browser.request("POST", f"{FACTOR}/disable", {"password": PASSWORD})
        assert done.status == 200
    assert not await is_in(world, copied)
    assert await is_in(world, browser.cookies["belvedere"])


async def test_a_program_keeps_its_token_after_a_new_password(world: World, uma: Client) -> None:
    done = await uma.post(CHANGE, {"current": PASSWORD, "password": NEW})
    assert "set-cookie" not in done.headers
    assert (await uma.get("/api/session/profile")).status == 200


async def test_signing_out_everywhere_leaves_only_the_session_that_asks(
    world: World, uma: Client, vic: Client
) -> None:
    browsers_ = [TestBrowser(world), TestBrowser(world, agent="phone")]
    for browser in browsers_:
        await browser.sign_in()
    ended = await uma.delete("/api/session")
    assert len(ended.json) == 2
    for browser in browsers_:
        assert not await is_in(world, browser.cookies["belvedere"])
    assert [session["current"] for session in (await uma.get("/api/session")).json] == [True]
    assert (await vic.get("/api/session/profile")).status == 200


async def test_signing_out_everywhere_ends_sign_ins_that_are_half_done(
    world: World, clock: ManualClock
) -> None:
    browser, thief = TestBrowser(world), TestBrowser(world, "203.0.113.7", "curl")
    await browser.sign_in()
    secret = await enable_second_factor(browser, clock)
    ticket = (await thief.sign_in()).json["ticket"]
    assert (await browser.request("DELETE", "/api/session")).status == 200
    refused = await exchange_ticket(thief, ticket, code(secret, clock))
    assert refused.code == "ticket_gone"


async def test_an_idle_and_an_old_session_are_over(world: World, clock: ManualClock) -> None:
    browser = TestBrowser(world)
    await browser.sign_in()
    token = browser.cookies["belvedere"]
    clock.move(8 * 3_600 + 1)
    assert not await is_in(world, token)
    await browser.sign_in()
    token = browser.cookies["belvedere"]
    for _ in range(7 * 24 // 6):
        clock.move(6 * 3_600)
        await is_in(world, token)
        await loops.record_uses(world.runtime)
    assert not await is_in(world, token)


@pytest.mark.parametrize(
    ("scheme", "prefix", "tail"), [("https", "__Host-", "; Secure"), ("http", "", "")]
)
async def test_both_cookies_have_their_flags(
    world: World, scheme: str, prefix: str, tail: str
) -> None:
    answer = await TestBrowser(world, scheme=scheme).sign_in()
    session, mark = answer.headers["set-cookie"], answer.headers["Set-Cookie"]
    assert session.startswith(f"{prefix}belvedere=bvs_")
    assert "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" in session
    assert mark.startswith(f"{prefix}belvedere-browser=bvb_")
    assert "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" in mark
    assert "Domain" not in session + mark
    assert session.endswith(tail) and mark.endswith(tail)


# The second factor


async def exchange_ticket(browser: TestBrowser, ticket: str, text: str) -> Response:
    body = {"ticket": ticket, "code": text}
    return await browser.request("POST", f"{LOGIN}/second-factor", body)


async def test_a_ticket_counts_only_in_the_browser_that_gave_the_password(
    world: World, anonymous: Client, clock: ManualClock
) -> None:
    browser, thief = TestBrowser(world), TestBrowser(world)
    await browser.sign_in()
    secret = await enable_second_factor(browser, clock)
    ticket = (await browser.sign_in()).json["ticket"]
    body = {"ticket": ticket, "code": code(secret, clock)}
    assert (await thief.request("POST", f"{LOGIN}/second-factor", body)).code == "ticket_gone"
    assert (await anonymous.post(f"{LOGIN}/second-factor", body)).code == "ticket_gone"
    assert (await exchange_ticket(browser, ticket, body["code"])).status == 200


async def test_a_program_trades_its_ticket_without_a_cookie(
    world: World, anonymous: Client, clock: ManualClock
) -> None:
    browser = TestBrowser(world)
    await browser.sign_in()
    secret = await enable_second_factor(browser, clock)
    ticket = (await anonymous.post(LOGIN, {"email": "uma", "password": PASSWORD})).json["ticket"]
    body = {"ticket": ticket, "code": code(secret, clock)}
    assert (await anonymous.post(f"{LOGIN}/second-factor", body)).status == 200


async def test_a_code_counts_once(world: World, clock: ManualClock) -> None:
    browser = TestBrowser(world)
    await browser.sign_in()
    secret = await enable_second_factor(browser, clock)
    used = code(secret, clock)
    for status in (200, 401):
        ticket = (await browser.sign_in()).json["ticket"]
        assert (await exchange_ticket(browser, ticket, used)).status == status


async def test_wrong_codes_from_unknown_browsers_do_not_lock_a_known_browser(
    world: World, clock: ManualClock
) -> None:
    """A person who knows only the password could lock the owner out forever."""
    browser, thief = TestBrowser(world), TestBrowser(world, "203.0.113.7", "curl")
    await browser.sign_in()
    secret = await enable_second_factor(browser, clock)
    for _ in range(2):
        ticket = (await thief.sign_in()).json["ticket"]
        for _ in range(5):
            assert (await exchange_ticket(thief, ticket, "000000")).status == 401
    ticket = (await thief.sign_in()).json["ticket"]
    assert (await exchange_ticket(thief, ticket, code(secret, clock))).status == 429
    ticket = (await browser.sign_in()).json["ticket"]
    assert (await exchange_ticket(browser, ticket, code(secret, clock))).status == 200


async def test_wrong_codes_in_a_known_browser_are_limited_too(
    world: World, clock: ManualClock
) -> None:
    browser = TestBrowser(world)
    await browser.sign_in()
    secret = await enable_second_factor(browser, clock)
    for _ in range(2):
        ticket = (await browser.sign_in()).json["ticket"]
        for _ in range(5):
            assert (await exchange_ticket(browser, ticket, "recovery-guess")).status == 401
    ticket = (await browser.sign_in()).json["ticket"]
    assert (await exchange_ticket(browser, ticket, code(secret, clock))).status == 429


# What a person is told


async def inbox(world: World, who: str = "uma") -> list[Any]:
    await deliver_notices(world.runtime)
    rows: list[Any] = (await world.client(who).get("/notification")).json
    return rows


async def kinds(world: World, who: str = "uma") -> list[str]:
    return sorted(item["kind"] for item in await inbox(world, who))


async def test_only_the_person_is_notified_of_a_new_sign_in(world: World) -> None:
    await inbox(world)
    await TestBrowser(world, "203.0.113.7", "curl/8").sign_in()
    (notice,) = await inbox(world)
    assert notice["kind"] == "member.new_sign_in"
    # The console reads this form to show it in the reader's language (pages/inbox/detail.ts).
    assert notice["body"] == "Address: 203.0.113.7; Browser or program: curl/8"
    for other in ("ada", "olga", "vic"):
        assert "member.new_sign_in" not in await kinds(world, other)


async def test_a_familiar_sign_in_is_not_notified(world: World, clock: ManualClock) -> None:
    browser = TestBrowser(world, "203.0.113.7")
    await browser.sign_in()
    assert len(await inbox(world)) == 1
    # The same browser in another network, and the same program in the same network.
    browser.address = "198.51.100.9"
    await browser.sign_in()
    await TestBrowser(world, "203.0.113.7").sign_in()
    assert len(await inbox(world)) == 1
    await TestBrowser(world, "203.0.113.8").sign_in()
    assert len(await inbox(world)) == 2


async def test_an_attacker_cannot_flood_the_mailbox_with_sign_ins(
    world: World, clock: ManualClock
) -> None:
    for n in range(known_browsers.MAX_NOTICES_PER_HOUR + 10):
        await TestBrowser(world, f"203.0.113.{n}", f"program {n}").sign_in()
    assert len(await inbox(world)) <= known_browsers.MAX_NOTICES_PER_HOUR
    clock.move(HOUR / SECOND + 1)
    await TestBrowser(world, "198.51.100.1", "another").sign_in()
    assert (await inbox(world))[0]["body"].startswith("Address: 198.51.100.1")


async def test_changes_of_the_credentials_are_notified(world: World, clock: ManualClock) -> None:
    browser = TestBrowser(world)
    await browser.sign_in()
    await enable_second_factor(browser, clock)
    again = {"password": PASSWORD}
    await browser.request("POST", f"{FACTOR}/recovery-codes", again)
    await browser.request("POST", f"{FACTOR}/disable", again)
    await browser.request("POST", CHANGE, {"current": PASSWORD, "password": NEW})
    await deliver_notices(world.runtime)
    notifications = (await browser.request("GET", "/notification")).json
    assert sorted(notification["kind"] for notification in notifications) == [
        "member.new_sign_in",
        "member.password_changed",
        "member.recovery_codes_renewed",
        "member.second_factor_off",
        "member.second_factor_on",
    ]


async def test_the_creator_is_notified_of_a_new_token(world: World, ada: Client) -> None:
    await inbox(world, "ada")
    before = len(await inbox(world, "ada"))
    await ada.post("/api/token", {"name": "deploy"})
    items = await inbox(world, "ada")
    assert len(items) == before + 1
    assert items[0]["kind"] == "token.created" and "deploy" in items[0]["body"]
    assert "token.created" not in await kinds(world, "olga")


async def test_a_mail_in_both_languages_goes_to_the_person(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    items: list[Any] = []

    async def send(request: Any) -> EgressResult:
        items.append(request)
        return EgressResult()

    world.runtime.settings.mail = world.runtime.egress.mail = (
        "mailtos://user:x@mail.test?from=a@b.c"
    )
    monkeypatch.setattr(EgressPool, "send", lambda self, request: send(request))
    await deliver_notices(world.runtime)
    items.clear()
    await TestBrowser(world, "203.0.113.7", "curl/8").sign_in()
    await deliver_notices(world.runtime)
    (mail,) = items
    assert mail.to == "uma@acme.test"
    assert mail.title == "New sign-in to your account / Nuevo inicio de sesión en tu cuenta"
    assert "Address: 203.0.113.7" in mail.body and "Dirección: 203.0.113.7" in mail.body


# Who sees whom


async def members_by_name(client: Client) -> dict[str, Any]:
    return {member["user"]["username"]: member for member in (await client.get("/api/member")).json}


async def test_below_manager_only_members_of_a_shared_acl_are_visible(
    world: World, vic: Client
) -> None:
    assert set(await members_by_name(vic)) == {"vic"}
    await world.task(acl=["vic", "uma"])
    await world.task("other", acl=["uma", "max"])
    assert set(await members_by_name(vic)) == {"vic", "uma"}
    assert set(await members_by_name(world.client("uma"))) == {"vic", "uma", "max"}
    assert set(await members_by_name(world.client("max"))) == {"olga", "ada", "max", "uma", "vic"}


async def test_below_manager_others_are_a_name_without_address_and_tags(
    world: World, vic: Client, ada: Client
) -> None:
    uma = f"/api/member/{world.actors.uma.member_id}"
    await ada.patch(uma, {"tags": ["team:ops"]})
    await world.task(acl=["vic", "team:ops"])
    actual_uma = (await members_by_name(vic))["uma"]
    assert (actual_uma["user"]["email"], actual_uma["tags"]) == ("", [])
    assert (await vic.get(uma)).json == actual_uma
    own = (await members_by_name(vic))["vic"]
    assert own["user"]["email"] == "vic@acme.test"
    assert (await ada.get(uma)).json["user"]["email"] == "uma@acme.test"
    assert (await vic.get(f"/api/member/{world.actors.max.member_id}")).status == 404


async def test_below_manager_search_finds_no_members(
    world: World, vic: Client, ada: Client
) -> None:
    target = "/-/search?q=acme.test&kinds=member"
    assert (await vic.get(target)).json == []
    assert (await ada.get(target)).json != []
