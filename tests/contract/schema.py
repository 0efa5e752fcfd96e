"""A checker for the part of JSON Schema that the OpenAPI document uses; anything else fails."""

import re
from collections.abc import Callable, Iterator
from typing import Any

Schema = dict[str, Any]

TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
# They say something to people, nothing about the value.
SILENT = frozenset({"title", "description", "default"})


class Checker:
    """Values against schemas whose `$ref`s lead into one document."""

    def __init__(self, document: Schema) -> None:
        self._document = document

    def faults(self, value: Any, schema: Schema, where: str = "$") -> Iterator[str]:
        """What is wrong with the value; nothing when it conforms."""
        for keyword, expected in schema.items():
            if keyword not in SILENT:
                yield from getattr(self, f"_{keyword.strip('$')}")(value, expected, schema, where)

    def _ref(self, value: Any, wanted: str, _: Schema, where: str) -> Iterator[str]:
        found: Any = self._document
        for part in wanted.removeprefix("#/").split("/"):
            found = found[part]
        yield from self.faults(value, found, where)

    def _type(self, value: Any, wanted: str | list[str], _: Schema, where: str) -> Iterator[str]:
        words = [wanted] if isinstance(wanted, str) else wanted
        if not any(TYPES[word](value) for word in words):
            yield f"{where} is {value!r}, not {' or '.join(words)}"

    def _anyOf(self, value: Any, wanted: list[Schema], _: Schema, where: str) -> Iterator[str]:
        found = [list(self.faults(value, item, where)) for item in wanted]
        if all(found):
            yield f"{where} fits none: {found}"

    def _enum(self, value: Any, wanted: list[Any], _: Schema, where: str) -> Iterator[str]:
        if value not in wanted:
            yield f"{where} is {value!r}, not one of {wanted}"

    def _const(self, value: Any, wanted: Any, _: Schema, where: str) -> Iterator[str]:
        if value != wanted:
            yield f"{where} is {value!r}, not {wanted!r}"

    def _pattern(self, value: Any, wanted: str, _: Schema, where: str) -> Iterator[str]:
        if isinstance(value, str) and not re.search(wanted, value):
            yield f"{where} is {value!r}, which does not fit {wanted}"

    def _minLength(self, value: Any, wanted: int, _: Schema, where: str) -> Iterator[str]:
        if isinstance(value, str) and len(value) < wanted:
            yield f"{where} is shorter than {wanted}"

    def _items(self, value: Any, wanted: Schema, _: Schema, where: str) -> Iterator[str]:
        for n, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.faults(item, wanted, f"{where}[{n}]")

    def _required(self, value: Any, wanted: list[str], _: Schema, where: str) -> Iterator[str]:
        for name in wanted:
            if isinstance(value, dict) and name not in value:
                yield f"{where}.{name} is missing"

    def _properties(self, value: Any, wanted: Schema, all_: Schema, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            return
        for name, item in value.items():
            if name in wanted:
                yield from self.faults(item, wanted[name], f"{where}.{name}")
            elif "additionalProperties" not in all_:
                # Stricter than the standard: nothing leaves the server that is not described.
                yield f"{where}.{name} is not described"

    def _additionalProperties(
        self, value: Any, wanted: Schema | bool, all_: Schema, where: str
    ) -> Iterator[str]:
        if not isinstance(value, dict):
            return
        others = [name for name in value if name not in all_.get("properties", {})]
        if wanted is False and others:
            yield f"{where} has more than it may: {others}"
        for name in others if isinstance(wanted, dict) else ():
            yield from self.faults(value[name], wanted, f"{where}.{name}")  # type: ignore[arg-type]
