"""How large the body of a request that runs something may be."""

from collections.abc import Callable
from typing import Any

from belvedere.access.request import AnyRequest
from belvedere.base.errors import TooLarge
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.tasks import store as tasks

# 1 MiB of arguments, escaped; more where a file is one of them.
MAX_BODY, MAX_FILE_BODY = 3 << 19, 32 << 20
# (tx, id of a task or workflow) -> whether one of its arguments is a file
TakesFile = Callable[[Any, str], bool]


async def admit(request: AnyRequest, object_id: str, takes_file: TakesFile) -> None:
    """A large body is read only for a task or workflow that takes a file."""
    length = request.header(b"content-length") or ""
    is_small = length.isdecimal() and len(length) < 10 and int(length) <= MAX_BODY
    if not is_small and await request.services.db.read(takes_file, object_id):
        request.max_body = MAX_FILE_BODY


async def admit_task(request: AnyRequest) -> None:
    """The same for a task that the path or the query names. Where only the body names it, a large
    body is read if any task of the organization takes a file; `check_task` follows."""
    task_id = request.path.get("id") or request.first("task") or ""
    await admit(
        request,
        task_id,
        lambda tx, object_id: _may_be_large(tx, request.actor.customer_id, object_id),
    )


async def check_task(request: AnyRequest, task_id: str) -> None:
    """Reject a large body for a task without a file argument; `admit_task` checked only the
    organization."""
    if len(request.raw) <= MAX_BODY:
        return
    if not await request.services.db.read(_takes_file, request.actor.customer_id, task_id):
        raise TooLarge(
            f"A run request of a task without a file argument may have at most {MAX_BODY} bytes."
        )


def _may_be_large(tx: Tx, customer_id: str, task_id: str) -> bool:
    if task_id:
        return _takes_file(tx, customer_id, task_id)
    return tasks.any_takes_file(tx, customer_id)


def _takes_file(tx: Tx, customer_id: str, task_id: str) -> bool:
    if not is_id(task_id):
        return False
    return tasks.takes_file(tx, task_id, customer_id)
