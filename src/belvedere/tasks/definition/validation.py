"""Validates a definition before anything is written: all faults at once, each with its field."""

import math
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

import msgspec

from belvedere.access.customers.history_limits import MAX_COUNT, MAX_DAYS
from belvedere.base.clock import DAY, SECOND, Millis, range_text
from belvedere.base.errors import Fault, Invalid
from belvedere.base.text.regex_syntax import parse_pattern
from belvedere.rest import text_fields
from belvedere.rest.patterns import matcher
from belvedere.tasks.definition import argument_types
from belvedere.tasks.definition.argument_values import MAX_EACH
from belvedere.tasks.model import Argument, Retry, TaskSpec, Type

MAX_ARGUMENTS = 100
# Limits for all patterns of a task's arguments: characters, and sizes (rest/patterns/matcher.py).
MAX_PATTERN_TEXT = 10_000
MAX_PATTERN_SIZE = 5_000
MAX_JSON = 64 * 1024
# Members, assigned users, recipients; headers of a scraper; names in an environment.
MAX_PEOPLE = 1_000
MAX_HEADERS = 100
MAX_ENV = 1_000
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
STATES = ("", "success", "normal", "failure")
TARGETS = ("fixed", "initiator", "assignees")
ANSWERS = ("approve", "reject")
NO_NAME = "A name consists of letters, digits and '_', and does not start with a digit."
NO_APPROVER = Fault("approvers", "Specify at least one approver.")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_OS_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\$?")

Faults = Iterator[Fault]


def validate(spec: TaskSpec, *, may_lack_approvers: bool = False) -> TaskSpec:
    """The normalized definition; raises Invalid with a fault for every invalid field."""
    faults = [*_texts(spec), *_numbers(spec), *_arguments(spec.task_arguments)]
    faults += _BY_TYPE[spec.type](spec)
    if may_lack_approvers:
        faults = [fault for fault in faults if fault is not NO_APPROVER]
    if faults:
        raise invalid_task(faults)
    return msgspec.structs.replace(
        spec,
        name=text_fields.line("name", spec.name),
        tags=text_fields.tags("tags", spec.tags),
        task_arguments=sort_arguments(spec.task_arguments),
    )


def invalid_task(faults: Sequence[Fault]) -> Invalid:
    first = f"{faults[0].field}: {faults[0].message.rstrip('.')}."
    more = f" {len(faults) - 1} more fields are invalid." if len(faults) > 1 else ""
    return Invalid(f"The task is incomplete or invalid. {first}{more}", faults=tuple(faults))


def sort_arguments(arguments: Sequence[Argument]) -> list[Argument]:
    """Sorted by `order`, and renumbered from 0."""
    ordered = sorted(arguments, key=lambda argument: argument.order)
    return [
        msgspec.structs.replace(argument, order=n, id=n if argument.id is None else argument.id)
        for n, argument in enumerate(ordered)
    ]


def _texts(spec: TaskSpec) -> Faults:
    yield from text_fields.faults_of("name", text_fields.line, "name", spec.name, least=1)
    yield from text_fields.faults_of("tags", text_fields.tags, "tags", spec.tags)
    for name in ("short_description", "icon_color", "icon_image", "subject"):
        yield from text_fields.faults_of(name, text_fields.line, name, getattr(spec, name))
    for name in ("success_label", "failure_label", "cancel_label", "ignore_label"):
        yield from text_fields.faults_of(name, text_fields.line, name, getattr(spec, name))
    for name in ("description", "body"):
        yield from text_fields.faults_of(name, text_fields.prose, name, getattr(spec, name))
    for name in ("assigned_users", "user_inputs_members", "recipients"):
        if len(getattr(spec, name)) > MAX_PEOPLE:
            yield Fault(name, f"At most {MAX_PEOPLE} entries are allowed.")
            continue
        for n, entry in enumerate(getattr(spec, name)):
            yield from text_fields.faults_of(f"{name}[{n}]", text_fields.line, name, entry, least=1)
    yield from _json("output_parameters", spec.output_parameters)


