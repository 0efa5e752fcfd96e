"""Who proved what, where and in which order: a password opens only what was accepted with it."""

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
    """The organizations that the password opens, named or not, and those reached from there. From
    other addresses each time: how often one may be wrong is tested elsewhere."""
    found = set()
    for customer in (None, "acme", "globex", "initech"):
        body = {"email": VICTIM, "password": password, "customer": customer}
        done = await world.client(address=f"198.51.{next(_NUMBERS)}.1").post(LOGIN, body)
        if done.status == 200 and "access_token" in done.json:
            found |= await reachable_organizations(world, done.json["access_token"])
    return found


async def reachable_organizations(world: World, token: str) -> set[str]:
    """Where a session is, and where it can go."""
    client = Client(world.app, token)
    profile = await client.get("/api/session/profile")
    if profile.status != 200:
        return set()
    found = {profile.json["current_customer"]["name"]}
    for customer_id, name in await world.runtime.db.read(
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
