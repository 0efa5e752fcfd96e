"""An order as an agent of the original reads it.

It has weaknesses that are guarded here: it needs a command and arguments that are strings, it
keeps scripts by their file name only, and it says nothing of a job that it does not understand.
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
from belvedere.jobs.lifecycle.order import order_of
from belvedere.protocol import Order
from belvedere.secrets import references
from belvedere.secrets.environment import opened
from belvedere.tasks.definition import masking

# Where a task asks for no particular status, anything below 400 is good.
ANY_GOOD = "[123][0-9][0-9]"


class Script(msgspec.Struct):
    id: str
    filename: str
    md5: str


class OldJob(msgspec.Struct, omit_defaults=True):
    """What of a job such an agent reads, and a little more."""

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
    script: Script | None = None
    script_id: str | None = None
    script_runas: str | None = None
    task_arguments_values: list[str] | None = None
    env: dict[str, str] | None = None
    task: dict[str, Any] | None = None


class OldJobs(msgspec.Struct):
    """The answer to a poll."""

    jobs: list[OldJob]


def update_of(job_id: str, host_id: str) -> OldJob:
    """Read your configuration again."""
    return OldJob(job_id, "AgentUpdateJob", "agent:config:update", host_id=host_id)


def job_of(tx: Tx, claimed: Claimed, base_url: str, keys: Keyring) -> OldJob:
    job, spec = claimed.job, claimed.spec
    found = OldJob(
        job.id,
        job.type,
        job.name,
        task_id=job.task_id,
        host_id=job.host_id,
        customer_name=claimed.customer_name,
        timeout=job.timeout,
    )
    # It cannot hide anything: it gets what may be seen.
    seen = [row for row in claimed.secrets if not row.is_secret]
    if job.type == "ScraperJob":
        given = opened(keys, seen, job.task_id)
        known = {**given.of_customer, **given.of_task}
        config = msgspec.to_builtins(spec)
        found.task = request_of(references.resolved(config, known), job.timeout)
        return found
    order = order_of(msgspec.structs.replace(claimed, secrets=seen), 0, base_url, keys)
    content = files.content_of(tx, order.sha256) or b""
    # The job's own id: what is fetched by it is the version that the job was made with.
    found.script_id = job.id
    found.script = Script(job.id, cached_name(order.sha256, order.filename), md5_of(content))
    found.script_runas = command(order.runas, content)
    found.task_arguments_values = _arguments(tx, order)
    found.env = order.env
    return found


def cannot(claimed: Claimed) -> str:
    """Why this agent must not get the job; empty when it may."""
    if claimed.spec.os_user:
        return "it cannot run as another user"
    task_id = claimed.job.task_id
    if any(row.is_secret and row.task_id == task_id for row in claimed.secrets):
        return "it cannot hide secrets in output, and this task has secrets of its own"
    names = references.names_in(masking.request_of(claimed.spec))
    if names - _seen_by(claimed):
        return "it cannot hide secrets in output, and this task refers to one"
    return ""


def _seen_by(claimed: Claimed) -> set[str]:
    """The variables that the job's task may use."""
    mine = ("", claimed.job.task_id)
    return {row.name for row in claimed.secrets if row.task_id in mine and not row.is_secret}


def request_of(config: dict[str, Any], timeout_ms: int) -> dict[str, Any]:
    """A web request as that agent reads it: of a task, or of a monitor."""
    pattern = config.get("pattern", "")
    wanted = config.get("status_code") or ANY_GOOD
    return {
        "url": config["url"],
        "method": config.get("method", "GET"),
        "headers": config.get("headers", {}),
        "body": config.get("body", ""),
        "json": config.get("json", False),
        "gzip": config.get("gzip", False),
        "timeout": timeout_ms,
        # It looks for the expression anywhere; we mean the whole status.
        "status_code": f"^(?:{wanted})$",
        "parser": "pattern" if pattern else "",
        "pattern": pattern,
        "register_body": config.get("register_body", False),
        "external": False,
    }


def cached_name(sha256: str, filename: str) -> str:
    """Another content has another name, for the agent compares nothing else."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", filename).lstrip(".") or "script"
    return f"{sha256[:16]}-{plain[-100:]}"


def md5_of(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def command(runas: list[str], content: bytes) -> str:
    """Never empty, and always with the script in its place."""
    words = ["python3" if word == "%python%" else word for word in runas]
    if not words:
        words = [] if content.startswith((b"#!", b"\x7fELF")) else ["bash"]
    if not any("%script%" in word for word in words):
        words.append("%script%")
    return shlex.join(words)


def _arguments(tx: Tx, order: Order) -> list[str]:
    """Files travel as data URLs, which it turns into files again."""
    words = list(order.arguments)
    for blob in order.blobs:
        content = files.content_of(tx, blob.sha256) or b""
        written = base64.b64encode(content).decode()
        words[blob.index] = f"data:application/octet-stream;base64,{written}"
    return words
