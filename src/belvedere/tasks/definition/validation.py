"""Checking a definition before anything is written: every fault at once, each by its field."""

import math
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from belvedere.base.clock import DAY
from belvedere.base.errors import Fault, Invalid
from belvedere.base.text.regex_syntax import parse_pattern
from belvedere.rest import text_fields
from belvedere.rest.patterns import matcher
from belvedere.tasks.definition import argument_types
from belvedere.tasks.definition.argument_values import MAX_EACH
from belvedere.tasks.model import Argument, ArgumentKind, Option, Retry, TaskSpec, Type

MAX_ARGUMENTS = 100
MAX_OPTIONS = 1_000
# Of all patterns of a task's arguments: characters, and their sizes (rest/patterns/matcher.py).
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
NO_NAME = "A name has letters, digits and '_', no digit first."
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_OS_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\$?")

Faults = Iterator[Fault]


def checked(spec: TaskSpec) -> TaskSpec:
    """The definition in its final form; Invalid with a fault for every field that is wrong."""
    faults = [*_texts(spec), *_numbers(spec), *_arguments(spec.task_arguments)]
    faults += _BY_TYPE[spec.type](spec)
    if faults:
        raise refusal(faults)
    return msgspec.structs.replace(
        spec,
        name=text_fields.line("name", spec.name),
        tags=text_fields.tags("tags", spec.tags),
        task_arguments=in_order(spec.task_arguments),
    )


def refusal(faults: Sequence[Fault]) -> Invalid:
    first = f"{faults[0].field}: {faults[0].message.rstrip('.')}."
    more = f" {len(faults) - 1} more fields are wrong." if len(faults) > 1 else ""
    return Invalid(f"The task is not complete or not right. {first}{more}", faults=tuple(faults))


def in_order(arguments: Sequence[Argument]) -> list[Argument]:
    """By their `order`, numbered anew from 0."""
    ordered = sorted(arguments, key=lambda argument: argument.order)
    return [
        msgspec.structs.replace(argument, order=n, id=n if argument.id is None else argument.id)
        for n, argument in enumerate(ordered)
    ]


def _texts(spec: TaskSpec) -> Faults:
    yield from _try("name", text_fields.line, "name", spec.name, least=1)
    yield from _try("tags", text_fields.tags, "tags", spec.tags)
    for name in ("short_description", "icon_color", "icon_image", "subject"):
        yield from _try(name, text_fields.line, name, getattr(spec, name))
    for name in ("success_label", "failure_label", "cancel_label", "ignore_label"):
        yield from _try(name, text_fields.line, name, getattr(spec, name))
    for name in ("description", "body"):
        yield from _try(name, text_fields.prose, name, getattr(spec, name))
    for name in ("assigned_users", "user_inputs_members", "recipients"):
        if len(getattr(spec, name)) > MAX_PEOPLE:
            yield Fault(name, f"Give at most {MAX_PEOPLE}.")
            continue
        for n, entry in enumerate(getattr(spec, name)):
            yield from _try(f"{name}[{n}]", text_fields.line, name, entry, least=1)
    yield from _json("output_parameters", spec.output_parameters)


def _numbers(spec: TaskSpec) -> Faults:
    if spec.timeout is not None:
        yield from _within("timeout", spec.timeout, 1, 30 * DAY)
    if spec.concurrency is not None:
        yield from _within("concurrency", spec.concurrency, 1, 10_000)
    yield from _within("grace_time", spec.grace_time, 0, 7 * 24 * 3600)
    yield from _within("expires", spec.expires, 1_000, 365 * DAY)
    yield from _within("history.count", spec.history.count, 0, 1_000_000)
    yield from _within("history.days", spec.history.days, 0, 36_500)
    if spec.retry is not None:
        yield from retry_faults(spec.retry)


def retry_faults(retry: Retry) -> Faults:
    yield from _within("retry.times", retry.times, 0, 100)
    yield from _within("retry.delay", retry.delay, 0, DAY)
    if not (math.isfinite(retry.backoff) and 1 <= retry.backoff <= 10):
        yield Fault("retry.backoff", "Give 1 to 10.")


def _script(spec: TaskSpec) -> Faults:
    yield from _choice("default_state_evaluation", spec.default_state_evaluation, STATES)
    yield from _try("script_runas", text_fields.line, "", spec.script_runas, most=1_024)
    try:
        shlex.split(spec.script_runas)
    except ValueError:
        yield Fault("script_runas", "A quotation mark is not closed.")
    if spec.os_user and not _OS_USER.fullmatch(spec.os_user):
        yield Fault("os_user", "Give the name of a user of the host.")
    yield from env_faults("env", spec.env)


