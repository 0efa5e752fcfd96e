"""The JSON of a recipe, and the list of what an import of it cannot keep. Pure."""

from typing import Any

import msgspec

from belvedere.base.errors import Invalid
from belvedere.base.text import json_text

Fields = dict[str, Any]

EXPORTER = "belvedere"
# Entries of a list: tasks, workflows, nodes, edges. Older graphs have events as nodes.
MAX_MEMBERS = 2_000
# Fields that are not imported: how many are listed, and characters of a name or value.
MAX_SKIPPED = 1_000
MAX_TEXT = 200


class SkippedField(msgspec.Struct, frozen=True):
    """A field of the recipe that was not imported."""

    # The task or workflow, such as "task build".
    part: str
    field: str
    # Its JSON, if that helps to set it again; long values are truncated.
    value: str
    reason: str


class ImportReport(msgspec.Struct):
    """What a person should check, and what was not imported."""

    notes: list[str] = []
    skipped: list[SkippedField] = []
    unlisted: int = 0

    def skip(self, part: str, field: str, reason: str, value: object = None) -> None:
        if len(self.skipped) == MAX_SKIPPED:
            self.unlisted += 1
            return
        text = "" if value is None else json_text.compact(value)
        self.skipped.append(SkippedField(_short(part), _short(field), _short(text), reason))

    def add(self, other: "ImportReport") -> None:
        self.notes += other.notes
        free = MAX_SKIPPED - len(self.skipped)
        self.skipped += other.skipped[:free]
        self.unlisted += other.unlisted + len(other.skipped[free:])


def _short(text: str) -> str:
    text = json_text.clean(text)
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def invalid_recipe(message: str) -> Invalid:
    return Invalid(message, code="invalid_recipe")


def list_in(source: Fields, key: str) -> list[Any]:
    values = source.get(key)
    if isinstance(values, list) and len(values) > MAX_MEMBERS:
        raise invalid_recipe(
            f"The recipe has {len(values)} {key}; at most {MAX_MEMBERS} can be read."
        )
    return values if isinstance(values, list) else []


def dict_in(source: Fields, key: str) -> Fields:
    value = source.get(key)
    return value if isinstance(value, dict) else {}
