"""The seven Webhook rows of interface.md, and what decisions.md section 6 adds to them."""

import json
import re
from typing import Any

import pytest

from contract import interface_fields
from contract.client import FORM, Client
from contract.world import World

MISSING = "0" * 24
JSON = {"content-type": "application/json"}
RECORD: dict[str, interface_fields.Kind] = {
    **dict.fromkeys(("id", "customer_id"), interface_fields.identifier),
    **dict.fromkeys(("name", "_type", "signature", "customer_name"), interface_fields.string),
    **dict.fromkeys(("tasks", "workflows"), interface_fields.array),
    "enable": interface_fields.boolean,
    "trigger_count": interface_fields.integer,
    "last_triggered": interface_fields.null_or(interface_fields.moment),
    "creation_date": interface_fields.moment,
    "last_update": interface_fields.moment,
}


def arguments(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "input", "label": f"a{n}", **more} for n in range(count)]


async def create_webhook(ada: Client, *tasks: str, **more: Any) -> Any:
    answer = await ada.post("/acme/webhook", {"name": "push", "tasks": list(tasks), **more})
    assert answer.status == 200, answer.body
    return answer.json


async def jobs(ada: Client) -> list[dict[str, Any]]:
    """Oldest first, with the values that they got."""
    response = await ada.get("/acme/job?include[task_arguments_values]=1")
    listed: list[dict[str, Any]] = response.json
    return list(reversed(listed))


async def secret_of(ada: Client, webhook_id: str) -> str:
    response: str = (await ada.get(f"/acme/webhook/{webhook_id}/credentials")).json["secret"]
    return response


# Create


async def test_a_webhook_is_created_and_listed(world: World, ada: Client, vic: Client) -> None:
    """POST, GET one and GET all."""
    task = await world.task()
    hook = await create_webhook(ada, task)
    assert interface_fields.missing(hook, RECORD) == []
    assert (hook["name"], hook["enable"], hook["tasks"]) == ("push", True, [task])
    assert (hook["_type"], hook["workflows"], hook["signature"]) == ("Webhook", [], "none")
    assert (hook["trigger_count"], hook["last_triggered"]) == (0, None)
    response = await vic.get(f"/acme/webhook/{hook['id']}")
    assert (response.status, response.json) == (200, hook)
    listed = await vic.get("/acme/webhook")
    assert (listed.status, listed.json) == (200, [hook])
    assert (await ada.get("/webhook?customer=acme")).json == [hook]


async def test_the_secret_is_in_no_record(ada: Client) -> None:
    hook = await create_webhook(ada)
    secret = await secret_of(ada, hook["id"])
    assert re.fullmatch("[0-9a-f]{64}", secret)
    await ada.post(f"/acme/webhook/{hook['id']}/trigger/secret/{secret}")
    for target in ("/acme/webhook", f"/acme/webhook/{hook['id']}/delivery", "/api/audit"):
        assert secret not in (await ada.get(target)).text


async def test_put_changes_it(world: World, ada: Client) -> None:
    webhook_id, two = sorted([await world.task("one"), await world.task("two")])
    hook = await create_webhook(ada, webhook_id)
    target = f"/acme/webhook/{hook['id']}"
    changed = await ada.put(target, {"name": "renamed", "tasks": [two, webhook_id, two]})
    assert changed.status == 200
    assert (changed.json["name"], changed.json["tasks"]) == ("renamed", [webhook_id, two])
    # Fields that are left out keep their values.
    changed = await ada.put(target, {"name": "again", "enable": False})
    assert (changed.json["enable"], changed.json["tasks"]) == (False, [webhook_id, two])
    assert (await ada.get(target)).json == changed.json
    refused = await ada.put(target, {"enable": True})
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "name")
    assert (await ada.patch(target, {"enable": True})).json["enable"] is True


async def test_a_record_can_be_sent_back_as_it_was_shown(world: World, ada: Client) -> None:
    hook = await create_webhook(ada, await world.task(), signature="github")
    assert (await ada.put(f"/acme/webhook/{hook['id']}", hook)).json == hook


async def test_a_stale_edit_is_refused(ada: Client) -> None:
    hook = await create_webhook(ada)
    target, old = f"/acme/webhook/{hook['id']}", {"if-match": "1"}
    assert (await ada.patch(target, {"name": "a"}, headers=old)).status == 200
    refused = await ada.put(target, {"name": "b"}, headers=old)
    assert (refused.status, refused.code) == (412, "stale")


