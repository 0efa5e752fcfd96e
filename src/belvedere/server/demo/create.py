"""Creates the demo on the first host: tasks, a workflow, indicators, monitors, a schedule, …"""

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
from belvedere.server.demo import inventory, sample_tasks
from belvedere.server.demo.inventory import DemoObject
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


def create_demo(tx: Tx, runtime: ServerRuntime, actor: Actor, host_id: str) -> None:
    """Everything on this host, in one transaction, recorded so that it can be removed."""
    tasks = sample_tasks.create_tasks(tx, runtime.keyring, actor, host_id)
    objects = [
        *_tasks(tx, actor, tasks),
        *_indicators(tx, actor),
        *_monitors(tx, runtime, actor, host_id),
        *_starters(tx, runtime, actor, tasks),
    ]
    inventory.record(tx, actor.customer_id, objects)


def _tasks(tx: Tx, actor: Actor, tasks: dict[str, str]) -> Iterator[DemoObject]:
    for name, task_id in tasks.items():
        yield DemoObject("task", task_id, name)
        task = runnable(tx, actor.customer_id, task_id)
        if task is not None and task.script_id is not None:
            yield DemoObject("file", task.script_id, task.script_filename or "")


def _indicators(tx: Tx, actor: Actor) -> Iterator[DemoObject]:
    for body in INDICATORS:
        row = indicators.create(tx, actor, body).row
        yield DemoObject("indicator", row.id, row.title)


def _monitors(tx: Tx, runtime: ServerRuntime, actor: Actor, host_id: str) -> Iterator[DemoObject]:
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
            description="Shows a web check: the agent checks this server.",
            tags=TAGS,
        )
        bodies.append(web)
    for body in bodies:
        row = monitors.create(tx, runtime.keyring, actor, body, host_id)[0]
        yield DemoObject("monitor", row.id, row.name)


def _can_be_reached(settings: Settings, ip: str) -> bool:
    """Whether the server's own address can also be used on that host."""
    if settings.url:
        return True
    try:
        is_local = ip_address(ip).is_loopback
    except ValueError:
        is_local = False
    # A certificate seldom covers the loopback address.
    return is_local and not settings.tls_cert


def _starters(
    tx: Tx, runtime: ServerRuntime, actor: Actor, tasks: dict[str, str]
) -> Iterator[DemoObject]:
    workflow_body = WorkflowBody(
        name="Measure, ask, report",
        description="Shows a workflow: measure the disk, ask for approval, report the result.",
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
    workflow = workflows.create(tx, runtime.keyring, actor, workflow_body).row
    yield DemoObject("workflow", workflow.id, workflow.name)
    webhook_body = WebhookBody(name="Greet from outside", tasks=[tasks["Greet somebody"]])
    webhook = webhooks.create(tx, runtime.keyring, actor, webhook_body).row
    yield DemoObject("webhook", webhook.id, webhook.name)
    schedule_body = ScheduleBody(
        name="Measure every morning", repeatEvery="0 7 * * *", timezone="UTC"
    )
    target = ("task", tasks["Measure the disk"])
    schedule = schedules.create(tx, TARGETS, actor, *target, schedule_body).row
    yield DemoObject("schedule", schedule.id, schedule.name)
