"""Valid and invalid definitions."""

from typing import Any

import msgspec
import pytest

from belvedere.base.errors import Invalid
from belvedere.tasks.bodies import concurrency, restore_masked
from belvedere.tasks.definition.validation import validate
from belvedere.tasks.model import Argument, ArgumentKind, TaskSpec, decode, encode


def spec(**fields: Any) -> TaskSpec:
    return msgspec.convert({"name": "greet", "type": "script", **fields}, TaskSpec)


def faults(**fields: Any) -> list[str]:
    with pytest.raises(Invalid) as refusal:
        validate(spec(**fields))
    return [fault.field for fault in refusal.value.faults]


def test_a_definition_is_normalized() -> None:
    task_spec = validate(
        spec(
            name="  deploy ",
            tags=["a", "a"],
            task_arguments=[
                {"type": "input", "label": "second", "order": 2},
                {"type": "fixed", "label": "first", "order": 1, "value": 5},
            ],
            retry={"times": 3, "delay": 1_000, "backoff": 2},
            env={"LANG": "C"},
        )
    )
    assert (task_spec.name, task_spec.tags) == ("deploy", ["a"])
    assert [
        (task_argument.label, task_argument.order) for task_argument in task_spec.task_arguments
    ] == [("first", 0), ("second", 1)]


def test_a_definition_is_stored_and_read_unchanged() -> None:
    task_spec = validate(spec(timeout=5, history={"count": 3}, env={"A": "é"}))
    assert decode(encode(task_spec)) == task_spec


@pytest.mark.parametrize(
    "fields, field",
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 257}, "name"),
        ({"tags": ["\t"]}, "tags"),
        ({"description": "\0"}, "description"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": 10**12}, "timeout"),
        ({"concurrency": 0}, "concurrency"),
        ({"grace_time": -1}, "grace_time"),
        ({"expires": 1}, "expires"),
        ({"history": {"count": -1}}, "history.count"),
        ({"retry": {"times": 101}}, "retry.times"),
        ({"retry": {"backoff": 0.5}}, "retry.backoff"),
        ({"retry": {"backoff": float("nan")}}, "retry.backoff"),
        ({"default_state_evaluation": "great"}, "default_state_evaluation"),
        ({"script_runas": "bash 'x"}, "script_runas"),
        ({"script_runas": "bash\0"}, "script_runas"),
        ({"os_user": "-x"}, "os_user"),
        ({"env": {"1A": "x"}}, "env.'1A'"),
        ({"env": {"A": "\0"}}, "env.A"),
        ({"env": {"A": "x" * 60_000, "B": "x" * 60_000, "C": "x" * 60_000}}, "env"),
        ({"output_parameters": ["x" * 70_000]}, "output_parameters"),
        ({"type": "scraper"}, "url"),
        ({"type": "scraper", "url": "ftp://x"}, "url"),
        ({"type": "scraper", "url": "http://[x"}, "url"),
        ({"type": "scraper", "url": "http://a", "method": "BREW"}, "method"),
        ({"type": "scraper", "url": "http://a", "status_code": "("}, "status_code"),
        ({"type": "scraper", "url": "http://a", "headers": {"A": "x\ny"}}, "headers.'A'"),
        ({"type": "approval"}, "approvers"),
        ({"type": "approval", "approvals_target": "anybody"}, "approvals_target"),
        ({"type": "approval", "approvers": ["a"], "default_answer": "maybe"}, "default_answer"),
        ({"type": "notification"}, "subject"),
        ({"task_arguments": [{"type": "input"}] * 101}, "task_arguments"),
        ({"task_arguments": [{"type": "regexp"}]}, "task_arguments[0].pattern"),
        ({"task_arguments": [{"type": "regexp", "pattern": "("}]}, "task_arguments[0].pattern"),
        ({"task_arguments": [{"type": "select"}]}, "task_arguments[0].options"),
        (
            {"task_arguments": [{"type": "select", "options": [{"id": 1}, {"id": "1"}]}]},
            "task_arguments[0].options",
        ),
        ({"task_arguments": [{"type": "fixed", "value": "a\0"}]}, "task_arguments[0].value"),
        ({"task_arguments": [{"type": "fixed", "value": ["\0"]}]}, "task_arguments[0].value"),
        (
            {"task_arguments": [{"type": "input", "charsmin": 5, "charsmax": 4}]},
            "task_arguments[0].charsmax",
        ),
    ],
)
def test_the_invalid_field_is_named(fields: dict[str, Any], field: str) -> None:
    assert faults(**fields) == [field]


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"timeout": 0}, "Must be 1ms to 30d."),
        ({"expires": 1}, "Must be 1s to 365d."),
        ({"retry": {"delay": -1}}, "Must be 0s to 1d."),
        ({"grace_time": -1}, "Must be 0s to 7d."),
        ({"concurrency": 0}, "Must be 1 to 10000."),
    ],
)
def test_a_duration_out_of_range_is_reported_with_units(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        validate(spec(**fields))
    assert [fault.message for fault in refused.value.faults] == [message]


def test_all_invalid_fields_are_named() -> None:
    assert faults(name="", timeout=0, env={"1": ""}) == ["name", "timeout", "env.'1'"]


@pytest.mark.parametrize(
    "record, multitasking, old, expected",
    [
        ({}, None, None, None),
        ({}, False, None, 1),
        ({}, True, 1, None),
        ({}, False, 4, 1),
        ({"concurrency": 4}, None, None, 4),
        ({"concurrency": 4}, True, None, 4),
        ({"concurrency": 1}, False, None, 1),
        # A record that is sent back with one of the two changed.
        ({"concurrency": 4}, False, 1, 4),
        ({"concurrency": 1}, True, 1, None),
        ({"concurrency": None}, False, None, 1),
        ({"concurrency": None}, True, 1, None),
    ],
)
def test_two_fields_say_how_many_run_at_once(
    record: dict[str, Any], multitasking: bool | None, old: int | None, expected: int | None
) -> None:
    assert concurrency(record, multitasking, old) == expected


def test_a_contradiction_is_refused() -> None:
    with pytest.raises(Invalid):
        concurrency({"concurrency": 4}, False, None)


def test_a_mask_that_is_sent_back_keeps_the_value() -> None:
    old = [Argument(ArgumentKind.FIXED, "key", id=0, masked=True, value="s3cret")]
    back = [msgspec.structs.replace(old[0], value="***", help="new")]
    assert restore_masked(back, old) == [msgspec.structs.replace(old[0], help="new")]
    changed = [msgspec.structs.replace(old[0], value="other")]
    assert restore_masked(changed, old) == changed
