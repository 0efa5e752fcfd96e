"""Workflows: create, change, delete and show them, their keys and their ACL."""

import json
from typing import Any

import pytest

from contract import interface_fields
from contract.client import Client
from contract.flowing import create_workflow, run, secret_of
from contract.world import World

MISSING = "0" * 24
RECORD: dict[str, interface_fields.Kind] = {
    "id": interface_fields.identifier,
    **dict.fromkeys(
        ("_type", "name", "description", "start", "customer_name"), interface_fields.string
    ),
    **dict.fromkeys(("enable", "multitasking"), interface_fields.boolean),
    **dict.fromkeys(("acl", "tags", "triggers", "tasks"), interface_fields.array),
    **dict.fromkeys(("creation_date", "last_update"), interface_fields.moment),
    "start_task_id": interface_fields.identifier,
    "customer_id": interface_fields.identifier,
    "version": interface_fields.integer,
    "expires": interface_fields.integer,
}


async def test_a_workflow_is_created(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada, tags=["blue"], description="Ships it.")
    assert interface_fields.missing(flow, RECORD) == []
    assert (flow["_type"], flow["start"], flow["version"]) == ("Workflow", "a", 1)
    assert (flow["enable"], flow["multitasking"]) == (True, True)
    assert flow["graph"]["edges"] == [{"source": "a", "target": "b", "on": "success"}]
    assert [task["name"] for task in flow["tasks"]] == ["a", "b"]
    for target in (f"/acme/workflows/{flow['id']}", f"/workflows/{flow['id']}?customer=acme"):
        assert (await ada.get(target)).json == flow
    assert (await ada.get(f"/acme/workflows/{flow['id']}/graph")).json == flow["graph"]
    assert "secret" not in str(flow)


async def test_the_list_is_narrowed_sorted_and_counted(world: World, ada: Client) -> None:
    first, second = (
        await create_workflow(world, ada),
        await create_workflow(world, ada, name="nightly", enable=False),
    )
    assert (await ada.get("/acme/workflows")).json == [first, second]
    assert (await ada.get("/workflows?customer=acme&where[name]=nightly")).json == [second]
    assert (await ada.get("/acme/workflows?where[enable]=true")).json == [first]
    assert (await ada.get("/acme/workflows?where[acl]=uma@acme.test")).json == [first, second]
    assert (await ada.get("/acme/workflows?sort[name]=1&limit=1")).json == [second]
    counted = await ada.get("/acme/workflows?count=true&limit=1")
    assert counted.headers["x-total-count"] == "2"
    assert (await ada.get("/acme/workflows?where[color]=x")).status == 400


async def test_only_members_of_the_acl_see_a_workflow(
    world: World, ada: Client, uma: Client, vic: Client, eve: Client
) -> None:
    flow = await create_workflow(world, ada, acl=["uma"])
    target = f"/acme/workflows/{flow['id']}"
    assert (await uma.get(target)).json["acl"] == []
    assert (await world.client("max").get(target)).json["acl"] == ["uma@acme.test"]
    assert [(await vic.get(target)).status, (await vic.get("/acme/workflows")).json] == [404, []]
    assert (await vic.get(f"{target}/graph")).status == 404
    assert (await eve.get(f"/globex/workflows/{flow['id']}")).status == 404
    assert (await eve.get(target)).status == 403


