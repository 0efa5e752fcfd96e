"""TheEye recipes, as TheEye writes them."""

import base64
from typing import Any

import pytest

from belvedere.base.errors import Invalid
from belvedere.workflow_specs.model import Edge, Position
from belvedere.workflows.recipes import format

SOURCE = "#!/bin/bash\necho hello\n"
DATA = base64.b64encode(SOURCE.encode()).decode()


def script(text: str, name: str, **more: Any) -> dict[str, Any]:
    """A task as a workflow recipe contains it, with fields that must not be imported."""
    return {
        "id": text,
        "name": name,
        "type": "script",
        "_type": "ScriptTask",
        "order": 0,
        "enable": True,
        "task_arguments": [
            {
                "id": 1,
                "order": 0,
                "type": "input",
                "label": "directory",
                "value": "",
                "help": "",
                "required": True,
                "charsmin": 0,
                "charsmax": 0,
                "charset": None,
                "pattern": "",
                "options": [],
            }
        ],
        "arguments_type": "legacy",
        "timeout": 600_000,
        "script_runas": "bash %script%",
        "env": {"COUNT": 2, "NAME": "x"},
        "host_id": "62e96e925df650001210f4d8",
        "script_id": "62ea899ed38c650019a7270c",
        "customer_id": "62e91ad7541a1a0019a158c0",
        "acl": ["somebody@elsewhere.test"],
        "assigned_users": ["62e91ad7541a1a0019a15800"],
        "template_id": None,
        "multitasking": True,
        "autoremove_completed_jobs_limit": 5,
        "script": {"filename": "a.sh", "data": f"data:text/plain;base64,{DATA}"},
        **more,
    }


def node(text: str, name: str, kind: str = "ScriptTask") -> dict[str, Any]:
    value = {"id": text, "name": name, "_type": kind, "position": {"x": 1.5, "y": -2}}
    return {"v": text, "value": value}


def flow(**more: Any) -> dict[str, Any]:
    return {
        "name": "Scan",
        "_type": "Workflow",
        "description": "Scans it.",
        "start_task_id": "u1",
        "start_task": "62ea899fd38c650019a7271d",
        "version": 2,
        "multitasking": True,
        "graph": {
            "options": {"directed": True, "multigraph": False, "compound": False},
            "nodes": [
                node("u1", "pull"),
                node("u2", "ask", "ApprovalTask"),
                node("u3", "ship"),
                {"v": "START_NODE", "value": {"id": "START_NODE", "_type": "home"}},
            ],
            "edges": [
                {"v": "START_NODE", "w": "u1"},
                {"v": "u1", "w": "u2", "value": "success"},
                {"v": "u2", "w": "u3", "value": "success"},
                {"v": "u1", "w": "u3", "value": "hotfix"},
            ],
        },
        "tasks": [
            script("u1", "pull"),
            {"id": "u2", "name": "ask", "type": "approval", "approvers": ["62e9"]},
            script("u3", "ship"),
        ],
        **more,
    }


def test_a_recipe_is_read() -> None:
    text = format.read(flow())
    assert text.workflow is not None
    assert (text.workflow["name"], text.workflow["start"]) == ("Scan", "pull")
    assert [n.id for n in text.nodes.values()] == ["pull", "ask", "ship"]
    assert text.nodes["u1"].position == Position(1.5, -2.0)
    assert text.edges == [
        Edge("pull", "ask", "success"),
        Edge("ask", "ship", "success"),
        Edge("pull", "ship", "hotfix"),
    ]
    graph = format.graph_of(text, {"u1": "t1", "u2": "t2", "u3": "t3"}, {})
    assert [n.task_id for n in graph.nodes] == ["t1", "t2", "t3"]
    assert text.report.notes == []


def test_an_imported_task_omits_references_to_the_source() -> None:
    u1 = format.read(flow()).tasks["u1"]
    for name in ("host_id", "script_id", "customer_id", "acl", "assigned_users", "id"):
        assert name not in u1
    assert u1["script"] == {"filename": "a.sh", "data": DATA}
    assert u1["env"] == {"COUNT": "2", "NAME": "x"}
    assert (u1["timeout"], u1["script_runas"]) == (600_000, "bash %script%")
    (argument,) = u1["task_arguments"]
    assert "charsmax" not in argument and "charset" not in argument
    assert u1["history"]["count"] == 5 and u1["ignore_exit_code"] is True


def skipped_fields(**more: Any) -> list[tuple[str, str]]:
    fields = {"acl": [], "assigned_users": [], **more}
    report = format.read({"task": script("x", "t", **fields)}).report
    return [(item.field, item.value) for item in report.skipped]


def test_fields_without_a_meaning_here_are_listed() -> None:
    assert skipped_fields() == []
    assert skipped_fields(acl=["a@b.test"]) == [("acl", '["a@b.test"]')]
    # Values that change nothing are not listed, and a secret is not repeated.
    assert skipped_fields(public=False, arguments_type="text", ignore_enabled=False) == []
    assert skipped_fields(secret="0" * 64) == [("secret", "")]
    assert skipped_fields(never_heard_of=False) == [("never_heard_of", "")]
    assert skipped_fields(autoremove_completed_jobs_limit=True) == [
        ("autoremove_completed_jobs_limit", "true")
    ]
    assert skipped_fields(url="http://x.test", method="GET") == [("url", '"http://x.test"')]
    argument = {"type": "select", "charset": "ascii", "options": [{"id": 1, "color": "red"}]}
    assert skipped_fields(task_arguments=[argument]) == [
        ("task_arguments[0].charset", '"ascii"'),
        ("task_arguments[0].options[0].color", ""),
    ]


