"""What members can do to each other: nobody takes over an equal, and nothing survives a removal."""

from typing import Any

import pytest

from belvedere.access import Level, authenticate, create_enrolment, create_token, operator
from belvedere.access.customers import member_changes
from contract.client import Client
from contract.world import World

LEVELS = ("viewer", "user", "manager", "admin", "owner")
RANK = {level: rank for rank, level in enumerate(LEVELS)}
WHO = {"manager": "max", "admin": "ada", "owner": "olga"}


async def another(world: World, level: str) -> str:
    """A second member of this level; the id."""
    by = operator(world.actors.acme)
    member = await world.runtime.db.write(
        member_changes.add_member, by, f"second-{level}@acme.test", Level(level), password_hash="x"
    )
    return member.id


@pytest.mark.parametrize("level", WHO)
@pytest.mark.parametrize("theirs", LEVELS)
async def test_only_a_lower_level_gets_a_new_credential(
    world: World, level: str, theirs: str
) -> None:
    """Whoever creates a link for a new password can use it. For owners, only the operator can."""
    member = await another(world, theirs)
    is_below = RANK[theirs] < RANK[level]
    client = world.client(WHO[level])
    response = await client.post(f"/api/member/{member}/reset")
    assert response.status == (201 if is_below else 403)
    reset = await client.delete(f"/api/member/{member}/second-factor")
    # 409: the member has none.
    assert reset.status == (409 if is_below and level != "manager" else 403)
    if not is_below:
        assert response.code == "above_own_level"


@pytest.mark.parametrize("level", WHO)
@pytest.mark.parametrize("theirs", LEVELS)
async def test_only_a_lower_level_is_changed_or_removed(
    world: World, level: str, theirs: str
) -> None:
    """Removed and invited again, an equal could be replaced. Owners manage each other."""
    may = RANK[theirs] < RANK[level] or level == "owner"
    client = world.client(WHO[level])
    member = await another(world, theirs)
    for change in ({"tags": ["team:x"]}, {"disabled": True}, {"credential": "viewer"}):
        done = await client.patch(f"/api/member/{member}", change)
        assert done.status == (200 if may else 403), change
        if may and "credential" in change and theirs != "viewer":
            await world.runtime.db.write(
                member_changes.change, operator(world.actors.acme), member, level=Level(theirs)
            )
    assert (await client.delete(f"/api/member/{member}")).status == (200 if may else 403)


@pytest.mark.parametrize("who", ["max", "ada", "olga"])
async def test_creating_a_link_for_the_own_account_is_refused(world: World, who: str) -> None:
    """A person who finds an unlocked screen does not know the password, and must not get past
    it."""
    member = getattr(world.actors, who).member_id
    done = await world.client(who).post(f"/api/member/{member}/reset")
    assert (done.status, done.code) == (403, "above_own_level")


@pytest.mark.parametrize("who", ["max", "ada", "olga"])
async def test_members_may_still_leave(world: World, who: str) -> None:
    await another(world, "owner")
    member = getattr(world.actors, who).member_id
    assert (await world.client(who).delete(f"/api/member/{member}")).status == 200


# Tokens.


@pytest.mark.parametrize(
    ("change", "lives"),
    [
        ("remove", False),
        ({"enabled": False}, False),
        ({"level": Level.MANAGER}, False),
        ({"level": Level.OWNER}, True),
        ({"tags": ["team:x"]}, True),
    ],
    ids=str,
)
async def test_a_token_ends_with_the_permissions_of_its_creator(
    world: World, change: str | dict[str, Any], lives: bool
) -> None:
    db, keys, ada, olga = (
        world.runtime.db,
        world.runtime.keyring,
        world.actors.ada,
        world.actors.olga,
    )
    _, text = await db.write(create_token, keys, ada, "ci")
    await db.write(create_enrolment, keys, ada)
    _, others = await db.write(create_token, keys, olga, "of another")
    client = Client(world.app, text)
    assert (await client.get("/acme/task")).status == 200
    if isinstance(change, str):
        await db.write(member_changes.remove, olga, ada.member_id)
    else:
        await db.write(member_changes.change, olga, ada.member_id, **change)
    assert (await client.get("/acme/task")).status == (200 if lives else 401)
    assert (await db.read(authenticate, keys, others)) is not None
    response = await world.client("olga").get("/api/enrolment")
    assert (
        bool([record for record in response.json if record["created_by"] == "ada@acme.test"])
        is lives
    )
    rows = (await world.client("olga").get("/api/audit?action=token.revoke")).json
    assert bool([record for record in rows if record["before"] == {"name": "ci"}]) is not lives


# Links.


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_links_carry_the_configured_address(world: World, scheme: str) -> None:
    """Whatever the Host header says: the link is sent to another person."""
    forged = {
        "host": "evil.test",
        "x-forwarded-host": "evil.test",
        "forwarded": "host=evil.test",
    }
    ada = world.client("ada", headers=forged, scheme=scheme)
    member = (await ada.post("/api/member", {"user": {"email": "new@acme.test"}})).json
    reset = (await ada.post(f"/api/member/{world.actors.vic.member_id}/reset")).json
    for link in (member["invitation"]["link"], reset["link"]):
        assert link.startswith("http://belvedere.test/ui/link#bvl_")


async def test_without_a_configured_address_the_request_decides_nothing(world: World) -> None:
    world.runtime.settings.url = ""
    ada = world.client("ada", headers={"host": "evil.test"})
    member = (await ada.post("/api/member", {"user": {"email": "new@acme.test"}})).json
    assert member["invitation"]["link"].startswith("http://127.0.0.1:8420/ui/link#bvl_")