def _flow(nodes: list[Any], edges: list[Any], **more: Any) -> dict[str, Any]:
    return {"name": "x", "graph": {"nodes": nodes, "edges": edges}, **more}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"graph": {}}, "name"),
        ({"name": "x"}, "graph.nodes"),
        (_flow([{"id": "a", "task_id": MISSING}], []), "graph.nodes[0].task_id"),
        (_flow([{"id": "a", "task_id": "x"}], []), "graph.nodes[0].task_id"),
        (_flow([{"id": "a", "task_id": "{task}"}], [], start="b"), "start"),
        (
            _flow([{"id": "a", "task_id": "{task}"}], [{"source": "a", "target": "a"}]),
            "graph.edges",
        ),
        (
            _flow([{"id": n, "task_id": "{task}"} for n in "ab"], [], start="a"),
            "graph.nodes[1]",
        ),
        (_flow([{"id": "a", "task_id": "{task}"}], [], expires=1), "expires"),
        (_flow([{"id": "a", "task_id": "{task}"}], [], name="\n"), "name"),
        (_flow([{"id": "a", "task_id": "{task}"}], [], triggers=["x"]), "triggers[0]"),
        (_flow([{"id": "a", "task_id": "{task}"}], [], acl=["nobody"]), "users[0]"),
    ],
)
async def test_an_invalid_workflow_is_refused_with_its_field(
    world: World, ada: Client, body: dict[str, Any], field: str
) -> None:
    task = await world.task()
    text = json.dumps(body).replace("{task}", task)
    refused = await ada.post("/acme/workflows", json.loads(text))
    assert refused.status == 400, refused.body
    assert field in [fault["field"] for fault in refused.json["errors"]]
    assert (await ada.get("/acme/workflows")).json == []


@pytest.mark.parametrize("join", ["some", 1, None])
async def test_a_body_of_another_shape_is_refused(world: World, ada: Client, join: Any) -> None:
    nodes = [{"id": "a", "task_id": await world.task(), "join": join}]
    assert (await ada.post("/acme/workflows", _flow(nodes, []))).status == 400


async def test_a_task_of_another_organization_is_not_found(world: World, ada: Client) -> None:
    theirs = await world.task(by="eve")
    refused = await ada.post("/acme/workflows", _flow([{"id": "a", "task_id": theirs}], []))
    assert (refused.status, refused.code) == (400, "invalid_workflow")


async def test_a_workflow_is_changed_partially_or_replaced(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada, description="old", tags=["blue"])
    target = f"/acme/workflows/{flow['id']}"
    part = (await ada.patch(target, {"enable": False})).json
    assert (part["enable"], part["description"], part["version"]) == (False, "old", 2)
    assert (await ada.patch(target, {"enable": False})).json["version"] == 2
    record = (await ada.put(target, {"name": "new", "graph": flow["graph"]})).json
    assert (record["name"], record["description"], record["tags"]) == ("new", "", [])
    assert (record["enable"], record["acl"]) == (True, flow["acl"])
    assert (await ada.put(target, {"name": "new"})).status == 400
    assert (await ada.put(target, {"graph": flow["graph"]})).status == 400