async def test_delete_revokes_remote_access(world: World, ada: Client, anonymous: Client) -> None:
    task = await world.task()
    hook = await create_webhook(ada, task)
    secret = await secret_of(ada, hook["id"])
    target = f"/acme/webhook/{hook['id']}"
    gone = await ada.delete(target)
    assert (gone.status, gone.json) == (200, hook)
    for again in (await ada.get(target), await ada.delete(target), await ada.put(target, {})):
        assert (again.status, again.code) == (404, "webhook_not_found")
    refused = await anonymous.post(f"{target}/trigger/secret/{secret}", [])
    assert (refused.status, refused.code) == (403, "wrong_secret")
    assert (await ada.get(f"/acme/task/{task}")).json["triggers"] == []
    assert (await ada.get("/acme/webhook")).json == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x", "signature": "md5"}, "signature"),
        ({"name": "x", "tasks": [MISSING]}, "tasks[0]"),
        ({"name": "x", "tasks": ["a\x00b"]}, "tasks[0]"),
        ({"name": "x", "tasks": "all"}, "tasks"),
        ({"name": "x", "workflows": [MISSING]}, "workflows[0]"),
        ({"name": "x", "enable": "perhaps"}, "enable"),
        ({"name": "x", "tasks": [MISSING] * 0 + [f"{n:024x}" for n in range(101)]}, "tasks"),
    ],
)
async def test_invalid_input_is_named_and_creates_nothing(
    ada: Client, body: dict[str, Any], field: str
) -> None:
    refused = await ada.post("/acme/webhook", body)
    assert refused.status == 400
    assert refused.json["errors"][0]["field"] == field
    assert (await ada.get("/acme/webhook")).json == []


async def test_a_task_of_another_organization_is_not_found(world: World, ada: Client) -> None:
    theirs = await world.task(by="eve")
    refused = await ada.post("/acme/webhook", {"name": "x", "tasks": [theirs]})
    assert (refused.status, refused.json["errors"][0]["field"]) == (400, "tasks[0]")


async def test_attached_targets_are_visible_from_both_sides(world: World, ada: Client) -> None:
    task = await world.task()
    hook = await create_webhook(ada)
    event = f"webhook:{hook['id']}:trigger"
    changed = await ada.patch(f"/acme/task/{task}", {"triggers": [event]})
    assert changed.json["triggers"] == [event]
    assert (await ada.get(f"/acme/webhook/{hook['id']}")).json["tasks"] == [task]
    await ada.patch(f"/acme/webhook/{hook['id']}", {"tasks": []})
    assert (await ada.get(f"/acme/task/{task}")).json["triggers"] == []
    await ada.patch(f"/acme/webhook/{hook['id']}", {"tasks": [task]})
    assert (await ada.get(f"/acme/task/{task}")).json["triggers"] == [event]
    names = [(record["_type"], record["name"]) for record in (await ada.get("/acme/event")).json]
    assert ("WebhookEvent", "trigger") in names


async def test_a_task_that_a_webhook_runs_is_not_deleted(world: World, ada: Client) -> None:
    task = await world.task()
    hook = await create_webhook(ada, task)
    refused = await ada.delete(f"/acme/task/{task}")
    assert (refused.status, refused.code) == (409, "task_in_use")
    await ada.patch(f"/acme/webhook/{hook['id']}", {"tasks": []})
    assert (await ada.delete(f"/acme/task/{task}")).status == 200


# Trigger


async def test_an_admin_triggers_it(world: World, ada: Client) -> None:
    """POST /{customer}/webhook/{id}/trigger: everything attached runs."""
    webhook_id, two = sorted(
        [
            await world.task("one", task_arguments=arguments(2)),
            await world.task("two", task_arguments=arguments(1)),
        ]
    )
    hook = await create_webhook(ada, webhook_id, two)
    fired = await ada.post(f"/acme/webhook/{hook['id']}/trigger", ["x", 5])
    assert fired.status == 200
    actual_jobs = await jobs(ada)
    assert fired.json == {
        "message": "success",
        "jobs": [{"id": job["id"], "task_id": job["task_id"]} for job in actual_jobs],
    }
    assert [job["task_id"] for job in actual_jobs] == [webhook_id, two]
    values = {job["name"]: job["task_arguments_values"] for job in actual_jobs}
    assert values == {"one": ["x", "5"], "two": ["x"]}
    for job in actual_jobs:
        assert (job["lifecycle"], job["state"]) == ("ready", "in_progress")
        assert (job["origin"], job["user_id"]) == ("trigger_by", "")
        assert job["user"] == {"id": "", "username": "", "email": ""}
    after = (await ada.get(f"/acme/webhook/{hook['id']}")).json
    assert (after["trigger_count"], after["version"]) == (1, 1)
    assert interface_fields.moment(after["last_triggered"])


