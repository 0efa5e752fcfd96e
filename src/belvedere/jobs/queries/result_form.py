"""The result of an ended job in the form that the query asks for, and the key that reads it."""

import hmac
from collections.abc import Mapping

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest import query as values

Query = Mapping[str, list[str]]

# Any of them in the query of a run request asks for the result instead of the job.
OPTIONS = ("full", "result", "output", "parse")
FORM_QUERY = (
    ("full", "the whole job"),
    ("result", "its result"),
    ("output", "all values of its output"),
    ("parse", "the index of one value of its output, decoded; default 0"),
)


def job_secret(keys: Keyring, job_id: str) -> str:
    """The key that reads the result of one job; the response to a start by a secret contains it."""
    return keys.digest(f"result of job {job_id}")


def is_job_secret(keys: Keyring, job_id: str, secret: str) -> bool:
    return hmac.compare_digest(job_secret(keys, job_id).encode(), secret.encode())


def has_form(query: Query) -> bool:
    return any(is_set(query, name) for name in OPTIONS if name in query)


def check(query: Query) -> int:
    """The index in `parse`; refused before anything is started or waited for."""
    index = _first(query, "parse")
    return values.integer("parse", index) if index else 0


def in_form(query: Query, record: JobRecord) -> object:
    if is_set(query, "full"):
        return record
    if is_set(query, "result"):
        return record.result or None
    return record.output if is_set(query, "output") else _parsed(record.output, check(query))


def is_set(query: Query, name: str) -> bool:
    """A parameter without a value counts as true. `parse=0` is the first value."""
    if name == "parse":
        return name in query
    return name in query and _first(query, name).lower() not in ("false", "0")


def _first(query: Query, name: str) -> str:
    return query[name][0] if query.get(name) else ""


def _parsed(output: object, index: int) -> object:
    """One value of the output, decoded where it is JSON."""
    if not isinstance(output, list) or not 0 <= index < len(output):
        return None
    try:
        return msgspec.json.decode(output[index])
    except (msgspec.DecodeError, TypeError):
        return output[index]
