"""The steps of people who invite, join and claim an address.

Eve is an admin of globex. She invites the victim's address, uses the link that she is shown and
sets a password. Acme and initech are organizations that the victim joins by other means."""

from typing import Any

import pytest

from belvedere.access import Level, operator
from belvedere.access.credentials import one_time_links
from belvedere.access.crypto import password_hash
from belvedere.access.crypto.totp import code_at
from belvedere.access.customers import member_changes, service
from contract.browser_journey import BrowserJourney, add, provider_of
from contract.client import Client, Response
from contract.world import World
from people import PASSWORD, PASSWORD_HASH

VICTIM = "victim@acme.test"
THEIRS, OWN = "theirs-heron-cello", "own-maple-violin"
PERSON = {"sub": "s-9", "email": VICTIM, "email_verified": True, "name": "Victim"}
INVITATION, RESET = "/api/auth/invitation", "/api/auth/password/reset"


@pytest.fixture
def plain_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2id is slow on purpose, and every case signs in many times."""

    def matches(text: str | None, password: str) -> bool:
        return text == f"plain {password}" or (text == PASSWORD_HASH and password == PASSWORD)

    monkeypatch.setattr(password_hash, "digest", lambda password: f"plain {password}")
    monkeypatch.setattr(password_hash, "matches", matches)
    monkeypatch.setattr(password_hash, "needs_rehash", lambda item: False)


class UserSteps:
    """The steps that people take; each is named in the tables below."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.anonymous = world.client()
        self.at = provider_of(world, PERSON)
        # Tokens of sessions that Eve has as the victim.
        self.held: list[str] = []
        self.initech: service.NewCustomer | None = None

    async def play(self, steps: str) -> None:
        for step in steps.split():
            await getattr(self, step)()

    async def claim_invitation(self) -> None:
        """Eve invites the victim to globex and uses the link herself."""
        link = await self._invite("eve")
        done = await self._accept(link, THEIRS)
        self.held.append(done.json["access_token"])

    async def squat_by_provider(self) -> None:
        """The provider of globex claims the victim's address."""
        await self._own_globex()
        await BrowserJourney(self.anonymous, self.at).sign_in(
            await add(self.world, "eve", level="user")
        )

    async def guard(self) -> None:
        """Eve sets up a second factor for the account that she created."""
        client = Client(self.world.app, self.held[-1])
        begun = await client.post("/api/auth/second-factor", {"password": THEIRS})
        code = code_at(begun.json["secret"], self.world.runtime.clock() // 30_000)
        assert (await client.put("/api/auth/second-factor", {"code": code})).status == 200

    async def provider(self) -> None:
        """The victim joins acme through acme's provider."""
        going = BrowserJourney(self.anonymous, self.at)
        assert await going.sign_in(await add(self.world, level="admin")) == "/ui/"

    async def invited_and_provider(self) -> None:
        await self._invite("ada", "admin")
        await self.provider()

    async def accept_shown_link(self) -> None:
        """Acme's admin gives the victim a link; the victim chooses a password."""
        assert (await self._accept(await self._invite("ada"), OWN)).status == 200

    async def shown_account(self) -> None:
        """The same, but the victim joins with their own account."""
        link = await self._invite("ada")
        assert (await self._accept(link, OWN, account=True)).status == 200

    async def accept_mailed_link(self) -> None:
        """Acme invites the victim, who uses the link that was sent to the address."""
        await self._invite("ada")
        assert (
            await self._accept(await self._mailed_link(one_time_links.INVITATION), OWN)
        ).status == 200

    async def reset_shown(self) -> None:
        """Acme's owner creates a link for a new password, which the victim chooses."""
        member = await self._member("acme")
        response = await self.world.client("olga").post(f"/api/member/{member}/reset")
        token = response.json["link"].partition("#")[2]
        done = await self.anonymous.put(RESET, {"token": token, "password": OWN})
        assert done.status == 200

    async def operator(self) -> None:
        """The operator creates an organization with the victim as its owner."""
        db, keys = self.world.runtime.db, self.world.runtime.keyring
        new_customer = await db.write(
            service.create_customer, keys, "initech", VICTIM, reserved=frozenset()
        )
        self.initech = new_customer

    async def operator_link(self) -> None:
        """The victim uses the link that was created with it, if there is one."""
        assert self.initech is not None and self.initech.token
        body = {"token": self.initech.token, "password": OWN}
        assert (await self.anonymous.put(RESET, body)).status == 200

    async def operator_admits(self) -> None:
        """With a password, as the first start does."""
        by, hashed = operator(self.world.actors.acme), password_hash.digest(OWN)
        await self.world.runtime.db.write(
            member_changes.add_member, by, VICTIM, Level.ADMIN, password_hash=hashed
        )

    async def remove_member(self) -> None:
        """Eve removes the victim from globex again."""
        member = await self._member("globex")
        assert (await self.world.client("eve").delete(f"/api/member/{member}")).status == 200

    async def _invite(self, who: str, level: str = "user") -> str:
        body = {"user": {"email": VICTIM}, "credential": level}
        done = await self.world.client(who).post("/api/member", body)
        link: str = done.json["invitation"]["token"]
        return link

    async def _accept(self, token: str, password: str, **more: Any) -> Response:
        body = {"token": token, "password": password, **more}
        return await self.anonymous.post(INVITATION, body)

    async def _mailed_link(self, kind: str) -> str:
        db, keys, acme = (
            self.world.runtime.db,
            self.world.runtime.keyring,
            self.world.actors.acme.id,
        )
        sql = "select user_id from members where customer_id = ? and id = ?"
        user_id = await db.read(lambda tx: tx.value(sql, acme, _id(tx, "acme")))
        record = await db.write(
            one_time_links.create,
            keys,
            kind,
            user_id,
            acme,
            "operator",
            proof=one_time_links.MAIL,
            beside=True,
        )
        token: str = record[1]
        return token

    async def _member(self, customer: str) -> str:
        text: str = await self.world.runtime.db.read(_id, customer)
        return text

    async def _own_globex(self) -> None:
        sql = "update members set level = 'owner' where id = ?"
        await self.world.runtime.db.write(
            lambda tx: tx.execute(sql, self.world.actors.eve.member_id)
        )
        self.world.runtime.credentials.clear()


def _id(tx: Any, customer: str) -> str:
    value: str = tx.value(
        "select m.id from members m join users u on u.id = m.user_id"
        " join customers c on c.id = m.customer_id where u.email = ? and c.name = ?",
        VICTIM,
        customer,
    )
    return value