async def test_the_secret_triggers_it(world: World, ada: Client, anonymous: Client) -> None:
    """POST /{customer}/webhook/{id}/trigger/secret/{secret}."""
    task = await world.task(task_arguments=arguments(1))
    hook = await create_webhook(ada, task)
    secret = await secret_of(ada, hook["id"])
    target = f"/webhook/{hook['id']}/trigger/secret/{secret}"
    for path in (f"/acme{target}", f"{target}?customer=acme", f"{target}?customer=ACME"):
        fired = await anonymous.post(path, ["x"])
        assert fired.status == 200
        assert [job["task_id"] for job in fired.json["jobs"]] == [task]
    refused = await anonymous.post(target, ["x"])
    assert (refused.status, refused.code) == (400, "customer_required")
    assert len(await jobs(ada)) == 3


async def test_every_mismatch_is_one_and_the_same_refusal(world: World, ada: Client) -> None:
    hook, other = await create_webhook(ada), await create_webhook(ada, name="other")
    secret, task = await secret_of(ada, hook["id"]), await world.task()
    tasks_own = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    cases = [
        ("acme", hook["id"], "0" * 64),
        ("acme", hook["id"], secret[:-1]),
        ("acme", hook["id"], secret.upper()),
        ("acme", hook["id"], "%00"),
        ("acme", hook["id"], tasks_own),
        ("acme", other["id"], secret),
        ("acme", MISSING, secret),
        ("acme", task, tasks_own),
        ("globex", hook["id"], secret),
        ("nowhere", hook["id"], secret),
    ]
    items = []
    for n, (customer, webhook_id, value) in enumerate(cases):
        asker = world.client(address=f"198.51.100.{n}")
        target = f"/{customer}/webhook/{webhook_id}/trigger/secret/{value}"
        # A caller without the secret does not learn either what is wrong with the body.
        refused = await asker.post(target, raw=b"{", headers=JSON)
        assert refused.status == 403, (customer, webhook_id, value)
        items.append({**refused.json, "request_id": ""})
    assert all(item == items[0] for item in items)
    assert items[0]["code"] == "wrong_secret"
    assert (await ada.get(f"/acme/webhook/{hook['id']}/delivery")).json == []


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        (b'["a", 5, true, null, {"k": 1}, [1]]', ["a", "5", "true", "null", '{"k":1}', "[1]"]),
        (b'["\\"quoted\\"", "plain"]', ['"quoted"', "plain"]),
        (b"[1.0, 1e5, -0, 1e400, 9007199254740993]", None),
        (b'[0.1000000000000000055, 1E-7, -0.0, "007"]', None),
        (b'[{"b": [1.50, -0], "a": "\\u00e9\\/"}]', ['{"b":[1.50,-0],"a":"é/"}']),
        (b'["\\ud83d\\ude42", "\\t\\n"]', ["🙂", "\t\n"]),
        (b'{"k": 1}', ['{"k":1}']),
        (b'"x"', ["x"]),
        (b"5", ["5"]),
        (b"null", ["null"]),
        (b'  [ "a" ]  ', ["a"]),
        (b'["a", "ignored", "too"]', ["a"]),
    ],
)
async def test_each_element_becomes_text(
    world: World, ada: Client, raw: bytes, values: list[str] | None
) -> None:
    """interface.md's rules 1 to 3; numbers as they are written."""
    if values is None:
        values = [item.strip().strip('"') for item in raw.decode()[1:-1].split(",")]
    expected = 1 if b"ignored" in raw else len(values)
    hook = await create_webhook(ada, await world.task(task_arguments=arguments(expected)))
    fired = await ada.post(f"/acme/webhook/{hook['id']}/trigger", raw=raw, headers=JSON)
    assert fired.status == 200, fired.body
    (job,) = await jobs(ada)
    assert job["task_arguments_values"] == values


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"[", "malformed_json"),
        (b"[1,]", "malformed_json"),
        (b"[NaN]", "malformed_json"),
        (b"[Infinity]", "malformed_json"),
        (b'["\\ud800"]', "malformed_json"),
        (b'[{"k": "\\udc00"}]', "malformed_json"),
        (b'["\xff"]', "malformed_json"),
        (b'[{"k": 1, "k": 2}]', "duplicate_key"),
        (b'[{"o": {"k": 1, "k": 1}}]', "duplicate_key"),
        (b"[" * 101 + b"]" * 101, "malformed_json"),
        (b"[" * 100_000 + b"]" * 100_000, "malformed_json"),
        (b'["a\\u0000b"]', "bad_arguments"),
        (b'["' + b"x" * 200_000 + b'"]', "bad_arguments"),
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_an_invalid_delivery_is_refused(
    world: World, ada: Client, raw: bytes, code: str
) -> None:
    hook = await create_webhook(ada, await world.task(task_arguments=arguments(1)))
    refused = await ada.post(f"/acme/webhook/{hook['id']}/trigger", raw=raw, headers=JSON)
    assert (refused.status, refused.code) == (400, code)
    assert await jobs(ada) == []
    (delivery,) = (await ada.get(f"/acme/webhook/{hook['id']}/delivery")).json
    assert (delivery["verdict"], delivery["jobs"]) == (code, [])


