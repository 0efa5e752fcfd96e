"""Jobs over HTTP: making, reading and changing them."""

from functools import partial
from typing import Any

import msgspec

from belvedere.access import customers
from belvedere.access.model import Actor, Level
from belvedere.base.errors import Invalid
from belvedere.base.ids import is_id
from belvedere.jobs import asking, page_reading, pages, reading, record, retention, service, votes
from belvedere.jobs.create import Created, NewJob
from belvedere.jobs.model import Lifecycle
from belvedere.jobs.original import OldJobs
from belvedere.jobs.pages import Page
from belvedere.jobs.record import JobRecord
from belvedere.jobs.request_size import MAX_BODY, admit_task, check_task
from belvedere.rest import filters, lists, values
from belvedere.rest.arguments import Given
from belvedere.rest.route import Ask, Handler, Reply, Route
from belvedere.tasks import store as tasks

MOST_COUNTED = 100_000
# A body with one of these speaks to us, not to the script.
OWN_NAMES = frozenset({"task", "customer", "task_arguments", "lifecycle", "wait_result"})

# Creating


class CreateJob(msgspec.Struct):
    """What a run request may hold; forms and query strings carry the same names."""

    task: str = ""
    task_arguments: list[Any] | None = None
    customer: str | None = None
    lifecycle: str | None = None
    wait_result: bool | None = None


async def create_job(ask: Ask) -> Reply:
    given = await asking.given(ask)
    task_id = _task_id(given)
    await check_task(ask, task_id)
    return await _run(ask, ask.actor, given, task_id)


async def create_for_task(ask: Ask) -> Reply:
    return await _run(ask, ask.actor, await asking.given(ask), ask.path["id"])


async def admit_secret(ask: Ask) -> None:
    """The path or the query names the task; or else the body does, and the secret is looked up."""
    task_id = ask.path.get("id") or ask.first("task")
    if task_id is not None and not is_id(task_id):
        task_id = ""
    await asking.admit(ask, "task", task_id, tasks.takes_file)


async def create_by_secret(ask: Ask) -> Reply:
    given = await asking.given(ask)
    if ask.customer is None:
        raise Invalid("Name the organization: ?customer=<name>.", code="customer_required")
    return await _run_by_secret(ask, given, _task_id(given))


async def create_for_task_by_secret(ask: Ask) -> Reply:
    return await _run_by_secret(ask, await asking.given(ask), ask.path["id"])


def _task_id(given: Given) -> str:
    if not given.task:
        raise Invalid("Say which task to run: task is required.", code="task_required")
    return given.task


async def _run_by_secret(ask: Ask, given: Given, task_id: str) -> Reply:
    secret = ask.path["secret"]
    return await asking.by_secret(
        ask,
        partial(_customer, task_id=task_id),
        lambda actor: _run(ask, actor, given, task_id, secret=secret),
    )


def _customer(tx: Any, name: str | None, task_id: str) -> tuple[str, str] | None:
    """The organization as named, or else the task's own."""
    if name is not None:
        found = customers.by_name(tx, name)
        return (found.id, found.name) if found is not None and found.enabled else None
    row: tuple[str, str] | None = tx.row(
        "select c.id, c.name from customers c join tasks t on t.customer_id = c.id"
        " where t.id = ? and c.enabled = 1",
        task_id,
    )
    return row


async def _run(
    ask: Ask, actor: Actor, given: Given, task_id: str, secret: str | None = None
) -> Reply:
    within_s = asking.patience(ask, given)
    wanted = NewJob(
        actor=actor,
        task_id=task_id,
        given=given.arguments,
        origin="user" if secret is None else "secret",
        secret=secret,
        keys=ask.house.keys if secret is not None else None,
        once=await asking.once(ask),
        lifecycle=_lifecycle(ask, given),
        whole=_whole(ask, given),
    )
    made: Created = await ask.house.db.join(ask.house.links.create, wanted)
    headers = asking.replayed(made.replayed)
    if within_s is not None:
        is_new = not (made.replayed or made.job.is_over)
        return await asking.wait(ask, actor, made.job.id, within_s, headers, is_new=is_new)
    return Reply(_created(made, actor), headers=headers)


def _whole(ask: Ask, given: Given) -> dict[str, Any] | None:
    """Where the address names the task, an object of the caller's own is the one argument."""
    if "id" not in ask.path or not isinstance(given.body, dict):
        return None
    return None if OWN_NAMES & given.body.keys() else given.body


