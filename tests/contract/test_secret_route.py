"""POST /job/secret/{secret}: every encoding, and the same refusal for every invalid request."""

from urllib.parse import quote, urlencode

import pytest

from contract import interface_fields
from contract.client import FORM, Client
from contract.world import World

TWO = [{"type": "input", "label": "a"}, {"type": "input", "label": "b"}]
FORM_TYPE = {"content-type": FORM}


@pytest.fixture
def secret_task(world: World, ada: Client) -> "TaskWithSecret":
    return TaskWithSecret(world, ada)


class TaskWithSecret:
    """A task of two arguments with its secret."""

    def __init__(self, world: World, ada: Client) -> None:
        self._world, self._ada = world, ada
        self.task = self.secret = ""

    async def create(self) -> "TaskWithSecret":
        self.task = await self._world.task(task_arguments=TWO)
        response = await self._ada.get(f"/acme/task/{self.task}/credentials")
        self.secret = response.json["secret"]
        return self

    def target(self, *pairs: tuple[str, str]) -> str:
        return f"/job/secret/{self.secret}?{urlencode(pairs)}"


async def test_a_job_is_created_with_the_secret_of_its_task(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    """application/json: the arguments in the body, customer and task in the query."""
    await secret_task.create()
    target = secret_task.target(("customer", "acme"), ("task", secret_task.task))
    response = await anonymous.post(target, {"task_arguments": ["x y", "é"]})
    assert response.status == 200
    assert (response.json["lifecycle"], response.json["state"]) == ("ready", "in_progress")
    assert response.json["task_arguments_values"] == ["x y", "é"]
    without_user = {**interface_fields.CREATED, "user_id": interface_fields.string}
    assert interface_fields.missing(response.json, without_user) == []


async def test_everything_may_be_in_the_json_body(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    await secret_task.create()
    body = {"task": secret_task.task, "customer": "acme", "task_arguments": ["x", "y"]}
    assert (await anonymous.post(f"/job/secret/{secret_task.secret}", body)).status == 200


async def test_a_form_repeats_task_arguments(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    """application/x-www-form-urlencoded: task_arguments once per argument."""
    await secret_task.create()
    raw = urlencode([("task_arguments", "x y"), ("task_arguments", "é&=")]).encode()
    target = secret_task.target(("customer", "acme"), ("task", secret_task.task))
    response = await anonymous.post(target, raw=raw, headers=FORM_TYPE)
    assert response.json["task_arguments_values"] == ["x y", "é&="]


async def test_the_query_repeats_task_arguments_with_brackets(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    """No body: the repeated query parameter task_arguments[], plus customer and task."""
    await secret_task.create()
    items = [("task_arguments[]", "x y"), ("task_arguments[]", "é&=")]
    response = await anonymous.post(
        secret_task.target(("customer", "acme"), ("task", secret_task.task), *items)
    )
    assert response.json["task_arguments_values"] == ["x y", "é&="]


async def test_an_html_form_has_hidden_fields(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    """Hidden fields customer, task and task_arguments[] (repeated)."""
    await secret_task.create()
    fields = [("customer", "acme"), ("task", secret_task.task)]
    fields += [("task_arguments[]", "x"), ("task_arguments[]", "y")]
    browser = {**FORM_TYPE, "origin": "https://elsewhere.test", "sec-fetch-site": "cross-site"}
    raw = urlencode(fields).encode()
    response = await anonymous.post(f"/job/secret/{secret_task.secret}", raw=raw, headers=browser)
    assert response.status == 200
    assert response.json["task_arguments_values"] == ["x", "y"]


async def test_the_organization_may_be_in_the_path(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    await secret_task.create()
    body = {"task": secret_task.task, "task_arguments": ["x", "y"]}
    assert (await anonymous.post(f"/acme/job/secret/{secret_task.secret}", body)).status == 200


async def test_the_job_has_no_user(secret_task: TaskWithSecret, anonymous: Client) -> None:
    await secret_task.create()
    body = {"task": secret_task.task, "customer": "acme", "task_arguments": ["x", "y"]}
    job = (await anonymous.post(f"/job/secret/{secret_task.secret}", body)).json
    assert job["user"] == {"id": "", "username": "", "email": ""} and job["user_id"] == ""
    assert job["origin"] == "secret"


async def test_the_organization_is_required(secret_task: TaskWithSecret, anonymous: Client) -> None:
    await secret_task.create()
    refused = await anonymous.post(
        secret_task.target(("task", secret_task.task)), {"task_arguments": ["x", "y"]}
    )
    assert (refused.status, refused.code) == (400, "customer_required")


async def test_the_task_is_required(secret_task: TaskWithSecret, anonymous: Client) -> None:
    await secret_task.create()
    refused = await anonymous.post(secret_task.target(("customer", "acme")), {})
    assert (refused.status, refused.code) == (400, "task_required")


async def test_every_mismatch_is_one_and_the_same_refusal(
    secret_task: TaskWithSecret, world: World, anonymous: Client, ada: Client
) -> None:
    await secret_task.create()
    other, theirs = await world.task("other"), await world.task(by="eve")
    deleted = await world.task("deleted")
    await ada.delete(f"/acme/task/{deleted}")
    disabled = await world.task("disabled", enable=False)
    cases = [
        (quote("0" * 64), "acme", secret_task.task),
        (secret_task.secret[:-1], "acme", secret_task.task),
        (secret_task.secret.upper(), "acme", secret_task.task),
        ("%00", "acme", secret_task.task),
        (quote("é" * 10), "acme", secret_task.task),
        (secret_task.secret, "globex", secret_task.task),
        (secret_task.secret, "nowhere", secret_task.task),
        (secret_task.secret, "a%20b", secret_task.task),
        (secret_task.secret, "acme", other),
        (secret_task.secret, "acme", theirs),
        (secret_task.secret, "acme", deleted),
        (secret_task.secret, "acme", disabled),
        (secret_task.secret, "acme", "0" * 24),
        (secret_task.secret, "acme", "nonsense"),
        (secret_task.secret, "acme", "%00"),
    ]
    items = []
    for n, (secret, customer, task) in enumerate(cases):
        asker = world.client(address=f"198.51.100.{n}")
        target = f"/job/secret/{secret}?customer={customer}&task={task}"
        refused = await asker.post(target, {"task_arguments": ["x", "y"]})
        assert refused.status == 403, (secret, customer, task)
        items.append({**refused.json, "request_id": ""})
    assert all(item == items[0] for item in items)
    assert items[0]["code"] == "wrong_secret"
    assert (await ada.get("/acme/job")).json == []


async def test_a_valid_secret_gets_a_detailed_error(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    await secret_task.create()
    target = secret_task.target(("customer", "acme"), ("task", secret_task.task))
    refused = await anonymous.post(target, {"task_arguments": ["x"]})
    assert (refused.status, refused.code) == (400, "missing_arguments")


async def test_no_credential_counts_there(
    secret_task: TaskWithSecret, world: World, ada: Client
) -> None:
    await secret_task.create()
    cookie = {"cookie": f"belvedere={world.actors.tokens['ada']}"}
    target = f"/job/secret/{'0' * 64}?customer=acme&task={secret_task.task}"
    refused = await world.client().post(target, {"task_arguments": ["x", "y"]}, headers=cookie)
    assert refused.status == 403
    assert (await ada.post(target, {"task_arguments": ["x", "y"]})).status == 403


async def test_body_and_query_that_disagree_are_refused(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    await secret_task.create()
    target = secret_task.target(
        ("customer", "acme"), ("task", secret_task.task), ("task_arguments[]", "z")
    )
    refused = await anonymous.post(target, {"task_arguments": ["x", "y"]})
    assert (refused.status, refused.code) == (400, "disagree")


async def test_other_content_types_are_refused(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    await secret_task.create()
    target = secret_task.target(("customer", "acme"), ("task", secret_task.task))
    for kind in ("text/plain", "multipart/form-data; boundary=x", "image/png"):
        refused = await anonymous.post(target, raw=b"x=y", headers={"content-type": kind})
        assert refused.status == 415, kind


async def test_our_own_route_names_the_task_in_the_path(
    secret_task: TaskWithSecret, anonymous: Client
) -> None:
    await secret_task.create()
    body = {"task_arguments": ["x", "y"]}
    target = f"/task/{secret_task.task}/secret/{secret_task.secret}/job"
    assert (await anonymous.post(target, body)).status == 200
    assert (await anonymous.post(f"{target}?customer=acme", body)).status == 200
    assert (await anonymous.post(f"{target}?customer=globex", body)).status == 403
