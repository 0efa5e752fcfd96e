"""Layouts of the dashboard: each person's own, and one for everyone else."""

from typing import Any

import pytest

from contract.client import Client
from contract.world import World

PAGE = "/view/layout/dashboard"
CARDS = [{"card": "jobs", "size": "full", "hidden": False}]
OTHERS = [{"card": "hosts", "size": "half", "hidden": True}]


async def test_a_layout_is_saved(uma: Client) -> None:
    assert (await uma.get(PAGE)).json == {"page": "dashboard", "own": None, "shared": None}
    saved = await uma.put(PAGE, {"cards": CARDS})
    assert saved.json == {"page": "dashboard", "own": CARDS, "shared": None}
    assert (await uma.put(PAGE, {"cards": OTHERS})).json["own"] == OTHERS
    assert (await uma.delete(PAGE)).json["own"] is None


async def test_a_layout_is_private_unless_it_is_shared(
    world: World, uma: Client, vic: Client, eve: Client
) -> None:
    await uma.put(PAGE, {"cards": CARDS})
    assert (await vic.get(PAGE)).json["own"] is None
    await world.client("max").put(PAGE, {"cards": OTHERS, "shared": True})
    assert (await vic.get(PAGE)).json == {"page": "dashboard", "own": None, "shared": OTHERS}
    assert (await uma.get(PAGE)).json["own"] == CARDS
    assert (await eve.get(PAGE)).json["shared"] is None


async def test_only_a_manager_changes_the_shared_layout(world: World, uma: Client) -> None:
    max_ = world.client("max")
    await max_.put(PAGE, {"cards": CARDS, "shared": True})
    assert (await uma.put(PAGE, {"cards": OTHERS, "shared": True})).code == "level"
    assert (await uma.delete(f"{PAGE}?shared=true")).code == "level"
    assert (await uma.get(PAGE)).json["shared"] == CARDS
    assert (await max_.delete(f"{PAGE}?shared=true")).json["shared"] is None
    rows = (await world.client("ada").get("/api/audit?action=layout.change")).json
    assert len(rows) == 2


@pytest.mark.parametrize(
    "cards",
    [
        [{"card": "Jobs"}],
        [{"card": "jobs"}, {"card": "jobs"}],
        [{"card": f"card-{n}"} for n in range(31)],
        [{"card": "jobs", "size": "huge"}],
    ],
)
async def test_an_invalid_layout_is_refused(uma: Client, cards: list[dict[str, Any]]) -> None:
    assert (await uma.put(PAGE, {"cards": cards})).status == 400
