"""The text of a job that searches compare: what the person who searches may read, up to a limit.

Masked arguments are left out, and so is the output, which is searched per job. The results of
scripts have their secrets masked before they are stored.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.db import Tx
from belvedere.jobs import specs, store

# Characters of each that are searched.
MAX_ARGUMENTS = MAX_RESULT = 1_000
# Longer arguments, as JSON, are not read; of a result only the beginning is.
MAX_STORED_ARGUMENTS, MAX_STORED_RESULT = 8_192, 4_096
# Rows that are in memory at once.
BATCH_SIZE = 200
# A text in JSON, cut or not, with the colon that makes it a key; or a number.
_VALUE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"(\s*:)?|\\?$)|-?\d[\d.eE+-]*', re.DOTALL)
# Their values are not those of the script.
_SKIPPED_KEYS = frozenset({"log", sealed_values.NAME})


class SearchRow(msgspec.Struct):
    """The columns that are searched, and those that the index has as scopes."""

    id: str
    customer_id: str
    type: str
    user_id: str
    task_id: str | None
    task_version: int | None
    workflow_id: str | None
    workflow_job_id: str | None
    state: str
    name: str
    username: str
    email: str
    arguments: str | None
    result: str | None


_COLUMNS = (
    "id, customer_id, type, user_id, task_id, task_version, workflow_id, workflow_job_id, state,"
    " name, username, email,"
    f" case when length(arguments) <= {MAX_STORED_ARGUMENTS} then arguments end,"
    f" substr(result, 1, {MAX_STORED_RESULT})"
)


def read_rows(tx: Tx, job_ids: Sequence[str]) -> Iterator[SearchRow]:
    """In any order; jobs that do not exist are left out."""
    for start in range(0, len(job_ids), BATCH_SIZE):
        yield from tx.all(
            SearchRow,
            f"select {_COLUMNS} from jobs where id in {tx.dialect.in_texts}",
            store.json_array(job_ids[start : start + BATCH_SIZE]),
        )


def text_of(tx: Tx, row: SearchRow) -> str:
    """In lower case, one field per line."""
    parts = (row.name, row.id, row.username, row.email, _arguments(tx, row), _result(row))
    return "\n".join(filter(None, map(_clean, parts)))


def contains_all(tx: Tx, row: SearchRow, terms: Sequence[str]) -> bool:
    """Whether the text of the job contains every term."""
    raw = "\n".join((row.name, row.id, row.username, row.email, row.arguments or "")).lower()
    raw += (row.result or "").lower()
    # Most rows are excluded without decoding JSON, where such a term reads the same.
    if any(term not in raw for term in terms if _reads_the_same(term)):
        return False
    text = text_of(tx, row)
    return all(term in text for term in terms)


def _reads_the_same(term: str) -> bool:
    return not any(sign in term for sign in (" ", '"', "\\"))


def _clean(text: str) -> str:
    """No control characters, and no differences that nobody sees."""
    return " ".join(text.replace("\0", " ").lower().split())


def _arguments(tx: Tx, row: SearchRow) -> str:
    if row.arguments in (None, "[]"):
        return ""
    values = msgspec.json.decode(row.arguments or "[]")
    definitions = specs.for_version(tx, row.task_id, row.task_version).task_arguments
    masked = {number for number, definition in enumerate(definitions) if definition.masked}
    texts = [_argument(value) for number, value in enumerate(values) if number not in masked]
    return " ".join(texts)[:MAX_ARGUMENTS]


def _argument(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "filename" in value:
        return str(value["filename"])
    return "" if sealed_values.is_value(value) else msgspec.json.encode(value).decode()


def _result(row: SearchRow) -> str:
    """The values, without the keys; it may be cut anywhere."""
    texts, size, key = list[str](), 0, ""
    for match in _VALUE.finditer(row.result or ""):
        if match[2]:
            key = match[1]
        elif key not in _SKIPPED_KEYS:
            texts.append(_unescaped(match[1]) if match[1] is not None else match[0])
            size += len(texts[-1]) + 1
        if size > MAX_RESULT:
            break
    return " ".join(texts)[:MAX_RESULT]


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        return msgspec.json.decode(f'"{text}"', type=str)
    except msgspec.DecodeError:
        # Cut inside an escape.
        return text
