"""Workflows and their jobs as text for people."""

from belvedere.cli.framework import rendering, time_words, words
from belvedere.cli.framework.command import Record
from belvedere.cli.jobs import outcome


def workflows(records: list[Record]) -> None:
    rendering.table(
        ("id", "state", "workflow*", "steps", "started by", "changed"),
        (
            (
                workflow["id"],
                "active" if workflow["enable"] else "disabled",
                workflow["name"],
                len(workflow["graph"]["nodes"]),
                len(workflow["triggers"]),
                time_words.age(workflow["last_update"]),
            )
            for workflow in records
        ),
        "No workflows yet. Admins create one with: belvedere workflow create FILE",
    )


def workflow(record: Record) -> None:
    names = {task["id"]: task["name"] for task in record["tasks"]}
    names |= {nested["id"]: f"workflow {nested['name']}" for nested in record["workflows"]}
    rendering.fields(
        (
            ("id", record["id"]),
            ("workflow", record["name"]),
            ("state", "active" if record["enable"] else "disabled"),
            ("at a time", "many" if record["multitasking"] else "one"),
            ("description", record["description"]),
            ("starts with", record["start"]),
            *((f"  {node['id']}", _node(node, record, names)) for node in record["graph"]["nodes"]),
            ("started by", record["triggers"]),
            ("acl", record["acl"]),
            ("version", record["version"]),
            ("changed", time_words.when(record["last_update"])),
        )
    )


def _node(node: Record, record: Record, names: dict[str, str]) -> str:
    """`task, waits for all; success → b, failure → c`"""
    followers = [
        f"{edge['on']} → {edge['target']}{_bound(edge)}"
        for edge in record["graph"]["edges"]
        if edge["source"] == node["id"]
    ]
    target_id: str = node.get("workflow_id") or node["task_id"]
    text = names.get(target_id, target_id)
    if node.get("join") == "all":
        text += ", waits for all"
    return f"{text}; {', '.join(followers)}" if followers else text


def _bound(edge: Record) -> str:
    return f" (at most {edge['max_visits']}×)" if edge.get("max_visits") else ""


def steps(step_jobs: list[Record]) -> None:
    """With the number of the visit, if a node was visited more than once."""
    repeated = {job["name"] for job in step_jobs if (job["visit"] or 1) > 1}
    jobs([{**job, "name": _visit(job)} if job["name"] in repeated else job for job in step_jobs])


def _visit(job: Record) -> str:
    return f"{job['name']} (visit {job['visit']})" if job["visit"] else job["name"]


def jobs(records: list[Record]) -> None:
    rendering.table(
        ("id", "state", "name*", "when", "waiting for"),
        (
            (
                job["id"],
                words.job_state(job),
                job["name"],
                time_words.local(job["creation_date"]),
                job["waiting_reason"] or "",
            )
            for job in records
        ),
        "No jobs yet.",
    )


def started(job: Record) -> None:
    if outcome.is_over(job):
        return
    print(f"Job {job['id']} is {job['lifecycle']}.")
    print(f"See its steps with: belvedere workflow steps {job['workflow_id']} {job['id']}")
