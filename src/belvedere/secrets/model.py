"""Secrets and variables: row and validation."""

import re

import msgspec

from belvedere.base.clock import Millis
from belvedere.base.text.secret_forms import MIN_LENGTH
from belvedere.rest.text_fields import invalid_field

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# Variables that describe the job to its script.
OURS = ("BELVEDERE_", "THEEYE_")
MAX_VALUE = 16 * 1024
# The limits of an organization, and of each task.
MAX_MANY, MAX_TOTAL = 100, 128 * 1024


class SecretRow(msgspec.Struct):
    """A row of `secrets`, in the order of the select."""

    id: str
    customer_id: str
    # Empty if it belongs to the organization.
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
    def seal_context(self) -> str:
        """The associated data of the seal: the value cannot be moved to another name, task or
        organization."""
        return f"secret/{self.customer_id}/{self.task_id}/{self.name}"


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise invalid_field(
            "name", "Must have at most 128 letters, digits or '_', and not start with a digit."
        )
    if name.upper().startswith(OURS):
        raise invalid_field("name", "Names that begin with BELVEDERE_ or THEEYE_ are reserved.")


def check_value(value: str, *, is_secret: bool) -> None:
    """Raises Invalid; the message never contains the value."""
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise invalid_field(
            "value", "Contains characters that are not allowed in an environment variable."
        )
    if len(value.encode()) > MAX_VALUE:
        raise invalid_field("value", f"At most {MAX_VALUE} bytes are allowed.")
    if is_secret and len(value.strip().encode()) < MIN_LENGTH:
        raise invalid_field(
            "value",
            f"A secret must have at least {MIN_LENGTH} bytes: a shorter one cannot be masked in"
            " output. Make it a variable if it is not secret.",
        )