async def test_a_depth_of_a_hundred_is_fine(world: World, ada: Client) -> None:
    hook = await create_webhook(ada, await world.task(task_arguments=arguments(1)))
    raw = b"[" * 100 + b"]" * 100
    fired = await ada.post(f"/acme/webhook/{hook['id']}/trigger", raw=raw, headers=JSON)
    assert fired.status == 200
    assert (await jobs(ada))[0]["task_arguments_values"] == ["[" * 99 + "]" * 99]


@pytest.mark.parametrize(
    ("kind", "raw", "values"),
    [
        ("", b'["x"]', ["x"]),
        ("application/vnd.api+json", b'["x"]', ["x"]),
        ("application/json; charset=utf-8", b'["x"]', ["x"]),
        ("text/plain", "grüße [1]".encode(), ["grüße [1]"]),
        (FORM, b"payload=%5B%22x%22%5D", ["x"]),
        (FORM, b"payload=%7B%22k%22%3A1.0%7D", ['{"k":1.0}']),
        (FORM, b"a=1&b=2&b=3", ['{"a":"1","b":["2","3"]}']),
    ],
)
async def test_other_encodings(
    world: World, ada: Client, kind: str, raw: bytes, values: list[str]
) -> None:
    hook = await create_webhook(ada, await world.task(task_arguments=arguments(1)))
    headers = {"content-type": kind} if kind else {}
    fired = await ada.post(f"/acme/webhook/{hook['id']}/trigger", raw=raw, headers=headers)
    assert fired.status == 200, fired.body
    assert (await jobs(ada))[0]["task_arguments_values"] == values


@pytest.mark.parametrize("kind", ["image/png", "multipart/form-data; boundary=x", FORM])
async def test_other_types_are_refused(ada: Client, kind: str) -> None:
    hook = await create_webhook(ada)
    refused = await ada.post(
        f"/acme/webhook/{hook['id']}/trigger", raw=b"[1]", headers={"content-type": kind}
    )
    assert refused.status == 415


async def test_no_body_is_no_arguments(world: World, ada: Client) -> None:
    hook = await create_webhook(ada, await world.task())
    assert len((await ada.post(f"/acme/webhook/{hook['id']}/trigger")).json["jobs"]) == 1


async def test_all_or_nothing(world: World, ada: Client) -> None:
    """Rule 5: when a task has arguments the request must supply them; else nothing runs."""
    modest = await world.task("modest")
    greedy = await world.task("greedy", task_arguments=arguments(2))
    hook = await create_webhook(ada, modest, greedy)
    refused = await ada.post(f"/acme/webhook/{hook['id']}/trigger", ["x"])
    assert (refused.status, refused.code) == (400, "missing_arguments")
    assert "'greedy'" in refused.json["message"] and greedy in refused.json["message"]
    (fault,) = refused.json["errors"]
    assert fault["field"] == f"tasks.{greedy}.task_arguments[1]"
    assert await jobs(ada) == []
    record = (await ada.get(f"/acme/webhook/{hook['id']}")).json
    assert (record["trigger_count"], record["last_triggered"]) == (0, None)
    assert (await ada.post(f"/acme/webhook/{hook['id']}/trigger", ["x", "y"])).status == 200
    assert len(await jobs(ada)) == 2


async def test_a_disabled_task_stops_all_of_them(world: World, ada: Client) -> None:
    hook = await create_webhook(
        ada, await world.task("good"), await world.task("off", enable=False)
    )
    refused = await ada.post(f"/acme/webhook/{hook['id']}/trigger", [])
    assert (refused.status, refused.code) == (409, "task_disabled")
    assert "'off'" in refused.json["message"]
    assert await jobs(ada) == []