def env_faults(field: str, env: dict[str, str]) -> Faults:
    if len(env) > MAX_ENV:
        yield Fault(field, f"Give at most {MAX_ENV} names.")
        return
    if sum(len(name) + len(value) for name, value in env.items()) > MAX_EACH:
        yield Fault(field, f"Give at most {MAX_EACH} characters in all.")
        return
    for name, value in env.items():
        if not _ENV_NAME.fullmatch(name):
            yield Fault(f"{field}.{name[:64]!r}", NO_NAME)
        yield from _try(f"{field}.{name[:64]}", text_fields.prose, "", value)


def _scraper(spec: TaskSpec) -> Faults:
    if not _is_address(spec.url):
        yield Fault("url", "Give an address such as https://example.com/health.")
    yield from _choice("method", spec.method, METHODS)
    yield from _choice("parser", spec.parser, ("", "pattern"))
    yield from _try("status_code", parse_pattern, spec.status_code)
    yield from _try("pattern", parse_pattern, spec.pattern)
    if len(spec.headers) > MAX_HEADERS:
        yield Fault("headers", f"Give at most {MAX_HEADERS}.")
        return
    for name, value in spec.headers.items():
        if not _HEADER.fullmatch(name) or not value.isprintable():
            yield Fault(f"headers.{name[:64]!r}", "This is no header.")


def _is_address(url: str) -> bool:
    # First of all: urlsplit normalizes what is beyond ASCII, which takes long for a long text.
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
        yield Fault("approvers", "Name at least one member who may approve.")
    if spec.four_eyes and spec.approvals_target == "initiator":
        yield Fault("four_eyes", "Nobody could approve it: the approver is the one who starts it.")
    if spec.four_eyes and spec.default_answer == "approve":
        yield Fault("four_eyes", "It needs somebody's answer, so silence cannot approve.")


def _notification(spec: TaskSpec) -> Faults:
    if not spec.subject.strip():
        yield Fault("subject", "Give the subject.")


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
        yield Fault("task_arguments", f"Give patterns of at most {MAX_PATTERN_TEXT} characters.")
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
        yield from _try(name, text_fields.line, name, getattr(argument, name), most=most)
    yield from _try("help", text_fields.prose, "help", argument.help)
    yield from _json("value", argument.value)
    yield from _lengths(argument)
    if argument.type is ArgumentKind.REGEXP or argument.pattern:
        yield from _try("pattern", matcher.size, argument.pattern)
    if argument.type is ArgumentKind.REGEXP and not argument.pattern:
        yield Fault("pattern", "Give the pattern that a value must fit.")
    if argument.type is ArgumentKind.SELECT:
        yield from _options(argument.options)


def _lengths(argument: Argument) -> Faults:
    for name in ("charsmin", "charsmax"):
        if getattr(argument, name) is not None:
            yield from _within(name, getattr(argument, name), 0, MAX_EACH)
    least, most = argument.charsmin, argument.charsmax
    if least is not None and most is not None and least > most:
        yield Fault("charsmax", "This is less than charsmin.")


def _options(options: Sequence[Option]) -> Faults:
    if not 1 <= len(options) <= MAX_OPTIONS:
        yield Fault("options", f"Give 1 to {MAX_OPTIONS} options.")
        return
    ids = [argument_types.text_of(option.id) for option in options]
    if len(set(ids)) != len(ids):
        yield Fault("options", "Two options have the same id.")
    for text in (*ids, *(option.label for option in options)):
        yield from _try("options", text_fields.prose, "options", text, most=1_024)


def _json(field: str, value: Any) -> Faults:
    """Anything, but of a size and of texts that both databases can keep."""
    try:
        text = argument_types.text_of(value)
    except argument_types.Unfit as fault:
        yield Fault(field, f"The value {fault}.")
        return
    if len(text) > MAX_JSON:
        yield Fault(field, f"Give at most {MAX_JSON} characters.")
    if "\0" in text or "\\u0000" in text:
        yield Fault(field, "The value holds a NUL, which no program can be given.")


def _within(field: str, value: int, least: int, most: int) -> Faults:
    if not least <= value <= most:
        yield Fault(field, f"Give {least} to {most}.")


def _choice(field: str, value: str, allowed: Sequence[str]) -> Faults:
    if value not in allowed:
        yield Fault(field, f"Give one of {', '.join(word for word in allowed if word)}.")


def _try(field: str, check: Callable[..., object], *values: Any, **limits: int) -> Faults:
    """A check that raises, as a fault of this field."""
    try:
        check(*values, **limits)
    except Invalid as refused:
        yield Fault(field, refused.faults[0].message if refused.faults else refused.message)