def _numbers(spec: TaskSpec) -> Faults:
    if spec.timeout is not None:
        yield from _lasting("timeout", spec.timeout, 1, 30 * DAY)
    if spec.concurrency is not None:
        yield from _within("concurrency", spec.concurrency, 1, 10_000)
    yield from _lasting("grace_time", spec.grace_time * SECOND, 0, 7 * DAY)
    yield from _lasting("expires", spec.expires, SECOND, 365 * DAY)
    yield from _within("history.count", spec.history.count, 0, MAX_COUNT)
    yield from _within("history.days", spec.history.days, 0, MAX_DAYS)
    if spec.retry is not None:
        yield from retry_faults(spec.retry)


def retry_faults(retry: Retry) -> Faults:
    yield from _within("retry.times", retry.times, 0, 100)
    yield from _lasting("retry.delay", retry.delay, 0, DAY)
    if not (math.isfinite(retry.backoff) and 1 <= retry.backoff <= 10):
        yield Fault("retry.backoff", "Must be 1 to 10.")


def _script(spec: TaskSpec) -> Faults:
    yield from _choice("default_state_evaluation", spec.default_state_evaluation, STATES)
    yield from text_fields.faults_of(
        "script_runas", text_fields.line, "", spec.script_runas, most=1_024
    )
    try:
        shlex.split(spec.script_runas)
    except ValueError:
        yield Fault("script_runas", "Close the quotation mark.")
    if spec.os_user and not _OS_USER.fullmatch(spec.os_user):
        yield Fault("os_user", "Must be the name of a user on the host.")
    yield from env_faults("env", spec.env)


def env_faults(field: str, env: dict[str, str]) -> Faults:
    if len(env) > MAX_ENV:
        yield Fault(field, f"At most {MAX_ENV} names are allowed.")
        return
    if sum(len(name) + len(value) for name, value in env.items()) > MAX_EACH:
        yield Fault(field, f"At most {MAX_EACH} characters in total are allowed.")
        return
    for name, value in env.items():
        if not _ENV_NAME.fullmatch(name):
            yield Fault(f"{field}.{name[:64]!r}", NO_NAME)
        yield from text_fields.faults_of(f"{field}.{name[:64]}", text_fields.prose, "", value)


def _scraper(spec: TaskSpec) -> Faults:
    if not _is_address(spec.url):
        yield Fault("url", "Must be an address such as https://example.com/health.")
    yield from _choice("method", spec.method, METHODS)
    yield from _choice("parser", spec.parser, ("", "pattern"))
    yield from text_fields.faults_of("status_code", parse_pattern, spec.status_code)
    yield from text_fields.faults_of("pattern", parse_pattern, spec.pattern)
    if len(spec.headers) > MAX_HEADERS:
        yield Fault("headers", f"At most {MAX_HEADERS} headers are allowed.")
        return
    for name, value in spec.headers.items():
        if not _HEADER.fullmatch(name) or not value.isprintable():
            yield Fault(f"headers.{name[:64]!r}", "This is not a valid header.")


def _is_address(url: str) -> bool:
    # Checked first: urlsplit normalizes non-ASCII characters, which is slow for a long text.
    if len(url) > 2_048:
        return False
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  (reading it checks it)
    except ValueError:
        return False
    is_plain = url.isprintable() and " " not in url
    return is_plain and parts.scheme in ("http", "https") and bool(parts.hostname)


def _approval(spec: TaskSpec) -> Faults:
    yield from _choice("approvals_target", spec.approvals_target, TARGETS)
    yield from _choice("default_answer", spec.default_answer, ANSWERS)
    if spec.approvals_target == "fixed" and not spec.approvers:
        yield NO_APPROVER
    if not (spec.success_enabled or spec.failure_enabled):
        yield Fault("failure_enabled", "No one could answer it: success_enabled is also off.")
    if spec.four_eyes and spec.approvals_target == "initiator":
        yield Fault(
            "four_eyes", "No one could approve it: the approver is the person who starts it."
        )
    if spec.four_eyes and spec.default_answer == "approve":
        yield Fault(
            "four_eyes", "It requires an answer from a person, so it cannot be approved by default."
        )


