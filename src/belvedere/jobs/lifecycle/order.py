"""Orders: what an agent gets to run a claimed job."""

import shlex
from typing import Any

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.text import trace_context
from belvedere.base.text.request_masking import literals
from belvedere.jobs import scraper, specs
from belvedere.jobs.lifecycle.claim import Claimed
from belvedere.protocol import BlobArgument, Order
from belvedere.secrets.environment import ScriptEnvironment, decrypt
from belvedere.tasks.definition.argument_types import media_type_of
from belvedere.tasks.definition.masking import request_of
from belvedere.tasks.model import TaskSpec

_arguments = msgspec.json.Decoder(list[Any]).decode
_encode = msgspec.json.Encoder().encode
NO_SECRETS = ScriptEnvironment()


def order_of(claimed: Claimed, session: int, base_url: str, keys: Keyring | None = None) -> Order:
    """The order. Without `keys` no secret is opened: for agents that cannot mask output."""
    job, spec = claimed.job, claimed.spec
    secrets = (
        decrypt(keys, claimed.secrets, job.task_id) if keys and claimed.secrets else NO_SECRETS
    )
    arguments = _clear(claimed, keys)
    words, blobs = _argv(arguments)
    runas = shlex.split(spec.script_runas) if spec.script_runas else []
    masks = [*secrets.hidden, *_masked(spec, arguments)]
    if job.type == "ScraperJob":
        values = {**secrets.of_customer, **secrets.of_task}
        words, blobs = [scraper.argument(spec, job.timeout, values)], []
        runas, masks = scraper.RUNAS, [*masks, *literals(request_of(spec))]
    return Order(
        session=session,
        fence=job.fence,
        job_id=job.id,
        sha256=job.script_sha256 or "",
        filename=job.script_filename or "script",
        runas=runas,
        arguments=words,
        env=_environment(claimed, base_url, secrets),
        timeout_ms=job.timeout,
        grace_ms=specs.grace_ms(spec),
        daemonize=spec.daemonize,
        os_user=spec.os_user,
        blobs=blobs,
        masks=masks,
    )


def _clear(claimed: Claimed, keys: Keyring | None) -> str:
    """The values of the job; masked values are sealed in the database."""
    if keys is None or sealed_values.OBJECT not in claimed.arguments:
        return claimed.arguments
    values = sealed_values.open_values(keys, claimed.job.customer_id, _arguments(claimed.arguments))
    return _encode(sealed_values.mask_values(values)).decode()


def _masked(spec: TaskSpec, arguments: str) -> list[str]:
    """Values of masked arguments, which the agent masks in the output."""
    if not [argument for argument in spec.task_arguments if argument.masked]:
        return []
    values = _arguments(arguments)
    return [
        value
        for argument, value in zip(spec.task_arguments, values, strict=False)
        if argument.masked and isinstance(value, str) and value
    ]


def _argv(arguments: str) -> tuple[list[str], list[BlobArgument]]:
    if arguments == "[]":
        return [], []
    words: list[str] = []
    blobs: list[BlobArgument] = []
    for index, value in enumerate(sealed_values.mask_values(_arguments(arguments))):
        if isinstance(value, dict):
            blobs.append(BlobArgument(index, value["blob"], value["filename"]))
            words.append("")
        else:
            words.append(value)
    return words, blobs


def media_types(arguments: str) -> dict[int, str]:
    """The media types of the files among these arguments, by index. Jobs of earlier versions have
    the file names only."""
    return {
        index: media_type_of(value.get("mimetype", ""), value["filename"])
        for index, value in enumerate(_arguments(arguments))
        if isinstance(value, dict) and "filename" in value
    }


def file_hashes(arguments: str) -> set[str]:
    """Hashes of the files among these arguments of a job."""
    return {blob.sha256 for blob in _argv(arguments)[1]}


def _environment(claimed: Claimed, base_url: str, secrets: ScriptEnvironment) -> dict[str, str]:
    """Variables about the job: Belvedere's as plain text, TheEye's as JSON. Then configured ones:
    those of the task override those of the workflow and of the organization."""
    job = claimed.job
    user = {"id": job.user_id, "email": job.email, "username": job.username}
    flow = {"job_id": job.workflow_job_id, "id": job.workflow_id}
    trace = trace_context.for_children(job.traceparent, job.id)
    return {
        "BELVEDERE_URL": base_url,
        "BELVEDERE_CUSTOMER": claimed.customer_name,
        "BELVEDERE_JOB_ID": job.id,
        "BELVEDERE_TASK_ID": job.task_id or "",
        "BELVEDERE_ATTEMPT": str(job.attempts),
        "BELVEDERE_ORIGIN": job.origin,
        "BELVEDERE_USER_ID": job.user_id,
        "BELVEDERE_USER_EMAIL": job.email,
        "THEEYE_JOB": _encode({"id": job.id, "task_id": job.task_id}).decode(),
        "THEEYE_JOB_USER": _encode(user).decode(),
        "THEEYE_JOB_WORKFLOW": _encode(flow).decode(),
        "THEEYE_ORGANIZATION_NAME": _encode(claimed.customer_name).decode(),
        "THEEYE_API_URL": _encode(base_url).decode(),
        **({} if trace is None else {trace_context.VARIABLE: trace}),
        **secrets.of_customer,
        **claimed.constants,
        **claimed.spec.env,
        **secrets.of_task,
    }
