"""Who proved what, where and in which order: a password opens only what was accepted with it.

Eve is an admin of globex. She invites the victim's address, uses the link that she is shown and
sets a password. Acme and initech are organizations that the victim joins by other means."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import engines
from belvedere import events
from belvedere.access import (
    Keys,
    Level,
    customers,
    entrance,
    invitations,
    links,
    members,
    operator,
    passwords,
    sessions,
    users,
)
from belvedere.access.totp import code_at
from belvedere.db import Database
from belvedere.db.migrate import apply, migrate, migrations
from belvedere.server.telling import mails
from cast import PASSWORD, PASSWORD_HASH
from contract.client import Answer, Client
from contract.traveller import Traveller, add, provider_of
from contract.world import World

VICTIM = "victim@acme.test"
THEIRS, OWN = "theirs-heron-cello", "own-maple-violin"
PERSON = {"sub": "s-9", "email": VICTIM, "email_verified": True, "name": "Victim"}
_NUMBERS = itertools.cycle(range(256))
LOGIN, INVITATION, RESET = "/api/auth/login", "/api/auth/invitation", "/api/auth/password/reset"


@pytest.fixture(autouse=True)
def plain_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2id is slow on purpose, and every case signs in many times."""

    def matches(kept: str | None, password: str) -> bool:
        return kept == f"plain {password}" or (kept == PASSWORD_HASH and password == PASSWORD)

    monkeypatch.setattr(passwords, "digest", lambda password: f"plain {password}")
    monkeypatch.setattr(passwords, "matches", matches)
    monkeypatch.setattr(passwords, "is_dated", lambda kept: False)