def _notification(spec: TaskSpec) -> Faults:
    if not spec.subject.strip():
        yield Fault("subject", "This field is required.")


_BY_TYPE: dict[Type, Callable[[TaskSpec], Faults]] = {
    Type.SCRIPT: _script,
    Type.SCRAPER: _scraper,
    Type.APPROVAL: _approval,
    Type.DUMMY: lambda spec: iter(()),
    Type.NOTIFICATION: _notification,
}


def _arguments(arguments: Sequence[Argument]) -> Faults:
    if len(arguments) > MAX_ARGUMENTS:
        yield Fault("task_arguments", f"Define at most {MAX_ARGUMENTS} arguments.")
        return
    if sum(map(len, pattern_texts(arguments))) > MAX_PATTERN_TEXT:
        yield Fault(
            "task_arguments",
            f"All patterns together may have at most {MAX_PATTERN_TEXT} characters.",
        )
        return
    yield from _argument_faults(arguments)


def pattern_texts(arguments: Sequence[Argument]) -> set[str]:
    return {argument.pattern for argument in arguments if argument.pattern}


def _argument_faults(arguments: Sequence[Argument]) -> Faults:
    has_fault = False
    for n, argument in enumerate(arguments):
        for fault in _argument(argument):
            has_fault = True
            yield Fault(f"task_arguments[{n}].{fault.field}", fault.message)
    if not has_fault and sum(map(matcher.size, pattern_texts(arguments))) > MAX_PATTERN_SIZE:
        yield Fault(
            "task_arguments",
            "The patterns are too large together; use fewer, or smaller numbers in {…}.",
        )


def _argument(argument: Argument) -> Faults:
    for name in ("label", "endpoint_url", "id_attribute", "text_attribute"):
        most = 2_048 if name == "endpoint_url" else text_fields.MAX_LINE
        yield from text_fields.faults_of(
            name, text_fields.line, name, getattr(argument, name), most=most
        )
    yield from text_fields.faults_of("help", text_fields.prose, "help", argument.help)
    yield from _json("value", argument.value)
    yield from _lengths(argument)
    if argument.pattern:
        yield from text_fields.faults_of("pattern", matcher.size, argument.pattern)
    yield from argument_types.definition_faults(argument)


def _lengths(argument: Argument) -> Faults:
    for name in ("charsmin", "charsmax"):
        if getattr(argument, name) is not None:
            yield from _within(name, getattr(argument, name), 0, MAX_EACH)
    least, most = argument.charsmin, argument.charsmax
    if least is not None and most is not None and least > most:
        yield Fault("charsmax", "Must not be less than charsmin.")


def _json(field: str, value: object) -> Faults:
    """Any JSON value, within the size limit and without characters that a database rejects."""
    try:
        text = argument_types.text_of(value)
    except argument_types.InvalidArgument as fault:
        yield Fault(field, f"The value {fault}.")
        return
    if len(text) > MAX_JSON:
        yield Fault(field, f"At most {MAX_JSON} characters are allowed.")
    if "\0" in text or "\\u0000" in text:
        yield Fault(field, "The value contains a NUL, which cannot be passed to a program.")


def _within(field: str, value: int, least: int, most: int) -> Faults:
    if not least <= value <= most:
        yield Fault(field, f"Must be {least} to {most}.")


def _lasting(field: str, value: Millis, least: Millis, most: Millis) -> Faults:
    if not least <= value <= most:
        yield Fault(field, f"Must be {range_text(least, most)}.")


def _choice(field: str, value: str, allowed: Sequence[str]) -> Faults:
    if value not in allowed:
        yield Fault(field, f"Must be one of {', '.join(word for word in allowed if word)}.")
