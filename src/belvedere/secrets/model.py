"""What a secret is."""

import re

import msgspec

from belvedere.base.clock import Millis
from belvedere.base.text.secret_forms import MIN_LENGTH
from belvedere.rest.text_fields import bad

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# What scripts are told about their job.
OURS = ("BELVEDERE_", "THEEYE_")
MAX_VALUE = 16 * 1024
# Of an organization, and of a task.
MAX_MANY, MAX_TOTAL = 100, 128 * 1024


class SecretRow(msgspec.Struct):
    """A row of `secrets`, in the order of the select."""

    id: str
    customer_id: str
    # Empty for one of the whole organization.
    task_id: str
    name: str
    is_secret: int
    box: str
    size: int
    description: str
    updated_by: str
    version: int
    created_at: Millis
    updated_at: Millis

    @property
    def about(self) -> str:
        """What it is sealed for: it cannot be moved to another name, task or organization."""
        return f"secret/{self.customer_id}/{self.task_id}/{self.name}"


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise bad("name", "A name has letters, digits and '_', no digit first, 128 at most.")
    if name.upper().startswith(OURS):
        raise bad("name", "Names that begin with BELVEDERE_ or THEEYE_ are what jobs are told.")


def check_value(value: str, *, is_secret: bool) -> None:
    """The message never repeats it."""
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise bad("value", "It holds characters that no environment can carry.")
    if len(value.encode()) > MAX_VALUE:
        raise bad("value", f"At most {MAX_VALUE} bytes are allowed.")
    if is_secret and len(value.strip().encode()) < MIN_LENGTH:
        raise bad(
            "value",
            f"A secret has at least {MIN_LENGTH} bytes: a shorter one cannot be hidden in"
            " output. Make it a variable if it may be seen.",
        )
