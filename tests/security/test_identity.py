"""Who proved what, where and in which order: a password gives access only to what was accepted with
it."""

import itertools

import pytest

from belvedere import events
from belvedere.server.notices import mails
from contract.client import Client
from contract.world import World
from security.story import OWN, THEIRS, VICTIM, UserSteps, plain_passwords

__all__ = ["plain_passwords"]

pytestmark = pytest.mark.usefixtures("plain_passwords")
_NUMBERS = itertools.cycle(range(256))
LOGIN = "/api/auth/login"


async def organizations_of(world: World, password: str) -> set[str]:
    """The organizations to which the password gives access, named or not, and those reached from
    there. From other addresses each time: the limit of wrong attempts is tested elsewhere."""
    result = set()
    for customer in (None, "acme", "globex", "initech"):
        body = {"email": VICTIM, "password": password, "customer": customer}
        done = await world.client(address=f"198.51.{next(_NUMBERS)}.1").post(LOGIN, body)
        if done.status == 200 and "access_token" in done.json:
            result |= await reachable_organizations(world, done.json["access_token"])
    return result


async def reachable_organizations(world: World, token: str) -> set[str]:
    """Where a session is, and where it can go."""
    client = Client(world.app, token)
    profile = await client.get("/api/session/profile")
    if profile.status != 200:
        return set()
    names = {profile.json["current_customer"]["name"]}
    for customer_id, name in await world.runtime.db.read(
        lambda tx: tx.rows("select id, name from customers")
    ):
        moved = await Client(world.app, token).put(f"/api/session/customer/{customer_id}")
        if moved.status == 200:
            names.add(name)
            token = moved.json["access_token"]
    return names


# The steps, then what Eve's password gives access to, then what the victim's does.
MATRIX = [
    ("claim_invitation", "globex", ""),
    # Another organization accepts the person: Eve's password gets no access there.
    ("claim_invitation provider", "globex", ""),
    ("claim_invitation invited_and_provider", "globex", ""),
    ("claim_invitation operator", "globex", ""),
    ("claim_invitation operator operator_link", "globex", "initech"),
    ("claim_invitation operator_admits", "globex", "acme"),
    ("claim_invitation accept_shown_link", "globex", "acme"),
    ("claim_invitation accept_mailed_link", "globex", "acme"),
    ("claim_invitation guard accept_mailed_link", "", "acme"),
    ("claim_invitation guard operator operator_link", "", "initech"),
    # In the opposite order.
    ("provider claim_invitation", "globex", ""),
    ("invited_and_provider claim_invitation", "globex", ""),
    ("operator claim_invitation", "globex", ""),
    ("operator operator_link claim_invitation", "globex", "initech"),
    ("operator_admits claim_invitation", "globex", "acme"),
    ("accept_shown_link claim_invitation", "globex", "acme"),
    ("accept_mailed_link claim_invitation", "globex", "acme"),
    # Provider and operator after each other, with Eve in between.
    ("provider claim_invitation operator operator_link", "globex", "initech"),
    ("operator claim_invitation provider operator_link", "globex", "initech"),
    ("squat_by_provider operator_admits", "", "acme"),
    ("squat_by_provider accept_mailed_link", "", "acme"),
    # One account for two organizations, only with its own proof.
    ("operator operator_link shown_account", "", "initech acme"),
    ("operator_admits operator", "", "acme initech"),
    ("accept_mailed_link operator", "", "acme initech"),
    ("claim_invitation accept_mailed_link operator", "globex", "acme initech"),
    # A link that an admin was shown sets a password for that organization only.
    ("provider reset_shown operator", "", "acme"),
    ("operator_admits reset_shown operator", "", "acme"),
    ("accept_shown_link operator", "", "acme"),
    # Removed, and invited again.
    ("claim_invitation remove_member", "", ""),
    ("claim_invitation remove_member claim_invitation", "globex", ""),
    ("claim_invitation remove_member operator operator_link", "", "initech"),
    ("claim_invitation remove_member provider", "", ""),
]


@pytest.mark.parametrize(("steps", "theirs", "own"), MATRIX, ids=[row[0] for row in MATRIX])
async def test_a_password_gives_access_to_organizations_accepted_with_it(
    world: World, steps: str, theirs: str, own: str
) -> None:
    story = UserSteps(world)
    await story.play(steps)
    assert await organizations_of(world, THEIRS) == set(theirs.split())
    assert await organizations_of(world, OWN) == set(own.split())
    for token in story.held:
        assert await reachable_organizations(world, token) <= {"globex"}


async def test_a_mailed_invitation_proves_the_address(world: World) -> None:
    """Through the outbox, as the server itself writes it."""
    story = UserSteps(world)
    await story.claim_invitation()
    await story._invite("ada", "admin")
    world.runtime.settings.mail = "mailtos://relay.test"
    text = await world.runtime.db.read(events.after, 0, 0)
    await world.runtime.db.write(mails.write, world.runtime, text[-1:])
    proofs = await world.runtime.db.read(
        lambda tx: tx.rows("select proof from links where used_at is null order by proof")
    )
    assert proofs == [("mail",), ("shown",)]
