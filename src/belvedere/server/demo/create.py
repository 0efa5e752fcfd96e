"""Making the demo, on the first host: tasks, a workflow, and what watches, shows and starts."""

from collections.abc import Iterator
from ipaddress import ip_address

from belvedere.access import Actor
from belvedere.db import Tx
from belvedere.hosts import store as hosts
from belvedere.indicators import service as indicators
from belvedere.indicators.bodies import IndicatorBody
from belvedere.monitors import service as monitors
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.schedules import service as schedules
from belvedere.schedules.bodies import ScheduleBody
from belvedere.server.demo import inventory
from belvedere.server.demo import sample_tasks as samples
from belvedere.server.demo.inventory import Thing
from belvedere.server.runtime import ServerRuntime
from belvedere.settings import Settings
from belvedere.tasks.store import runnable
from belvedere.webhooks import service as webhooks
from belvedere.webhooks.service import WebhookBody
from belvedere.workflow_specs.model import Edge, Graph, Node, Position
from belvedere.workflows import service as workflows
from belvedere.workflows.bodies import WorkflowBody
from belvedere.workflows.schedule_targets import TARGETS

TAGS = ["demo"]
INDICATORS = (
    IndicatorBody(
        title="Welcome",
        type="text",
        value="Belvedere runs",
        description="Shows a text that any program can set.",
        tags=TAGS,
    ),
    IndicatorBody(
        title="Release 1.0",
        type="progress",
        value=40,
        description="Shows a bar, in percent.",
        tags=TAGS,
    ),
    IndicatorBody(
        title="Coffees",
        type="counter",
        value=3,
        description="Shows a counter. Try: belvedere indicator increase Coffees",
        tags=TAGS,
    ),
)


def make(tx: Tx, runtime: ServerRuntime, actor: Actor, host_id: str) -> None:
    """All of it on this host, in one transaction, written down to be found again."""
    tasks = samples.make_demo(tx, runtime.keyring, actor, host_id)
    found = [
        *_tasks(tx, actor, tasks),
        *_shown(tx, actor),
        *_watched(tx, runtime, actor, host_id),
        *_started(tx, runtime, actor, tasks),
    ]
    inventory.write_down(tx, actor.customer_id, found)


def _tasks(tx: Tx, actor: Actor, tasks: dict[str, str]) -> Iterator[Thing]:
    for name, task_id in tasks.items():
        yield Thing("task", task_id, name)
        task = runnable(tx, actor.customer_id, task_id)
        if task is not None and task.script_id is not None:
            yield Thing("file", task.script_id, task.script_filename or "")


def _shown(tx: Tx, actor: Actor) -> Iterator[Thing]:
    for body in INDICATORS:
        row = indicators.create(tx, actor, body).row
        yield Thing("indicator", row.id, row.title)


def _watched(tx: Tx, runtime: ServerRuntime, actor: Actor, host_id: str) -> Iterator[Thing]:
    host = hosts.find(tx, actor.customer_id, host_id)
    bodies = [
        MonitorBody(
            name=f"Load of {host.hostname}",
            type="dstat",
            host_id=host_id,
            looptime=10_000,
            description="Shows how busy the host is: processor, memory, swap and disks.",
            tags=TAGS,
        )
    ]
    if _can_be_reached(runtime.settings, host.ip):
        web = MonitorBody(
            name="This server",
            type="scraper",
            host_id=host_id,
            url=f"{runtime.settings.base_url}/-/health",
            status_code="200",
            json_path="$.status",
            json_value="ok",
            looptime=30_000,
            description="Shows a web check: the server looks at itself, through its agent.",
            tags=TAGS,
        )
        bodies.append(web)
    for body in bodies:
        row = monitors.create(tx, runtime.keyring, actor, body, host_id)[0]
        yield Thing("monitor", row.id, row.name)


def _can_be_reached(settings: Settings, ip: str) -> bool:
    """Whether the address that we know of ourselves is good on that host, too."""
    if settings.url:
        return True
    try:
        is_here = ip_address(ip).is_loopback
    except ValueError:
        is_here = False
    # A certificate seldom names the loopback address.
    return is_here and not settings.tls_cert


def _started(
    tx: Tx, runtime: ServerRuntime, actor: Actor, tasks: dict[str, str]
) -> Iterator[Thing]:
    flow = WorkflowBody(
        name="Measure, ask, report",
        description="Shows a workflow: the disk is measured, you are asked, the result is told.",
        graph=Graph(
            [
                Node("measure", tasks["Measure the disk"], position=Position(0, 0)),
                Node("ask", tasks["Ask for approval"], position=Position(260, 0)),
                Node("report", tasks["Report"], position=Position(520, 0)),
            ],
            [Edge("measure", "ask"), Edge("ask", "report")],
        ),
        start="measure",
        tags=TAGS,
    )
    made = workflows.create(tx, runtime.keyring, actor, flow).row
    yield Thing("workflow", made.id, made.name)
    hook = WebhookBody(name="Greet from outside", tasks=[tasks["Greet somebody"]])
    opened = webhooks.create(tx, runtime.keyring, actor, hook).row
    yield Thing("webhook", opened.id, opened.name)
    daily = ScheduleBody(name="Measure every morning", repeatEvery="0 7 * * *", timezone="UTC")
    of = ("task", tasks["Measure the disk"])
    planned = schedules.create(tx, TARGETS, actor, *of, daily).row
    yield Thing("schedule", planned.id, planned.name)
