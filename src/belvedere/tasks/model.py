"""The definition of a task, as it is stored with each version."""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import DAY, Millis


class Type(StrEnum):
    SCRIPT = "script"
    SCRAPER = "scraper"
    APPROVAL = "approval"
    DUMMY = "dummy"
    NOTIFICATION = "notification"

    @property
    def needs_host(self) -> bool:
        return self in (Type.SCRIPT, Type.SCRAPER)


class ArgumentKind(StrEnum):
    FIXED = "fixed"
    INPUT = "input"
    TEXTAREA = "textarea"
    BOOLEAN = "boolean"
    JSON = "json"
    SELECT = "select"
    DATE = "date"
    EMAIL = "email"
    REGEXP = "regexp"
    FILE = "file"
    REMOTE_OPTIONS = "remote-options"


class Option(msgspec.Struct, frozen=True):
    """One choice of a select argument; its id is the value."""

    id: str | int | float = ""
    label: str = ""
    order: int = 0


class Argument(msgspec.Struct, frozen=True):
    """The definition of one argument."""

    type: ArgumentKind
    label: str = ""
    id: int | None = None
    order: int = 0
    # The value of a fixed argument, or the default value in a form: any JSON.
    value: Any = None
    help: str = ""
    readonly: bool = False
    # True: neither missing nor empty. False: both are allowed. Not set: an empty text is allowed.
    required: bool | UnsetType = UNSET
    # A select or remote-options argument takes a list.
    multiple: bool = False
    options: list[Option] = []
    endpoint_url: str = ""
    id_attribute: str = ""
    text_attribute: str = ""
    # Its values are never shown after they are sent.
    masked: bool = False
    charsmin: int | None = None
    charsmax: int | None = None
    pattern: str = ""


class Retry(msgspec.Struct, frozen=True):
    """Retries after a failure: how many, after how many milliseconds, and the factor of the
    delay."""

    times: int = 0
    delay: Millis = 0
    backoff: float = 1.0
    # Also if the job is lost and may have run.
    on_lost: bool = False


# What an organization keeps that has chosen no default of its own: jobs and days.
DEFAULT_HISTORY = (1_000, 90)


class History(msgspec.Struct, frozen=True):
    """How many finished jobs are retained, and for how long."""

    count: int = DEFAULT_HISTORY[0]
    days: int = DEFAULT_HISTORY[1]
    # The organization's default counts instead of the numbers. None: stored by an earlier version,
    # whose own default nobody chose.
    inherited: bool | None = None

    @property
    def is_inherited(self) -> bool:
        if self.inherited is None:
            return (self.count, self.days) == DEFAULT_HISTORY
        return self.inherited

    def effective(self, default_count: int, default_days: int) -> "History":
        """With the numbers that count."""
        if not self.is_inherited:
            return History(self.count, self.days, inherited=False)
        return History(default_count, default_days, inherited=True)


class TaskSpec(msgspec.Struct, omit_defaults=True):
    """A complete definition, stored with each version: a job runs the version that it was created
    from."""

    name: str
    type: Type
    host_id: str | None = None
    script_id: str | None = None
    enable: bool = True
    description: str = ""
    short_description: str = ""
    icon_color: str = ""
    icon_image: str = ""
    tags: list[str] = []
    task_arguments: list[Argument] = []
    output_parameters: list[Any] = []
    # Milliseconds; None is ten minutes.
    timeout: Millis | None = None
    # How many jobs may run at the same time; None: no limit.
    concurrency: int | None = None
    retry: Retry | None = None
    # The delay of a triggered run, in seconds.
    grace_time: int = 0
    cancellable: bool = True
    # How long a job may wait in the queue.
    expires: Millis = 7 * DAY
    history: History = History()
    daemonize: bool = False
    default_state_evaluation: str = ""
    ignore_exit_code: bool = False
    env: dict[str, str] = {}
    notify: bool = True
    show_result: bool = False
    user_inputs: bool = False
    user_inputs_members: list[str] = []
    assigned_users: list[str] = []
    # script
    script_runas: str = ""
    os_user: str = ""
    # scraper; `body` also notification
    url: str = ""
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str = ""
    parser: str = ""
    pattern: str = ""
    status_code: str = ""
    gzip: bool = False
    json: bool = False
    register_body: bool = False
    # approval: user ids and member tags
    approvers: list[str] = []
    approvals_target: str = "fixed"
    # approve or reject: the answer if there was none in time
    default_answer: str = "reject"
    # The person who started the job may not approve it.
    four_eyes: bool = False
    # Whether approvers may approve, and whether they may reject.
    success_enabled: bool = True
    failure_enabled: bool = True
    success_label: str = ""
    failure_label: str = ""
    cancel_label: str = ""
    ignore_label: str = ""
    # notification
    subject: str = ""
    recipients: list[str] = []
    notification_types: dict[str, bool] = msgspec.field(name="notificationTypes", default={})


# Fields of some types only; the records of other types omit them.
ONLY: dict[str, frozenset[Type]] = {
    name: frozenset(types)
    for names, types in (
        (("host_id",), (Type.SCRIPT, Type.SCRAPER)),
        (("script_id", "script_runas", "os_user", "daemonize"), (Type.SCRIPT,)),
        (("default_state_evaluation", "ignore_exit_code", "env"), (Type.SCRIPT,)),
        (("url", "method", "headers", "parser", "pattern", "status_code"), (Type.SCRAPER,)),
        (("gzip", "json", "register_body"), (Type.SCRAPER,)),
        (("body",), (Type.SCRAPER, Type.NOTIFICATION)),
        (("approvers", "approvals_target", "default_answer", "four_eyes"), (Type.APPROVAL,)),
        (("success_enabled", "failure_enabled"), (Type.APPROVAL,)),
        (("success_label", "failure_label", "cancel_label", "ignore_label"), (Type.APPROVAL,)),
        (("subject", "recipients", "notification_types"), (Type.NOTIFICATION,)),
    )
    for name in names
}

KIND_NAMES = {
    Type.SCRIPT: "ScriptTask",
    Type.SCRAPER: "ScraperTask",
    Type.APPROVAL: "ApprovalTask",
    Type.DUMMY: "DummyTask",
    Type.NOTIFICATION: "NotificationTask",
}

MASK = "***"

decode = msgspec.json.Decoder(TaskSpec).decode
_encode = msgspec.json.Encoder().encode


def encode(spec: TaskSpec) -> str:
    return _encode(spec).decode()


def mask_arguments(arguments: list[Argument]) -> list[Argument]:
    """Definitions as records show them, without the values of masked arguments."""
    return [
        msgspec.structs.replace(argument, value=MASK)
        if argument.masked and argument.value is not None
        else argument
        for argument in arguments
    ]
