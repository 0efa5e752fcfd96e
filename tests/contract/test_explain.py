"""GET /access/explain: who may see and run something, and why."""

from typing import Any

import pytest

from contract.client import Client
from contract.world import World


def by_name(item: Any) -> dict[str, Any]:
    return {member["username"]: member for member in item["members"]}


async def test_the_report_lists_the_rights_of_each_member(world: World, ada: Client) -> None:
    task = await world.task(acl=["uma", "vic"])
    record = (await ada.get(f"/acme/access/explain?object=task&id={task}")).json
    assert (record["object"], record["name"], len(record["acl"])) == ("task", "echo", 2)
    people = by_name(record)
    rights = {name: (value["sees"], value["runs"]) for name, value in people.items()}
    assert rights["ada"] == rights["olga"] == (True, True)
    assert rights["max"] == (True, False)
    assert (rights["uma"], rights["vic"]) == ((True, True), (True, False))
    assert people["uma"]["by"] == ["uma@acme.test"]
    assert (
        "names uma@acme.test" in people["uma"]["why"]
        and "cannot run anything" in people["vic"]["why"]
    )
    assert "everything" in people["ada"]["why"]


async def test_the_access_report_agrees_with_the_permissions(world: World, ada: Client) -> None:
    """For every member: the list shows the object, and a run is accepted, exactly where the report
    says so."""
    task = await world.task(acl=["uma"])
    people = by_name((await ada.get(f"/access/explain?customer=acme&object=task&id={task}")).json)
    for name in ("vic", "uma", "max", "ada", "olga"):
        client = world.client(name)
        listed = [record["id"] for record in (await client.get("/acme/task")).json]
        assert (task in listed) is people[name]["sees"], name
        ran = await client.post("/acme/job", {"task": task})
        assert (ran.status == 200) is people[name]["runs"], name


async def test_the_report_can_be_limited_to_one_member(world: World, ada: Client) -> None:
    response = await ada.post("/acme/monitor", {"name": "x", "type": "push"})
    target = f"/acme/access/explain?object=monitor&id={response.json['id']}"
    for user in ("vic", "VIC@acme.test", world.actors.vic.user_id):
        (item,) = (await ada.get(f"{target}&user={user}")).json["members"]
        assert (item["username"], item["sees"], item["runs"]) == ("vic", True, False)
        assert "everyone sees it" in item["why"]
    assert (await ada.get(f"{target}&user=nobody")).code == "member_not_found"


@pytest.mark.parametrize("query", ["", "?object=host", "?object=task&id=", "?object=task&id=x"])
async def test_unknown_members_and_objects_are_refused(ada: Client, query: str) -> None:
    answer = await ada.get(f"/acme/access/explain{query}")
    assert answer.status == (404 if "id=" in query else 400)


async def test_only_managers_see_the_access_report(world: World, uma: Client, eve: Client) -> None:
    task = await world.task()
    assert (await uma.get(f"/acme/access/explain?object=task&id={task}")).status == 403
    assert (await eve.get(f"/globex/access/explain?object=task&id={task}")).status == 404
    max_ = world.client("max")
    assert (await max_.get(f"/acme/access/explain?object=task&id={task}")).status == 200
