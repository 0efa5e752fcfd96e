"""POST /script/check."""

from contract.client import Client
from contract.world import World


async def test_a_syntax_error_is_reported_with_its_line(ada: Client) -> None:
    response = await ada.post("/acme/script/check", {"source": "x = (", "filename": "a.py"})
    assert response.status == 200, response.body
    assert response.json["faults"][0]["line"] == 1


async def test_only_who_edits_scripts_checks_them(world: World) -> None:
    refused = await world.client("max").post("/script/check", {"source": "", "filename": "a.txt"})
    assert refused.code == "level"


async def test_a_script_check_needs_a_source(ada: Client) -> None:
    assert (await ada.post("/script/check", {"filename": "a.py"})).code == "invalid_body"
    assert (await ada.post("/script/check", {"source": 5})).code == "invalid_body"
