"""Nodes that choose which values of earlier steps become their arguments."""

from typing import Any

import pytest

from belvedere.base.errors import Invalid
from belvedere.jobs.approvals import plan, votes
from workflows.workflow_steps import WorkflowSteps

X = {"type": "input", "label": "x"}
Y = {"type": "input", "label": "y"}
OPTIONAL = {"type": "input", "label": "z", "required": False}
REQUIRED = {"type": "input", "label": "r", "required": True}
ASK = {"type": "approval", "approvers": ["max@acme.test"]}


def test_arguments_come_from_mapped_sources(steps: WorkflowSteps) -> None:
    """Outputs of two steps, a member of one, an argument of the job, and a fixed value."""
    sources = [
        {"node": "b", "index": 1},
        {"node": "a", "keys": ["user", "names", "1"]},
        {"node": "a", "part": "input"},
        {"value": "fixed"},
    ]
    tasks = {"a": {"task_arguments": [X]}, "c": {"task_arguments": [X, Y, X, Y]}}
    flow = steps.flow("a-b b-c", tasks=tasks, arguments={"c": sources})
    job = steps.run(flow, ["from the caller"])
    steps.ends("a", '{"output": [{"user": {"names": ["Ada", "Lovelace"]}}]}')
    steps.ends("b", '{"output": ["1", "2"]}')
    assert steps.values("c") == ["2", "Lovelace", "from the caller", "fixed"]
    steps.ends("c")
    assert steps.status(job.id) == "finished/normal"


def test_members_of_json_text_can_be_used(steps: WorkflowSteps) -> None:
    sources = [{"node": "a", "keys": ["count"]}]
    steps.run(steps.flow("a-b", tasks={"b": {"task_arguments": [X]}}, arguments={"b": sources}))
    steps.ends("a", """{"output": ["{\\"count\\": 7}"]}""")
    assert steps.values("b") == ["7"]


def test_a_missing_value_fails_a_required_argument_and_leaves_others_empty(
    steps: WorkflowSteps,
) -> None:
    sources = [{"node": "a", "index": 5}, {"node": "a", "keys": ["nothing"]}]
    tasks = {
        "b": {"task_arguments": [OPTIONAL, OPTIONAL]},
        "c": {"task_arguments": [REQUIRED, OPTIONAL]},
    }
    flow = steps.flow("a-b a-c", tasks=tasks, arguments={"b": sources, "c": sources})
    steps.run(flow)
    steps.ends("a", '{"output": ["1"]}')
    assert steps.values("b") == ["", ""]
    failed = [job for job in steps.steps() if job.name == "c"][-1]
    assert steps.status(failed.id) == "finished/error"
    assert "is required" in (failed.reason or "")


def test_a_masked_argument_is_not_passed_on(steps: WorkflowSteps) -> None:
    tasks = {"a": {"task_arguments": [{**X, "masked": True}]}, "b": {"task_arguments": [X]}}
    sources = [{"node": "a", "part": "input"}]
    steps.run(steps.flow("a-b", tasks=tasks, arguments={"b": sources}), ["secret"])
    steps.ends("a")
    failed = steps.steps()[-1]
    assert steps.status(failed.id) == "finished/error"
    assert "masked or a file" in (failed.reason or "")


def test_each_round_of_a_cycle_gets_its_own_values(steps: WorkflowSteps) -> None:
    sources = [{"node": "a"}]
    tasks = {"c": {"task_arguments": [X]}}
    steps.run(steps.flow("a-b b-c c-a:again*2", tasks=tasks, arguments={"c": sources}))
    for value in ("1", "2"):
        steps.ends("a", f'{{"output": ["{value}"]}}')
        steps.ends("b")
        assert steps.values("c") == [value]
        steps.ends("c", '{"event_name": "again"}')


