"""Workflows of acme, what their jobs do, and the event consumer as a method."""

from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.events import cursors
from belvedere.jobs import store
from belvedere.jobs.model import JobRow
from belvedere.workflow_specs import store as specs
from belvedere.workflow_specs.model import StepRow, WorkflowRow, decode
from belvedere.workflows import control, rerun, service, start
from belvedere.workflows.bodies import WorkflowBody
from belvedere.workflows.execution import advance, step_store
from belvedere.workflows.start import WorkflowJobRequest
from jobs.job_steps import JobSteps

KINDS = frozenset({"workflow.step"})


def react(tx: Any) -> int:
    """What consumers.py does for workflows: events and cursor in one transaction."""
    events = cursors.take(tx, "workflows go on", KINDS)
    for event in events:
        advance.consume(tx, event)
        cursors.move(tx, "workflows go on", event)
    return len(events)


class WorkflowSteps(JobSteps):
    """Every method is one transaction; nodes have the names of their tasks."""

    def flow(self, edges: str = "a-b", joins: str = "", **more: Any) -> WorkflowRow:
        """`a-b a-c:failure c-a:always*3` are edges, the last with a limit; `joins` are the nodes
        that wait for all of their sources, `flows` those that run another workflow."""
        drawn = [edge.partition(":")[0].split("-") for edge in edges.split()]
        names = sorted({name for pair in drawn for name in pair})
        tasks, flows = more.pop("tasks", {}), more.pop("flows", {})
        nodes = [
            self.node(name, flows.get(name) or tasks.get(name, {}), joins, more) for name in names
        ]
        body = {
            "name": "release",
            "start": names[0],
            "graph": {
                "nodes": nodes,
                "edges": [
                    {
                        "source": pair[0],
                        "target": pair[1],
                        "on": on.partition("*")[0] or "success",
                        "max_visits": int(on.partition("*")[2] or 0) or None,
                    }
                    for pair, on in zip(
                        (pair for pair in drawn if len(pair) == 2),
                        (e.partition(":")[2] for e in edges.split() if "-" in e),
                        strict=True,
                    )
                ],
            },
            **{name: value for name, value in more.items() if name not in ("retry", "arguments")},
        }
        workflow = msgspec.convert(body, WorkflowBody, strict=False)
        return self.db.write_blocking(service.create, self.keys, self.actors.ada, workflow).row

    def node(
        self, name: str, runs: dict[str, Any] | WorkflowRow, joins: str, more: dict[str, Any]
    ) -> dict[str, Any]:
        if isinstance(runs, WorkflowRow):
            node: dict[str, Any] = {"id": name, "workflow_id": runs.id}
        else:
            node = {"id": name, "task_id": self.task(**{"name": name, **runs})}
        if name in joins.split():
            node["join"] = "all"
        if name in more.get("retry", {}):
            node["retry"] = more["retry"][name]
        if name in more.get("arguments", {}):
            node["arguments"] = more["arguments"][name]
        return node

    def run(self, flow: WorkflowRow, given: list[Any] | None = None, **more: Any) -> JobRow:
        if not self.session:
            self.connect()
        expected = WorkflowJobRequest(more.pop("actor", self.actors.ada), flow.id, given, **more)
        (prepared_workflow_job,) = self.db.write_blocking(start.run, [expected])
        if isinstance(prepared_workflow_job, Exception):
            raise prepared_workflow_job
        return prepared_workflow_job.job

    def react(self) -> None:
        while self.db.write_blocking(react):
            pass

    def ends(self, name: str, lastline: str = "", *, react: bool = True, **report: Any) -> JobRow:
        """The agent takes the job of this node and reports its end."""
        self.claim()
        (job,) = [job for job in self.steps() if job.name == name and job.lifecycle == "assigned"]
        self.end(job.fence, lastline=lastline, **report)
        if react:
            self.react()
        return self.job(job.id)

    def steps(self) -> list[JobRow]:
        """The jobs of steps, oldest first."""
        sql = f"select {store.JOB_COLUMNS} from jobs where workflow_job_id is not null order by id"
        return self.db.write_blocking(lambda tx: tx.all(JobRow, sql))

    def names(self, lifecycle: str = "ready") -> list[str]:
        return [job.name for job in self.steps() if job.lifecycle == lifecycle]

    def waiting_tasks(self) -> list[str]:
        """Tasks that an agent has to run, assigned or not."""
        is_open = ("ready", "assigned")
        return [job.name for job in self.steps() if job.task_id and job.lifecycle in is_open]

    def list_steps(self, job_id: str) -> list[StepRow]:
        return self.db.write_blocking(step_store.steps_of, job_id)

    def values(self, name: str) -> list[Any]:
        """The arguments of the newest job of this node."""
        jobs = [job for job in self.steps() if job.name == name]
        decoded: list[Any] = msgspec.json.decode(self.heavy(jobs[-1].id).arguments)
        return decoded

    def cancel(self, job: JobRow, actor: Actor | None = None) -> None:
        who = actor or self.actors.ada
        self.db.write_blocking(control.cancel, who, job.workflow_id or "", job.id)

    def restart(
        self, job: JobRow, step: str | None = None, values: list[Any] | None = None
    ) -> JobRow:
        """From the failed steps, or from this one, with other values if there are any."""
        ids = (job.workflow_id or "", job.id, step, values)
        return self.job(self.db.write_blocking(control.restart, self.actors.ada, *ids))

    def run_again(self, job: JobRow) -> JobRow:
        """All steps, as a new job."""
        workflow_id = job.workflow_id or ""
        request = self.db.write_blocking(
            rerun.request_for, self.actors.ada, workflow_id, job.id, None
        )
        (prepared,) = self.db.write_blocking(start.run, [request])
        if isinstance(prepared, Exception):
            raise prepared
        return self.job(prepared.job.id)

    def replace_task(self, job: JobRow, node_id: str, task_id: str) -> None:
        """From now on, the node of this job's workflow runs another task."""
        row = self.db.write_blocking(specs.find, job.customer_id, job.workflow_id or "")
        graph = decode(row.spec).graph
        nodes = [
            msgspec.structs.replace(node, task_id=task_id) if node.id == node_id else node
            for node in graph.nodes
        ]
        body = WorkflowBody(graph=msgspec.structs.replace(graph, nodes=nodes))
        self.db.write_blocking(service.change, self.actors.ada, row.id, body, replaces=False)