class Story:
    """The steps that people take; each is named in the tables below."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stranger = world.client()
        self.at = provider_of(world, PERSON)
        # Tokens of sessions that Eve holds as the victim.
        self.held: list[str] = []
        self.initech: customers.Founded | None = None

    async def play(self, steps: str) -> None:
        for step in steps.split():
            await getattr(self, step)()

    async def squat(self) -> None:
        """Eve invites the victim to globex and uses the link herself."""
        link = await self._invited("eve")
        done = await self._accepted(link, THEIRS)
        self.held.append(done.json["access_token"])

    async def squat_by_provider(self) -> None:
        """The provider of globex claims the victim's address."""
        await self._own_globex()
        await Traveller(self.stranger, self.at).sign_in(await add(self.world, "eve", level="user"))

    async def guard(self) -> None:
        """Eve sets up a second factor for the account that she made."""
        client = Client(self.world.app, self.held[-1])
        begun = await client.post("/api/auth/second-factor", {"password": THEIRS})
        code = code_at(begun.json["secret"], self.world.house.clock() // 30_000)
        assert (await client.put("/api/auth/second-factor", {"code": code})).status == 200

    async def provider(self) -> None:
        """The victim joins acme through acme's provider."""
        going = Traveller(self.stranger, self.at)
        assert await going.sign_in(await add(self.world, level="admin")) == "/ui/"

    async def invited_and_provider(self) -> None:
        await self._invited("ada", "admin")
        await self.provider()

    async def shown(self) -> None:
        """Acme's admin hands the victim a link; the victim chooses a password."""
        assert (await self._accepted(await self._invited("ada"), OWN)).status == 200

    async def shown_account(self) -> None:
        """The same, but the victim joins with the own account."""
        link = await self._invited("ada")
        assert (await self._accepted(link, OWN, account=True)).status == 200

    async def mailed(self) -> None:
        """Acme invites the victim, who uses the link that was sent to the address."""
        await self._invited("ada")
        assert (await self._accepted(await self._mailed(links.INVITATION), OWN)).status == 200

    async def reset_shown(self) -> None:
        """Acme's owner makes a link for a new password, which the victim chooses."""
        member = await self._member("acme")
        made = await self.world.client("olga").post(f"/api/member/{member}/reset")
        token = made.json["link"].partition("#")[2]
        done = await self.stranger.put(RESET, {"token": token, "password": OWN})
        assert done.status == 200

    async def operator(self) -> None:
        """The operator makes an organization with the victim as its owner."""
        db, keys = self.world.house.db, self.world.house.keys
        made = await db.write(
            customers.create_organization, keys, "initech", VICTIM, reserved=frozenset()
        )
        self.initech = made

    async def operator_link(self) -> None:
        """The victim uses the link that came with it, where there is one."""
        assert self.initech is not None and self.initech.token
        body = {"token": self.initech.token, "password": OWN}
        assert (await self.stranger.put(RESET, body)).status == 200

    async def operator_admits(self) -> None:
        """With a password, as the first start does."""
        by, hashed = operator(self.world.cast.acme), passwords.digest(OWN)
        await self.world.house.db.write(
            members.admit, by, VICTIM, Level.ADMIN, password_hash=hashed
        )

    async def removed(self) -> None:
        """Eve takes the victim out of globex again."""
        member = await self._member("globex")
        assert (await self.world.client("eve").delete(f"/api/member/{member}")).status == 200

    async def _invited(self, who: str, level: str = "user") -> str:
        body = {"user": {"email": VICTIM}, "credential": level}
        done = await self.world.client(who).post("/api/member", body)
        link: str = done.json["invitation"]["token"]
        return link

    async def _accepted(self, token: str, password: str, **more: Any) -> Answer:
        body = {"token": token, "password": password, **more}
        return await self.stranger.post(INVITATION, body)

    async def _mailed(self, kind: str) -> str:
        db, keys, acme = self.world.house.db, self.world.house.keys, self.world.cast.acme.id
        sql = "select user_id from members where customer_id = ? and id = ?"
        user_id = await db.read(lambda tx: tx.value(sql, acme, _id(tx, "acme")))
        made = await db.write(
            links.make, keys, kind, user_id, acme, "operator", proof=links.MAIL, beside=True
        )
        token: str = made[1]
        return token

    async def _member(self, customer: str) -> str:
        found: str = await self.world.house.db.read(_id, customer)
        return found

    async def _own_globex(self) -> None:
        sql = "update members set level = 'owner' where id = ?"
        await self.world.house.db.write(lambda tx: tx.run(sql, self.world.cast.eve.member_id))
        self.world.house.credentials.forget()


def _id(tx: Any, customer: str) -> str:
    found: str = tx.value(
        "select m.id from members m join users u on u.id = m.user_id"
        " join customers c on c.id = m.customer_id where u.email = ? and c.name = ?",
        VICTIM,
        customer,
    )
    return found


async def opened(world: World, password: str) -> set[str]:
    """The organizations that the password opens, named or not, and those reached from there. From
    other addresses each time: how often one may be wrong is tested elsewhere."""
    found = set()
    for customer in (None, "acme", "globex", "initech"):
        body = {"email": VICTIM, "password": password, "customer": customer}
        done = await world.client(address=f"198.51.{next(_NUMBERS)}.1").post(LOGIN, body)
        if done.status == 200 and "access_token" in done.json:
            found |= await reached(world, done.json["access_token"])
    return found


async def reached(world: World, token: str) -> set[str]:
    """Where a session is, and where it can go."""
    client = Client(world.app, token)
    profile = await client.get("/api/session/profile")
    if profile.status != 200:
        return set()
    found = {profile.json["current_customer"]["name"]}
    for customer_id, name in await world.house.db.read(
        lambda tx: tx.rows("select id, name from customers")
    ):
        moved = await Client(world.app, token).put(f"/api/session/customer/{customer_id}")
        if moved.status == 200:
            found.add(name)
            token = moved.json["access_token"]
    return found


# What happens, then what Eve's password opens, then what the victim's opens.
MATRIX = [
    ("squat", "globex", ""),
    # Another organization lets the person in: Eve's password does not follow.
    ("squat provider", "globex", ""),
    ("squat invited_and_provider", "globex", ""),
    ("squat operator", "globex", ""),
    ("squat operator operator_link", "globex", "initech"),
    ("squat operator_admits", "globex", "acme"),
    ("squat shown", "globex", "acme"),
    ("squat mailed", "globex", "acme"),
    ("squat guard mailed", "", "acme"),
    ("squat guard operator operator_link", "", "initech"),
    # The other way round.
    ("provider squat", "globex", ""),
    ("invited_and_provider squat", "globex", ""),
    ("operator squat", "globex", ""),
    ("operator operator_link squat", "globex", "initech"),
    ("operator_admits squat", "globex", "acme"),
    ("shown squat", "globex", "acme"),
    ("mailed squat", "globex", "acme"),
    # Provider and operator after each other, with Eve in between.
    ("provider squat operator operator_link", "globex", "initech"),
    ("operator squat provider operator_link", "globex", "initech"),
    ("squat_by_provider operator_admits", "", "acme"),
    ("squat_by_provider mailed", "", "acme"),
    # One account for two organizations, only by its own proof.
    ("operator operator_link shown_account", "", "initech acme"),
    ("operator_admits operator", "", "acme initech"),
    ("mailed operator", "", "acme initech"),
    ("squat mailed operator", "globex", "acme initech"),
    # A link that an admin was shown sets a password that opens that organization only.
    ("provider reset_shown operator", "", "acme"),
    ("operator_admits reset_shown operator", "", "acme"),
    ("shown operator", "", "acme"),
    # Out, and in again.
    ("squat removed", "", ""),
    ("squat removed squat", "globex", ""),
    ("squat removed operator operator_link", "", "initech"),
    ("squat removed provider", "", ""),
]


@pytest.mark.parametrize(("steps", "theirs", "own"), MATRIX, ids=[row[0] for row in MATRIX])
async def test_a_password_opens_what_was_accepted_with_it(
    world: World, steps: str, theirs: str, own: str
) -> None:
    story = Story(world)
    await story.play(steps)
    assert await opened(world, THEIRS) == set(theirs.split())
    assert await opened(world, OWN) == set(own.split())
    for token in story.held:
        assert await reached(world, token) <= {"globex"}


async def test_a_mailed_invitation_proves_the_address(world: World) -> None:
    """Through the outbox, as the server itself writes it."""
    story = Story(world)
    await story.squat()
    await story._invited("ada", "admin")
    world.house.settings.mail = "mailtos://relay.test"
    found = await world.house.db.read(events.after, 0, 0)
    await world.house.db.write(mails.write, world.house, found[-1:])
    proofs = await world.house.db.read(
        lambda tx: tx.rows("select proof from links where used_at is null order by proof")
    )
    assert proofs == [("mail",), ("shown",)]


# What an inviter can see of somebody else's account.


async def test_an_invitation_looks_the_same_for_known_and_unknown_people(world: World) -> None:
    """Vic has an account, a name, a session and a second factor in acme; nobody@ has nothing."""
    sql = "update users set name = 'Victor' where id = ?"
    await world.house.db.write(lambda tx: tx.run(sql, world.cast.vic.user_id))
    eve = world.client("eve")
    seen = []
    for email in ("vic@acme.test", "nobody@acme.test"):
        made = (await eve.post("/api/member", {"user": {"email": email}})).json
        listed = (await eve.get(f"/api/member/{made['id']}")).json
        again = (await eve.post(f"/api/member/{made['id']}/reset")).json
        link = (await world.client().post("/api/auth/link", {"token": again["token"]})).json
        seen.append([_shape(one, email) for one in (made, listed, again, link)])
        # Ids carry the time at which they were made: an older one would say it all.
        assert made["user"]["id"] > world.cast.eve.member_id
    assert seen[0] == seen[1]
    for email in ("vic@acme.test", "nobody@acme.test"):
        tried = await _use(world, email, account=True)
        assert (tried.status, tried.code) == (401, "bad_login")
        assert (await _use(world, email)).status == 200
    found = (await eve.get("/api/member")).json
    users = {one["user"]["email"]: one["user"] for one in found}
    assert _shape(users["vic@acme.test"], "vic@acme.test") == _shape(
        users["nobody@acme.test"], "nobody@acme.test"
    )


def _shape(record: dict[str, Any], email: str) -> str:
    """Without what differs by chance."""
    text = json.dumps(record).replace(email, "E").replace(email.partition("@")[0], "N")
    return re.sub(r"bvl_[\w-]+|\b[0-9a-f]{24}\b|\d{4}-\d\d-[\dT:.]+Z", "X", text)


async def _use(world: World, email: str, **more: Any) -> Answer:
    eve = world.client("eve")
    found = [one for one in (await eve.get("/api/member")).json if one["user"]["email"] == email]
    link = (await eve.post(f"/api/member/{found[0]['id']}/reset")).json
    body = {"token": link["token"], "password": THEIRS, **more}
    return await world.client(address="198.51.100.77").post(INVITATION, body)


async def test_one_invitation_costs_as_many_statements_as_the_other(world: World) -> None:
    """The same work for a known address as for an unknown one: nothing to measure."""
    db, keys, eve = world.house.db, world.house.keys, world.cast.eve
    counts = []
    for email in ("vic@acme.test", "nobody@acme.test"):
        made: list[str] = []
        await db.write(_counted, made, keys, eve, email)
        counts.append(made)
    assert counts[0] == counts[1]


def _counted(tx: Any, made: list[str], keys: Any, eve: Any, email: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        for name in ("one", "row", "rows", "run", "value", "all"):
            verb = getattr(type(tx), name)

            def noted(self: Any, *args: Any, _verb: Any = verb, **named: Any) -> Any:
                made.append(next(one for one in args if isinstance(one, str)))
                return _verb(self, *args, **named)

            patched.setattr(type(tx), name, noted)
        invitations.invite(tx, keys, eve, email, "", Level.VIEWER, [])


# Addresses that only look alike.


@pytest.mark.parametrize("email", ["\u212aate@acme.test", "kate@acme.t\u017ft", "ｋate@acme.test"])
async def test_look_alike_letters_are_no_other_persons_address(world: World, email: str) -> None:
    """A Kelvin sign becomes a k in lower case."""
    by = operator(world.cast.acme)
    await world.house.db.write(members.admit, by, "kate@acme.test", Level.ADMIN)
    done = await world.client("ada").post("/api/member", {"user": {"email": email}})
    assert (done.status, done.code) == (400, "bad_email")
    story = Story(world)
    story.at.person = {**PERSON, "email": email}
    going = Traveller(story.stranger, story.at)
    back = await going.sign_in(await add(world, level="viewer"))
    assert (back, going.token) == ("/ui/login?problem=bad_email", "")


async def test_case_and_blanks_make_no_second_member(world: World) -> None:
    done = await world.client("ada").post("/api/member", {"user": {"email": " VIC@Acme.test "}})
    assert (done.status, done.code) == (409, "already_member")


# Databases of before.


@pytest.fixture
def older(database_url: str) -> Iterator[Database]:
    """As it was before accounts had a scope, with people in one, two and no organizations."""
    url = database_url if database_url.startswith("postgres") else f"{database_url}.older"
    db = engines.opened(url)
    if database_url.startswith("postgres"):
        db.write_now(lambda tx: tx.run("drop schema public cascade"))
        db.write_now(lambda tx: tx.run("create schema public"))
    for name, text in migrations(db.sql.engine):
        if name < "0056":
            db.write_now(apply, f"migrations/{name}", text)
    db.write_now(_people_of_before)
    yield db
    engines.closed(db)


def _people_of_before(tx: Any) -> None:
    for name in ("acme", "globex"):
        tx.run("insert into customers (id, name, name_key, created_at, updated_at)"
               " values (?, ?, ?, 0, 0)", name, name, name)  # fmt: skip
    for user, places in (("both", ("acme", "globex")), ("single", ("acme",)), ("gone", ())):
        tx.run("insert into users (id, email, username, password_hash, created_at, updated_at)"
               " values (?, ?, ?, 'h', 0, 0)", user, f"{user}@x.test", user)  # fmt: skip
        tx.run("insert into preferences values (?, '{}', 0)", user)
        for place in places:
            tx.run("insert into members (id, customer_id, user_id, level, created_at, updated_at)"
                   " values (?, ?, ?, 'user', 0, 0)", f"{user} {place}", place, user)  # fmt: skip


def test_an_upgrade_keeps_who_may_enter_where(older: Database, keys: Keys) -> None:
    migrate(older)
    found = older.write_now(
        lambda tx: tx.rows("select id, scope, password_hash, proof from users order by id")
    )
    assert found == [("both", "", "h", ""), ("gone", "", None, ""), ("single", "acme", "h", "")]
    for user, places in (("both", {"acme", "globex"}), ("single", {"acme"})):
        person = older.write_now(users.by_identifier, user)
        assert person is not None
        for place in places:
            entrance_args = (keys, person, None, place, "", "")
            assert older.write_now(entrance.sign_in, *entrance_args).session is not None


def test_after_an_upgrade_an_old_password_opens_nothing_new(older: Database, keys: Keys) -> None:
    """Neither for somebody of one organization nor for somebody of several."""
    migrate(older)
    for user in ("single", "both", "gone"):
        made = older.write_now(
            customers.create_organization, keys, f"new-{user}", f"{user}@x.test",
            reserved=frozenset(),
        )  # fmt: skip
        assert made.token
        for person in older.write_now(users.named, user):
            if person.password_hash is not None:
                places = older.write_now(sessions.memberships, person.id)
                assert f"new-{user}" not in {place.customer_name for place in places}
