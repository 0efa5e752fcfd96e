"""Workflows and their jobs, as people see them."""

from typing import Any

from belvedere.cli.framework import rendering, time_words
from belvedere.cli.jobs import outcome


def workflows(flows: Any) -> None:
    rendering.table(
        ("id", "state", "workflow*", "steps", "started by", "changed"),
        (
            (
                each["id"],
                "active" if each["enable"] else "disabled",
                each["name"],
                len(each["graph"]["nodes"]),
                len(each["triggers"]),
                time_words.age(each["last_update"]),
            )
            for each in flows
        ),
        "No workflow yet. Admins make one with: belvedere workflow create FILE",
    )


def workflow(flow: Any) -> None:
    names = {task["id"]: task["name"] for task in flow["tasks"]}
    names |= {each["id"]: f"workflow {each['name']}" for each in flow["workflows"]}
    rendering.fields(
        (
            ("id", flow["id"]),
            ("workflow", flow["name"]),
            ("state", "active" if flow["enable"] else "disabled"),
            ("at a time", "many" if flow["multitasking"] else "one"),
            ("description", flow["description"]),
            ("begins with", flow["start"]),
            *((f"  {node['id']}", _node(node, flow, names)) for node in flow["graph"]["nodes"]),
            ("started by", flow["triggers"]),
            ("acl", flow["acl"]),
            ("version", flow["version"]),
            ("changed", time_words.when(flow["last_update"])),
        )
    )


def _node(node: Any, flow: Any, names: dict[str, str]) -> str:
    """`task, waits for all; success → b, failure → c`"""
    followers = [
        f"{edge['on']} → {edge['target']}{_bound(edge)}"
        for edge in flow["graph"]["edges"]
        if edge["source"] == node["id"]
    ]
    runs = node.get("workflow_id") or node["task_id"]
    told = names.get(runs, runs)
    if node.get("join") == "all":
        told += ", waits for all"
    return f"{told}; {', '.join(followers)}" if followers else told


def _bound(edge: Any) -> str:
    return f" (at most {edge['max_visits']}×)" if edge.get("max_visits") else ""


def steps(found: Any) -> None:
    """Visits are told where a node was reached more than once."""
    again = {job["name"] for job in found if (job["visit"] or 1) > 1}
    jobs([{**job, "name": _visit(job)} if job["name"] in again else job for job in found])


def _visit(job: Any) -> str:
    return f"{job['name']} (visit {job['visit']})" if job["visit"] else job["name"]


def jobs(found: Any) -> None:
    rendering.table(
        ("id", "state", "name*", "when", "waits for"),
        (
            (
                each["id"],
                each["state"] if outcome.is_over(each) else each["lifecycle"],
                each["name"],
                time_words.local(each["creation_date"]),
                each["waiting_reason"] or "",
            )
            for each in found
        ),
        "It has not run yet.",
    )


def started(job: Any) -> None:
    if outcome.is_over(job):
        return
    print(f"Job {job['id']} is {job['lifecycle']}.")
    print(f"See its steps with: belvedere workflow steps {job['workflow_id']} {job['id']}")