def _lifecycle(ask: Ask, given: Given) -> str | None:
    asked = given.rest.get("lifecycle")
    if asked is None or asked == "":
        return ask.first("lifecycle") or None
    if not isinstance(asked, str):
        raise Invalid("lifecycle is a word.", code="invalid_lifecycle")
    return asked


def _created(made: Created, actor: Actor) -> JobRecord:
    job = made.job
    found = record.light(job, actor.customer_name, job.created_at)
    record.with_task(found, made.task.id, made.task.spec, made.arguments)
    # A job that is done without an agent (dummy, notification) gives its values on.
    is_given_on = job.lifecycle == Lifecycle.FINISHED and job.fence == 0
    found.output = found.task_arguments_values if is_given_on else None
    if made.plan is not None:
        found.will_run = made.plan
    if made.host is not None:
        found.host = made.host.record
        found.hostname = made.host.row.hostname
    return found


# Reading


async def list_jobs(ask: Ask) -> Reply:
    if ask.actor.level is Level.AGENT:
        # Their agents ask for work under the same address.
        return Reply(await ask.house.poll(ask))
    query = dict(ask.query)
    if "q" in query:
        query["where[text][$text]"] = query["q"]
    listing = filters.read(query, pages.listable(ask.house.db.sql.engine))
    most, look = _so_far(ask, "count_most"), _so_far(ask, "look")
    page = await page_reading.read(ask, listing, most, look)
    answered = lists.answer(ask, listing, page.records, page.total, page.until)
    answered.headers |= _counted(page, most)
    return answered


def _so_far(ask: Ask, name: str) -> int | None:
    text = ask.first(name)
    if text is None:
        return None
    most = values.whole(name, text)
    if not 1 <= most <= MOST_COUNTED:
        raise values.bad(name, f"{name} takes 1 to {MOST_COUNTED}.")
    return most


def _counted(page: Page, most: int | None) -> dict[str, str]:
    headers = {} if page.until is None else {"X-Looked-Until": page.until}
    if page.total is None:
        return headers
    if page.until is not None or (most is not None and page.total > most):
        headers["X-Total-More"] = "true"
    return {**headers, "X-Total-Count": str(min(page.total, most or page.total))}


async def show(ask: Ask) -> JobRecord:
    found: JobRecord = await ask.house.db.glance(reading.show, ask.actor, ask.path["id"])
    await asking.with_log(ask, found, found.id)
    return found


async def lifecycle(ask: Ask) -> Reply:
    word = await ask.house.db.glance(reading.lifecycle_of, ask.actor, ask.path["id"])
    return Reply(word)


# Changing


class GiveInput(msgspec.Struct):
    """The values that the job waits for, under either name."""

    args: list[Any] | None = None
    task_arguments: list[Any] | None = None
    customer: str | None = None


class Resolve(msgspec.Struct, forbid_unknown_fields=True):
    """How the job ended, as a person knows it."""

    outcome: str
    note: str = ""


class Restart(msgspec.Struct):
    """Other values for the new job; the old ones when left out."""

    task_arguments: list[Any] | None = None
    customer: str | None = None


async def cancel(ask: Ask) -> JobRecord:
    return await _changed(ask, service.cancel)


async def approve(ask: Ask) -> JobRecord:
    return await _changed(ask, votes.approve)


async def reject(ask: Ask) -> JobRecord:
    return await _changed(ask, votes.reject)


async def synced(ask: Ask) -> JobRecord:
    return await _changed(ask, service.sync)


async def give_input(ask: Ask) -> JobRecord:
    values = ask.body.args if ask.body.args is not None else ask.body.task_arguments
    if values is None:
        raise Invalid("Send the values: args is required.", code="missing_arguments")
    return await _changed(ask, service.give_input, values)


async def resolve(ask: Ask) -> JobRecord:
    return await _changed(ask, service.resolve, ask.body.outcome, ask.body.note)


async def _changed(ask: Ask, verb: Any, *args: Any) -> JobRecord:
    await ask.house.db.write(verb, ask.actor, ask.path["id"], *args)
    return await show(ask)


async def restart(ask: Ask) -> Reply:
    old: JobRecord = await ask.house.db.glance(reading.show, ask.actor, ask.path["id"])
    wanted = await ask.house.db.read(
        service.restart, ask.actor, old.id, ask.body.task_arguments, await asking.once(ask)
    )
    made = await ask.house.db.join(ask.house.links.create, wanted)
    return Reply(_created(made, ask.actor), headers=asking.replayed(made.replayed))