async def test_a_disabled_webhook_starts_nothing(
    world: World, ada: Client, anonymous: Client
) -> None:
    hook = await create_webhook(ada, await world.task(), enable=False)
    secret = await secret_of(ada, hook["id"])
    target = f"/acme/webhook/{hook['id']}/trigger"
    for refused in (
        await ada.post(target, []),
        await anonymous.post(f"{target}/secret/{secret}", []),
    ):
        assert (refused.status, refused.code) == (409, "webhook_disabled")
    assert await jobs(ada) == []


async def test_with_nothing_attached_it_starts_nothing(ada: Client) -> None:
    hook = await create_webhook(ada)
    fired = await ada.post(f"/acme/webhook/{hook['id']}/trigger", [1])
    assert (fired.status, fired.json) == (200, {"message": "success", "jobs": []})
    assert (await ada.get(f"/acme/webhook/{hook['id']}")).json["trigger_count"] == 1


async def test_fixed_arguments_keep_their_place(world: World, ada: Client) -> None:
    """Index n is argument n of all definitions."""
    fixed = {"type": "fixed", "label": "f", "value": "mine"}
    task = await world.task(task_arguments=[*arguments(1), fixed, *arguments(1)])
    hook = await create_webhook(ada, task)
    await ada.post(f"/acme/webhook/{hook['id']}/trigger", ["a", "theirs", "c"])
    assert (await jobs(ada))[0]["task_arguments_values"] == ["a", "mine", "c"]


async def test_a_body_over_the_limit_is_refused(ada: Client) -> None:
    hook = await create_webhook(ada)
    raw = json.dumps(["x" * (1 << 20)]).encode()
    refused = await ada.post(f"/acme/webhook/{hook['id']}/trigger", raw=raw, headers=JSON)
    assert (refused.status, refused.code) == (413, "too_large")


# Who may do it


async def test_levels(world: World, ada: Client) -> None:
    hook = await create_webhook(ada)
    target = f"/acme/webhook/{hook['id']}"
    requests = [
        ("POST", "/acme/webhook", {"name": "x"}),
        ("PUT", target, {"name": "x"}),
        ("PATCH", target, {"name": "x"}),
        ("DELETE", target, {}),
        ("POST", f"{target}/trigger", []),
        ("GET", f"{target}/credentials", {}),
        ("POST", f"{target}/credentials/rotate", {}),
        ("GET", f"{target}/delivery", {}),
        ("GET", f"{target}/delivery/{MISSING}", {}),
        ("POST", f"{target}/delivery/{MISSING}/replay", {}),
    ]
    for who in ("max", "uma", "vic", "web-1", ""):
        for method, path, body in requests:
            refused = await world.client(who).request(method, path, body)
            assert refused.status == (401 if who == "" else 403), (who, method, path)
    for who, status in (("vic", 200), ("uma", 200), ("web-1", 403), ("", 401)):
        assert (await world.client(who).get(target)).status == status
    assert (await ada.get("/acme/webhook")).json == [hook]


async def test_another_organization_finds_nothing(ada: Client, eve: Client) -> None:
    hook = await create_webhook(ada)
    await ada.post(f"/acme/webhook/{hook['id']}/trigger", [])
    (delivery,) = (await ada.get(f"/acme/webhook/{hook['id']}/delivery")).json
    for method, rest, body in (
        ("GET", "", {}),
        ("PUT", "", {"name": "x"}),
        ("PATCH", "", {"name": "x"}),
        ("DELETE", "", {}),
        ("POST", "/trigger", []),
        ("GET", "/credentials", {}),
        ("POST", "/credentials/rotate", {}),
        ("GET", "/delivery", {}),
        ("GET", f"/delivery/{delivery['id']}", {}),
        ("POST", f"/delivery/{delivery['id']}/replay", {}),
    ):
        for webhook_id in (hook["id"], MISSING):
            answer = await eve.request(method, f"/globex/webhook/{webhook_id}{rest}", body)
            assert (answer.status, answer.code) == (404, "webhook_not_found"), rest
    assert (await eve.get("/globex/webhook")).json == []


async def test_changes_are_audited(world: World, ada: Client) -> None:
    task = await world.task()
    hook = await create_webhook(ada)
    target = f"/acme/webhook/{hook['id']}"
    await ada.patch(target, {"tasks": [task]})
    await ada.get(f"{target}/credentials")
    await ada.delete(target)
    rows = (await ada.get(f"/api/audit?object_id={hook['id']}")).json
    assert [row["action"] for row in reversed(rows)] == [
        "webhook.create",
        "webhook.change",
        "webhook.reveal_secret",
        "webhook.delete",
    ]
    assert (rows[2]["before"]["tasks"], rows[2]["after"]["tasks"]) == ([], [task])
