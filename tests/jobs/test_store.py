"""The statements of the jobs table are derived from one list of columns."""

import re

import pytest

from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.jobs.model import JobRow
from belvedere.jobs.store import ASSIGNED, CHANGING, ENDED, IMMUTABLE, EndColumns


class Recorder:
    """Stands in for a transaction: records statements and parameters."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[tuple[object, ...]]]] = []

    def update_many(self, sql: str, rows: list[tuple[object, ...]]) -> None:
        self.calls.append((sql, rows))


def job() -> JobRow:
    """Every column has a value of its own."""
    values = {name: f"<{name}>" for name in JobRow.__struct_fields__}
    return JobRow(**{**values, "version": 8})  # type: ignore[arg-type]


def check(sql: str, parameters: tuple[object, ...]) -> None:
    """Each parameter belongs to the column at its position."""
    names = re.findall(r"(\w+) = \?", sql)
    expected = [8 if name == "version" else f"<{name}>" for name in names]
    expected[-1] = 7
    assert list(parameters) == expected


def test_every_column_is_either_immutable_or_written_by_save() -> None:
    assert IMMUTABLE | set(CHANGING) == set(JobRow.__struct_fields__)
    assert set(ASSIGNED) | set(ENDED) <= set(CHANGING)


def test_saving_writes_each_value_into_its_column() -> None:
    recorder: Recorder | Tx = Recorder()
    store.save(recorder, [job()])  # type: ignore[arg-type]
    store.save_assigned(recorder, [job()])  # type: ignore[arg-type]
    end = EndColumns("<result>", "<output>", "<log>")
    store.save_ended(recorder, [(job(), end)])  # type: ignore[arg-type]
    assert isinstance(recorder, Recorder)
    for sql, [parameters] in recorder.calls:
        check(sql, parameters)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (
            ASSIGNED,
            "update jobs set lifecycle = ?, version = ?, fence = ?, attempts = ?, reason = ?,"
            " updated_at = ?, assigned_at = ?, started_at = ?, deadline_at = ?"
            " where id = ? and version = ?",
        ),
        (
            (*ENDED, "result", "output", "log"),
            "update jobs set lifecycle = ?, state = ?, version = ?, ran = ?, reason = ?,"
            " trigger_name = ?, unreachable_at = ?, reconciled = ?, updated_at = ?,"
            " started_at = ?, ended_at = ?, result = ?, output = ?, log = ?"
            " where id = ? and version = ?",
        ),
    ],
)
def test_an_update_names_only_the_columns_that_change(columns: tuple[str, ...], text: str) -> None:
    """Byte for byte as before the list of columns: batches use the text as a key."""
    assert store.update_statement(columns) == text