async def delete_finished(ask: Ask) -> dict[str, int]:
    kind, object_id = ask.first("type"), ask.first("id")
    count = await retention.delete_history(ask.house.db, ask.actor, kind, object_id)
    return {"deletedCount": count}


async def delete_of_task(ask: Ask) -> dict[str, int]:
    task_id = ask.path["id"]
    await ask.house.db.read(retention.check_task, ask.actor, task_id)
    count = await retention.delete_history(ask.house.db, ask.actor, "Task", task_id)
    return {"deletedCount": count}


_RUN_CODES = (
    "task_disabled",
    "host_gone",
    "no_approver",
    "idempotency_key_reused",
    "replayed_job_gone",
)


def _run_route(path: str, level: str, handler: Handler, summary: str) -> Route:
    return Route(
        "POST",
        path,
        level,
        handler,
        summary,
        body=CreateJob,
        raw_body=True,
        answer=JobRecord,
        codes=_RUN_CODES,
        statuses=(202,),
        needs_customer=path.startswith("/job/secret"),
        max_body=MAX_BODY,
        admit=admit_task if level == "user" else admit_secret,
        query=asking.QUERY,
    )


def _move(
    what: str,
    level: str,
    handler: Handler,
    summary: str,
    body: Any = None,
    codes: tuple[str, ...] = ("wrong_lifecycle",),
    *,
    known: bool = True,
) -> Route:
    return Route(
        "PUT",
        f"/job/{{id}}/{what}",
        level,
        handler,
        summary,
        body=body,
        exact_numbers=body is not None,
        answer=JobRecord,
        codes=codes,
        known=known,
    )


def _read(path: str, level: str, handler: Handler, summary: str, answer: Any) -> Route:
    return Route("GET", path, level, handler, summary, answer=answer)


def _delete(path: str, handler: Handler, summary: str, query: Any = ()) -> Route:
    return Route("DELETE", path, "admin", handler, summary, answer=dict[str, int], query=query)


_NARROW = (("type", "Task or Workflow"), ("id", "only this task's or workflow's"))
_TEXT = ("q", "a text in the name, the id, or the name or e-mail of who started it")
_MOST = ("count_most", "count so far: X-Total-Count, and X-Total-More when there are more")
_LOOK = ("look", "look at so many jobs only: X-Looked-Until, and Link to go on behind them")
_INCLUDE = ("include[field]", "1: also task, task_arguments_values, output, result.log, attempts")

ROUTES: tuple[Route, ...] = (
    _run_route("/job", "user", create_job, "Run a task."),
    _run_route("/task/{id}/job", "user", create_for_task, "Run this task."),
    _run_route(
        "/job/secret/{secret}", "anonymous", create_by_secret, "Run a task with its secret key."
    ),
    _run_route(
        "/task/{id}/secret/{secret}/job",
        "anonymous",
        create_for_task_by_secret,
        "Run this task with its secret key.",
    ),
    Route(
        "GET",
        "/job",
        "viewer",
        list_jobs,
        "Jobs, newest first, at most 1,000. For an agent of the original: its work.",
        answer=list[JobRecord] | OldJobs,
        codes=("not_registered",),
        query=(
            *lists.QUERY,
            _INCLUDE,
            _TEXT,
            _MOST,
            _LOOK,
            ("hostname", "of the agent that asks for work"),
        ),
        also_agent=True,
    ),
    _read("/job/{id}", "viewer", show, "One job.", JobRecord),
    _read("/job/{id}/lifecycle", "user", lifecycle, "Its lifecycle, a bare word.", str),
    _move("cancel", "user", cancel, "Cancel the job."),
    _move(
        "approve",
        "viewer",
        approve,
        "Approve it.",
        codes=("wrong_lifecycle", "approval_void"),
    ),
    _move("reject", "viewer", reject, "Reject it."),
    _move("synced", "user", synced, "Let a syncing job run."),
    _move("input", "user", give_input, "Give the input it waits for.", GiveInput),
    _move(
        "resolve",
        "user",
        resolve,
        "Say how a lost job ended.",
        Resolve,
        ("wrong_lifecycle", "still_reachable"),
        known=False,
    ),
    _move(
        "restart",
        "user",
        restart,
        "Run it again as a new job.",
        Restart,
        ("wrong_lifecycle", *_RUN_CODES),
    ),
    _delete("/job/finished", delete_finished, "Delete the history of ended jobs.", _NARROW),
    _delete("/task/{id}/job", delete_of_task, "Delete this task's history."),
)
