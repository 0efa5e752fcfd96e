"""Orders for TheEye agents.

Such an agent needs a command and arguments that are strings, caches scripts by their file name
only, and reports nothing about a job that it does not understand.
"""

import base64
import hashlib
import re
import shlex
from typing import Any

import msgspec

from belvedere import files
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Tx
from belvedere.jobs.lifecycle.claim import Claimed
from belvedere.jobs.lifecycle.order import media_types, order_of
from belvedere.protocol import Order
from belvedere.secrets import references
from belvedere.secrets.environment import decrypt
from belvedere.tasks.definition import masking

# If a task expects no particular status, every status below 400 is a success.
ANY_SUCCESS_STATUS = "[123][0-9][0-9]"


class LegacyScript(msgspec.Struct):
    id: str
    filename: str
    md5: str


class LegacyJob(msgspec.Struct, omit_defaults=True):
    """The fields of a job for a TheEye agent."""

    id: str
    type_: str = msgspec.field(name="_type")
    name: str
    lifecycle: str = "assigned"
    state: str = "in_progress"
    task_id: str | None = None
    host_id: str | None = None
    customer_name: str = ""
    timeout: int | None = None
    agent_logging: bool = False
    script: LegacyScript | None = None
    script_id: str | None = None
    script_runas: str | None = None
    task_arguments_values: list[str] | None = None
    env: dict[str, str] | None = None
    task: dict[str, Any] | None = None


class LegacyJobs(msgspec.Struct):
    """The response to a poll."""

    jobs: list[LegacyJob]


def config_update_job(job_id: str, host_id: str) -> LegacyJob:
    """Makes the agent read its configuration again."""
    return LegacyJob(job_id, "AgentUpdateJob", "agent:config:update", host_id=host_id)


def legacy_job(tx: Tx, claimed: Claimed, base_url: str, keys: Keyring) -> LegacyJob:
    job, spec = claimed.job, claimed.spec
    legacy = LegacyJob(
        job.id,
        job.type,
        job.name,
        task_id=job.task_id,
        host_id=job.host_id,
        customer_name=claimed.customer_name,
        timeout=job.timeout,
    )
    # The agent cannot mask output, so it gets no secrets.
    plain_rows = [row for row in claimed.secrets if not row.is_secret]
    if job.type == "ScraperJob":
        environment = decrypt(keys, plain_rows, job.task_id)
        values = {**environment.of_customer, **environment.of_task}
        config = msgspec.to_builtins(spec)
        legacy.task = legacy_request(references.resolve(config, values), job.timeout)
        return legacy
    order = order_of(msgspec.structs.replace(claimed, secrets=plain_rows), 0, base_url, keys)
    content = files.content_of(tx, order.sha256) or b""
    # The job's id: the agent fetches the version of the script that the job was created with.
    legacy.script_id = job.id
    legacy.script = LegacyScript(job.id, cached_name(order.sha256, order.filename), md5_of(content))
    legacy.script_runas = command(order.runas, content)
    legacy.task_arguments_values = _arguments(tx, order, media_types(claimed.arguments))
    legacy.env = order.env
    return legacy


def unsupported_reason(claimed: Claimed) -> str:
    """Why a TheEye agent cannot run the job; empty if it can."""
    if claimed.spec.os_user:
        return "it cannot run as another user"
    task_id = claimed.job.task_id
    if any(row.is_secret and row.task_id == task_id for row in claimed.secrets):
        return "it cannot hide secrets in output, and this task has secrets of its own"
    names = references.names_in(masking.request_of(claimed.spec))
    if names - _plain_variables(claimed):
        return "it cannot hide secrets in output, and this task refers to one"
    return ""


def _plain_variables(claimed: Claimed) -> set[str]:
    """The names of non-secret variables that the job's task may use."""
    task_ids = ("", claimed.job.task_id)
    return {row.name for row in claimed.secrets if row.task_id in task_ids and not row.is_secret}


def legacy_request(config: dict[str, Any], timeout_ms: int) -> dict[str, Any]:
    """A web request of a task or a monitor, for a TheEye agent."""
    pattern = config.get("pattern", "")
    status_code = config.get("status_code") or ANY_SUCCESS_STATUS
    return {
        "url": config["url"],
        "method": config.get("method", "GET"),
        "headers": config.get("headers", {}),
        "body": config.get("body", ""),
        "json": config.get("json", False),
        "gzip": config.get("gzip", False),
        "timeout": timeout_ms,
        # The agent searches for the expression; it must match the whole status.
        "status_code": f"^(?:{status_code})$",
        "parser": "pattern" if pattern else "",
        "pattern": pattern,
        "register_body": config.get("register_body", False),
        "external": False,
    }


def cached_name(sha256: str, filename: str) -> str:
    """A name that depends on the content, because the agent compares names only."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", filename).lstrip(".") or "script"
    return f"{sha256[:16]}-{plain[-100:]}"


def md5_of(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def command(runas: list[str], content: bytes) -> str:
    """The command line of the script; never empty, always with the script's path."""
    words = ["python3" if word == "%python%" else word for word in runas]
    if not words:
        words = [] if content.startswith((b"#!", b"\x7fELF")) else ["bash"]
    if not any("%script%" in word for word in words):
        words.append("%script%")
    return shlex.join(words)


def _arguments(tx: Tx, order: Order, types: dict[int, str]) -> list[str]:
    """Files are sent as data URLs, which the agent writes to files."""
    words = list(order.arguments)
    for blob in order.blobs:
        content = files.content_of(tx, blob.sha256) or b""
        written = base64.b64encode(content).decode()
        words[blob.index] = f"data:{types[blob.index]};base64,{written}"
    return words