async def test_a_stale_edit_is_refused(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    target = f"/acme/workflows/{flow['id']}"
    stale = await ada.patch(target, {"name": "x"}, headers={"if-match": "7"})
    assert (stale.status, stale.code) == (412, "stale")
    assert (await ada.patch(target, {"name": "x"}, headers={"if-match": "1"})).status == 200


async def test_a_smaller_graph_begins_where_it_can(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    graph = {"nodes": flow["graph"]["nodes"][1:], "edges": []}
    changed = await ada.patch(f"/acme/workflows/{flow['id']}", {"graph": graph})
    assert changed.json["start"] == "b"


async def test_a_deleted_workflow_keeps_its_tasks(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    target = f"/acme/workflows/{flow['id']}"
    secret = await secret_of(ada, flow)
    assert (await ada.delete(target)).json["id"] == flow["id"]
    for method, path in (("GET", target), ("DELETE", target), ("POST", f"{target}/job")):
        answer = await ada.request(method, path)
        assert (answer.status, answer.code) == (404, "workflow_not_found")
    dead = await world.client().post(f"/workflows/{flow['id']}/secret/{secret}/job?customer=acme")
    assert dead.status == 403
    assert len((await ada.get("/acme/task")).json) == 2


async def test_a_task_that_it_runs_cannot_be_deleted(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    task = flow["graph"]["nodes"][1]["task_id"]
    refused = await ada.delete(f"/acme/task/{task}")
    assert (refused.status, refused.code) == (409, "task_in_use")
    assert flow["id"] in refused.json["message"]
    await ada.delete(f"/acme/workflows/{flow['id']}")
    assert (await ada.delete(f"/acme/task/{task}")).status == 200


async def test_a_workflow_that_a_webhook_runs_cannot_be_deleted(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    body = {"name": "push", "workflows": [flow["id"]]}
    hook = (await ada.post("/acme/webhook", body)).json
    assert hook["workflows"] == [flow["id"]]
    target = f"/acme/workflows/{flow['id']}"
    assert (await ada.get(target)).json["triggers"] == [f"webhook:{hook['id']}:trigger"]
    refused = await ada.delete(target)
    assert (refused.status, refused.code) == (409, "workflow_in_use")
    await ada.delete(f"/acme/webhook/{hook['id']}")
    assert (await ada.delete(target)).status == 200


async def test_the_secret_key_of_a_workflow_is_read_and_changed_by_admins(
    world: World, ada: Client
) -> None:
    flow = await create_workflow(world, ada)
    target = f"/acme/workflows/{flow['id']}/credentials"
    secret = await secret_of(ada, flow)
    assert len(secret) == 64
    changed = (await ada.post(f"{target}/rotate", {})).json
    assert changed["id"] == flow["id"] and changed["secret"] != secret
    assert (await ada.get(target)).json == changed
    assert (await ada.post(f"{target}/rotate", {"overlap": -1})).status == 400
    rows = (await ada.get(f"/api/audit?object_id={flow['id']}")).json
    assert {"workflow.reveal_secret", "workflow.rotate_secret"} <= {r["action"] for r in rows}


async def test_the_four_rows_of_its_acl(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada, acl=[])
    max_ = world.client("max")
    target = f"/workflows/{flow['id']}/acl?customer=acme"
    uma, vic = "uma@acme.test", "vic@acme.test"
    assert (await max_.get(target)).json == {"users": [], "acl": [], "pending": []}
    put = await max_.put(target, {"users": ["uma"]})
    assert put.json == {"users": [uma], "acl": [uma], "pending": []}
    added = await max_.patch(target, {"users": [vic], "action": "add"})
    assert added.json["users"] == [uma, vic]
    removed = await max_.patch(target, {"users": [uma], "action": "remove"})
    assert removed.json["users"] == [vic]
    assert (await max_.put(target, {})).status == 400
    assert (await max_.put(target, {"users": ["nobody"]})).status == 400
    assert (await max_.delete(target)).json == {"users": [], "acl": [], "pending": []}
    assert (await max_.get(f"/workflows/{MISSING}/acl?customer=acme")).status == 404
    assert (await world.client("uma").get(target)).status == 403


async def test_the_acl_of_a_workflow_covers_its_tasks_and_jobs(
    world: World, ada: Client, uma: Client
) -> None:
    tasks = [await world.task(name, acl=[]) for name in "ab"]
    graph = {
        "nodes": [{"id": n, "task_id": t} for n, t in zip("ab", tasks, strict=True)],
        "edges": [{"source": "a", "target": "b"}],
    }
    flow = await create_workflow(world, ada, graph=graph, acl=["uma"])
    job = await run(uma, flow)
    steps = (await uma.get(f"/acme/workflows/{flow['id']}/job/{job['id']}/jobs")).json
    assert [step["task_id"] for step in steps] == [tasks[0]]
    assert (await uma.post("/acme/job", {"task": tasks[0]})).status == 404


async def test_changes_are_audited_and_written_as_events(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    await ada.patch(f"/acme/workflows/{flow['id']}", {"enable": False})
    await ada.delete(f"/acme/workflows/{flow['id']}")
    rows = (await ada.get(f"/api/audit?object_id={flow['id']}")).json
    assert [row["action"] for row in reversed(rows)] == [
        "workflow.create",
        "workflow.acl",
        "workflow.change",
        "workflow.delete",
    ]
    kinds = world.runtime.db.write_blocking(
        lambda tx: tx.rows("select kind from events where object_id = ? order by id", flow["id"])
    )
    assert [kind for (kind,) in kinds] == [
        "workflow.created",
        "workflow.acl_changed",
        "workflow.changed",
        "workflow.deleted",
    ]