def test_an_approval_shows_the_values_that_are_known(steps: WorkflowSteps) -> None:
    tasks = {"b": ASK, "c": {"task_arguments": [X, Y]}, "d": {"task_arguments": [X]}}
    sources: dict[str, Any] = {
        "c": [{"node": "b", "index": 1}, {"value": "fixed"}],
        "d": [{"node": "a"}],
    }
    steps.run(steps.flow("a-b b-c b-d", tasks=tasks, arguments=sources))
    steps.ends("a", '{"output": ["1", "2"]}')
    approval = [job for job in steps.steps() if job.lifecycle == "onhold"][-1]
    tasks_shown = steps.db.write_blocking(plan.for_job, approval.id)
    assert {task.name: task.arguments for task in tasks_shown} == {"c": ["2", "fixed"], "d": None}
    steps.db.write_blocking(votes.approve, steps.actors.max, approval.id)
    steps.react()
    assert steps.values("c") == ["2", "fixed"]
    assert steps.values("d") == ["1"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"node": "x"}, "no node 'x'"),
        ({"node": "b"}, "'b' does not run before 'b'"),
        ({"node": "c"}, "'c' does not run before 'b'"),
        ({"node": "a", "index": 1000}, "0 to 999"),
        ({"node": "a", "index": -1}, "0 to 999"),
        ({"node": "a", "keys": [""]}, "1 to 256"),
        ({"node": "a", "keys": ["k"] * 17}, "At most 16"),
        ({"value": "x" * 200_000}, "bytes"),
        ({"template": "{{x.output[0]}}"}, "no node 'x'"),
        ({"template": "{{c.output[0]}}"}, "'c' does not run before 'b'"),
        ({"template": "{{a.output[0]"}, "must end with }}"),
        ({"template": "{{a}}"}, "is not a value of a step"),
        ({"template": "{{a.__class__[0]}}"}, "is not a value of a step"),
        ({"template": "{{a.output[0]}}" * 21}, "at most 20"),
        ({"template": "x" * 4_001}, "at most 4000"),
        ({"template": "x", "value": "y"}, "either a template"),
    ],
)
def test_a_source_that_cannot_work_is_refused(
    steps: WorkflowSteps, source: dict[str, Any], message: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        steps.flow("a-b b-c", arguments={"b": [source]})
    assert refusal.value.code == "invalid_workflow"
    assert message in refusal.value.message
    assert refusal.value.faults[0].field.startswith("graph.nodes[1].arguments[0]")


def test_a_template_combines_texts_and_values(steps: WorkflowSteps) -> None:
    template = (
        "Hello {{ a.output[0].user.names[1] }}: {{a.output[1]}}, {{a.input[0]}}{{a.output[9]}}"
    )
    tasks = {"a": {"task_arguments": [X]}, "b": {"task_arguments": [X]}}
    flow = steps.flow("a-b", tasks=tasks, arguments={"b": [{"template": template}]})
    steps.run(flow, ["{{a.output[0]}}"])
    steps.ends("a", '{"output": [{"user": {"names": ["Ada", "Lovelace"]}}, {"n": 1}]}')
    # Values are inserted as they are: what looks like a placeholder in them is not one.
    assert steps.values("b") == ['Hello Lovelace: {"n":1}, {{a.output[0]}}']


def test_a_template_cannot_pass_on_a_masked_argument(steps: WorkflowSteps) -> None:
    tasks = {"a": {"task_arguments": [{**X, "masked": True}]}, "b": {"task_arguments": [X]}}
    sources = [{"template": "key {{a.input[0]}}"}]
    steps.run(steps.flow("a-b", tasks=tasks, arguments={"b": sources}), ["secret"])
    steps.ends("a")
    failed = steps.steps()[-1]
    assert steps.status(failed.id) == "finished/error"
    assert "masked or a file" in (failed.reason or "")


def test_the_text_of_a_template_is_limited(steps: WorkflowSteps) -> None:
    sources = [{"template": "{{a.output[0]}}" * 20}]
    steps.run(steps.flow("a-b", tasks={"b": {"task_arguments": [X]}}, arguments={"b": sources}))
    steps.ends("a", '{"output": ["' + "x" * 8_000 + '"]}')
    failed = steps.steps()[-1]
    assert steps.status(failed.id) == "finished/error"
    assert "more than" in (failed.reason or "")


def test_an_approval_shows_a_template_whose_values_are_all_known(
    steps: WorkflowSteps,
) -> None:
    arguments = {
        "c": [{"template": "{{b.output[0]}}!"}],
        "d": [{"template": "{{a.output[0]}} {{b.output[0]}}"}],
    }
    tasks = {"b": ASK, "c": {"task_arguments": [X]}, "d": {"task_arguments": [X]}}
    steps.run(steps.flow("a-b b-c b-d", tasks=tasks, arguments=arguments))
    steps.ends("a", '{"output": ["1"]}')
    (approval,) = [job for job in steps.steps() if job.lifecycle == "onhold"]
    planned_tasks = steps.db.write_blocking(plan.for_job, approval.id)
    assert {item.name: item.arguments for item in planned_tasks} == {"c": ["1!"], "d": None}
