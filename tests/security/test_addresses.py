"""What an e-mail address reveals about its owner: nothing to inviters, nothing by similar letters,
and after an upgrade not more than before."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import engines
from belvedere.access import Keyring, Level, operator
from belvedere.access.customers import invitations, member_changes, service
from belvedere.access.people import users
from belvedere.access.signin import login, sessions
from belvedere.db import Database
from belvedere.db.migrate import apply, migrate, migrations
from contract.browser_journey import BrowserJourney, add
from contract.client import Response
from contract.world import World
from people import find_account
from security.story import INVITATION, PERSON, THEIRS, UserSteps, plain_passwords

__all__ = ["plain_passwords"]

pytestmark = pytest.mark.usefixtures("plain_passwords")


# What an inviter can see of another person's account.


async def test_an_invitation_looks_the_same_for_known_and_unknown_people(world: World) -> None:
    """Vic has an account, a name, a session and a second factor in acme; nobody@ has nothing."""
    sql = "update users set name = 'Victor' where id = ?"
    await world.runtime.db.write(lambda tx: tx.execute(sql, world.actors.vic.user_id))
    eve = world.client("eve")
    items = []
    for email in ("vic@acme.test", "nobody@acme.test"):
        member = (await eve.post("/api/member", {"user": {"email": email}})).json
        listed = (await eve.get(f"/api/member/{member['id']}")).json
        again = (await eve.post(f"/api/member/{member['id']}/reset")).json
        link = (await world.client().post("/api/auth/link", {"token": again["token"]})).json
        items.append([_shape(item, email) for item in (member, listed, again, link)])
        # Ids contain the time of their creation: an older one would reveal everything.
        assert member["user"]["id"] > world.actors.eve.member_id
    assert items[0] == items[1]
    for email in ("vic@acme.test", "nobody@acme.test"):
        tried = await _use(world, email, account=True)
        assert (tried.status, tried.code) == (401, "bad_login")
        assert (await _use(world, email)).status == 200
    members = (await eve.get("/api/member")).json
    users = {item["user"]["email"]: item["user"] for item in members}
    assert _shape(users["vic@acme.test"], "vic@acme.test") == _shape(
        users["nobody@acme.test"], "nobody@acme.test"
    )


def _shape(record: dict[str, Any], email: str) -> str:
    """Without values that differ by chance."""
    text = json.dumps(record).replace(email, "E").replace(email.partition("@")[0], "N")
    return re.sub(r"bvl_[\w-]+|\b[0-9a-f]{24}\b|\d{4}-\d\d-[\dT:.]+Z", "X", text)


async def _use(world: World, email: str, **more: Any) -> Response:
    eve = world.client("eve")
    members = [
        member for member in (await eve.get("/api/member")).json if member["user"]["email"] == email
    ]
    link = (await eve.post(f"/api/member/{members[0]['id']}/reset")).json
    body = {"token": link["token"], "password": THEIRS, **more}
    return await world.client(address="198.51.100.77").post(INVITATION, body)


async def test_invitations_of_known_and_unknown_people_cost_the_same(world: World) -> None:
    """The same work for a known address as for an unknown one: nothing to measure."""
    db, keys, eve = world.runtime.db, world.runtime.keyring, world.actors.eve
    counts = []
    for email in ("vic@acme.test", "nobody@acme.test"):
        texts: list[str] = []
        await db.write(_count_statements, texts, keys, eve, email)
        counts.append(texts)
    assert counts[0] == counts[1]


def _count_statements(tx: Any, texts: list[str], keys: Any, eve: Any, email: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        for name in ("one", "row", "rows", "execute", "value", "all"):
            verb = getattr(type(tx), name)

            def record_statement(self: Any, *args: Any, _verb: Any = verb, **named: Any) -> Any:
                texts.append(next(arg for arg in args if isinstance(arg, str)))
                return _verb(self, *args, **named)

            patched.setattr(type(tx), name, record_statement)
        invitations.invite(tx, keys, eve, email, "", Level.VIEWER, [])


# Addresses that only look alike.


@pytest.mark.parametrize("email", ["\u212aate@acme.test", "kate@acme.t\u017ft", "ｋate@acme.test"])
async def test_similar_letters_do_not_match_another_address(world: World, email: str) -> None:
    """A Kelvin sign becomes a k in lower case."""
    by = operator(world.actors.acme)
    await world.runtime.db.write(member_changes.add_member, by, "kate@acme.test", Level.ADMIN)
    done = await world.client("ada").post("/api/member", {"user": {"email": email}})
    assert (done.status, done.code) == (400, "bad_email")
    story = UserSteps(world)
    story.at.person = {**PERSON, "email": email}
    going = BrowserJourney(story.anonymous, story.at)
    back = await going.sign_in(await add(world, level="viewer"))
    assert (back, going.token) == ("/ui/login?problem=bad_email", "")


async def test_case_and_blanks_make_no_second_member(world: World) -> None:
    done = await world.client("ada").post("/api/member", {"user": {"email": " VIC@Acme.test "}})
    assert (done.status, done.code) == (409, "already_member")


# Databases of earlier versions.


@pytest.fixture
def older_db(database_url: str) -> Iterator[Database]:
    """As it was before accounts had a scope, with people in one, two and no organizations."""
    url = database_url if database_url.startswith("postgres") else f"{database_url}.older"
    db = engines.open_fast(url)
    if database_url.startswith("postgres"):
        db.write_blocking(lambda tx: tx.execute("drop schema public cascade"))
        db.write_blocking(lambda tx: tx.execute("create schema public"))
    for name, text in migrations(db.dialect.name):
        if name < "0056":
            db.write_blocking(apply, f"migrations/{name}", text)
    db.write_blocking(_people_of_before)
    yield db
    engines.close(db)


def _people_of_before(tx: Any) -> None:
    for name in ("acme", "globex"):
        tx.execute("insert into customers (id, name, name_key, created_at, updated_at)"
               " values (?, ?, ?, 0, 0)", name, name, name)  # fmt: skip
    for user, places in (("both", ("acme", "globex")), ("single", ("acme",)), ("gone", ())):
        tx.execute("insert into users (id, email, username, password_hash, created_at, updated_at)"
               " values (?, ?, ?, 'h', 0, 0)", user, f"{user}@x.test", user)  # fmt: skip
        tx.execute("insert into preferences values (?, '{}', 0)", user)
        for place in places:
            tx.execute(
            "insert into members (id, customer_id, user_id, level, created_at, updated_at)"
                   " values (?, ?, ?, 'user', 0, 0)", f"{user} {place}", place, user)  # fmt: skip


def test_an_upgrade_keeps_who_may_enter_where(older_db: Database, keys: Keyring) -> None:
    migrate(older_db)
    items = older_db.write_blocking(
        lambda tx: tx.rows("select id, scope, password_hash, proof from users order by id")
    )
    assert items == [("both", "", "h", ""), ("gone", "", None, ""), ("single", "acme", "h", "")]
    for user, places in (("both", {"acme", "globex"}), ("single", {"acme"})):
        person = older_db.write_blocking(find_account, user)
        assert person is not None
        for place in places:
            entrance_args = (keys, person, None, place, "", "")
            assert older_db.write_blocking(login.sign_in, *entrance_args).session is not None


def test_after_an_upgrade_an_old_password_gives_no_new_access(
    older_db: Database, keys: Keyring
) -> None:
    """Neither for a person in one organization nor for one in several."""
    migrate(older_db)
    for user in ("single", "both", "gone"):
        new_customer = older_db.write_blocking(
            service.create_customer, keys, f"new-{user}", f"{user}@x.test",
            reserved=frozenset(),
        )  # fmt: skip
        assert new_customer.token
        for person in older_db.write_blocking(users.find_by_name, user):
            if person.password_hash is not None:
                places = older_db.write_blocking(sessions.list_memberships, person.id)
                assert f"new-{user}" not in {place.customer_name for place in places}