def test_the_list_of_skipped_fields_is_limited() -> None:
    report = format.read({"task": script("x", "t", **{f"f{n}": 1 for n in range(1_500)})}).report
    assert (len(report.skipped), report.unlisted > 0) == (1_000, True)
    long = format.read({"task": script("x", "t", acl=["x" * 10_000])}).report.skipped
    assert max(len(item.value) for item in long) <= 200


def test_jobs_are_kept_as_in_the_recipe() -> None:
    def history(**more: Any) -> Any:
        return format.read({"task": script("x", "t", **more)}).tasks[""].get("history")

    assert history(autoremove_completed_jobs_limit="12")["count"] == 12
    assert history(autoremove_completed_jobs=False)["count"] == 1_000_000
    limits: list[Any] = ["9" * 5_000, -1, 1.5, [], 10**7]
    for limit in limits:
        assert history(autoremove_completed_jobs_limit=limit) is None


def test_default_states_of_theeye_have_their_names_here() -> None:
    def state(word: str) -> Any:
        task = script("x", "t", default_state_evaluation=word)
        return format.read({"task": task}).tasks[""]["default_state_evaluation"]

    assert [state(word) for word in ("", "ok", "error", "success")] == [
        *("", "success", "failure", "success")
    ]
    assert state("other") == ""
    assert ("default_state_evaluation", '"other"') in skipped_fields(
        default_state_evaluation="other"
    )


def test_tasks_that_share_an_id_are_all_imported() -> None:
    extra = {**script("u3", "other"), "acl": []}
    text = format.read(flow(tasks=[*flow()["tasks"], extra, {**extra, "id": None}]))
    assert [task["name"] for task in text.tasks.values()] == [
        *("pull", "ask", "ship", "other", "other")
    ]


def test_parts_of_a_graph_that_are_no_tasks_are_listed() -> None:
    graph = flow()["graph"]
    event = {"v": "e1", "value": {"id": "e1", "name": "fires", "_type": "WebhookEvent"}}
    graph["nodes"].append(event)
    graph["edges"] += [{"v": "e1", "w": "u1"}, {"v": "u1", "w": "u3", "value": {"a": 1}}]
    report = format.read(flow(graph=graph, start_task_id="gone", triggers=["e9"])).report
    assert [item.field for item in report.skipped if item.part == "workflow Scan"] == [
        *("start_task_id", "triggers", "graph: WebhookEvent fires", "graph.edges[5].value")
    ]


def test_a_task_recipe_has_its_file_beside_it() -> None:
    body = {"task": script("x", "hello"), "file": {"filename": "hello.sh", "data": DATA}}
    del body["task"]["script"]
    text = format.read(body)
    assert text.workflow is None
    assert text.tasks[""]["script"] == {"filename": "hello.sh", "data": DATA}


def test_a_node_task_is_a_script() -> None:
    body = {"task": script("x", "n", type="nodejs", script_runas="")}
    record = format.read(body).tasks[""]
    assert (record["type"], record["script_runas"]) == ("script", "node %script%")


def test_older_graphs_have_events_between_the_tasks() -> None:
    graph = {
        "nodes": [
            node("u1", "pull"),
            {"v": "e1", "value": {"id": "e1", "name": "failure", "_type": "TaskEvent"}},
            node("u3", "ship"),
        ],
        "edges": [{"v": "u1", "w": "e1"}, {"v": "e1", "w": "u3"}],
    }
    tasks = [script("u1", "pull"), script("u3", "ship")]
    text = format.read(flow(graph=graph, tasks=tasks))
    assert text.edges == [Edge("pull", "ship", "failure")]


def test_tasks_of_the_same_name_are_distinguished() -> None:
    tasks = [script("u1", "same"), script("u2", "same"), script("u3", "same")]
    text = format.read(flow(tasks=tasks))
    assert [n.id for n in text.nodes.values()] == ["same", "same 2", "same 3"]


@pytest.mark.parametrize(
    "item",
    [
        None,
        [],
        {},
        "x",
        {"task": "x"},
        {"graph": [], "tasks": []},
        {"task": {"name": "x", "type": "script"}},
        {"task": {"name": "x", "type": "script"}, "file": {"filename": "x"}},
        {"task": {"name": "x", "type": "dummy", "task_arguments": [1]}},
        flow(tasks=[]),
        flow(graph={"nodes": [{}], "edges": []}),
        flow(graph={"nodes": [node("u1", "pull")], "edges": [{"v": "u1"}]}),
    ],
)
def test_an_invalid_recipe_is_refused(item: Any) -> None:
    with pytest.raises(Invalid) as refused:
        format.read(item)
    assert refused.value.code == "invalid_recipe"
