"""What runs on one host, in the form of TheEye's templates."""

from collections.abc import Iterable

import msgspec

from belvedere.access import Actor
from belvedere.db import Tx
from belvedere.hosts import service as hosts
from belvedere.monitors import service as monitors
from belvedere.monitors import store as monitor_store
from belvedere.monitors.api import records as monitor_records
from belvedere.monitors.api.records import MonitorRecord
from belvedere.rest.listing import Condition, Listable, Listing
from belvedere.tasks import records as task_records
from belvedere.tasks import service as tasks
from belvedere.tasks import store as task_store
from belvedere.tasks.records import TaskRecord
from belvedere.tasks.store import TaskView
from belvedere.triggers import sources

# Tasks and monitors of one host that a template lists.
MAX_OBJECTS = 500


class TemplateTrigger(msgspec.Struct):
    """An event that starts a task of the host."""

    task_id: str
    emitter_type: str
    emitter_id: str
    event_name: str


class TemplateFile(msgspec.Struct):
    """A script that a task of the host runs."""

    id: str
    filename: str


class HostTemplate(msgspec.Struct):
    """The monitors and tasks of the host that the caller may see, at most 500 of each."""

    resources: list[MonitorRecord]
    tasks: list[TaskRecord]
    triggers: list[TemplateTrigger]
    files: list[TemplateFile]


def show(tx: Tx, actor: Actor, host_id: str) -> HostTemplate:
    host = hosts.show(tx, actor, host_id)
    task_listing = task_store.fit_page(tx, actor, _of_host(task_store.TASKS, host.id))
    task_views, _ = tasks.list_page(tx, actor, task_listing)
    monitor_listing = monitor_store.fit_to_budget(
        tx, actor, _of_host(monitor_store.MONITORS, host.id)
    )
    monitor_views, _ = monitors.list_page(tx, actor, monitor_listing)
    task_list = [task_records.to_record(view, actor, acl) for view, acl in task_views]
    return HostTemplate(
        [monitor_records.to_record(*details, actor) for details in monitor_views],
        task_list,
        list(_triggers(task_list)),
        list(_files(view for view, _ in task_views)),
    )


def _of_host(listable: Listable, host_id: str) -> Listing:
    return Listing(listable, (Condition("host_id", "$eq", (host_id,)),), limit=MAX_OBJECTS)


def _triggers(tasks: Iterable[TaskRecord]) -> Iterable[TemplateTrigger]:
    for task in tasks:
        for event_id in task.triggers:
            event = sources.parse(event_id)
            if event is not None:
                yield TemplateTrigger(task.id, event.source, event.source_id, event.event_name)


def _files(tasks: Iterable[TaskView]) -> Iterable[TemplateFile]:
    names = {task.script_id: task.script_name or "" for task in tasks if task.script_id}
    return (TemplateFile(file_id, filename) for file_id, filename in names.items())
