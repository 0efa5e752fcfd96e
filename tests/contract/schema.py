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
# Keywords that inform people and do not restrict the value.
SILENT = frozenset({"title", "description", "default"})


class Checker:
    """Values against schemas whose `$ref`s lead into one document."""

    def __init__(self, document: Schema) -> None:
        self._document = document

    def faults(self, value: Any, schema: Schema, where: str = "$") -> Iterator[str]:
        """The errors of the value; none if it conforms."""
        for keyword, expected in schema.items():
            if keyword not in SILENT:
                yield from getattr(self, f"_{keyword.strip('$')}")(value, expected, schema, where)

    def _ref(self, value: Any, expected: str, _: Schema, where: str) -> Iterator[str]:
        _document: Any = self._document
        for part in expected.removeprefix("#/").split("/"):
            _document = _document[part]
        yield from self.faults(value, _document, where)

    def _type(self, value: Any, expected: str | list[str], _: Schema, where: str) -> Iterator[str]:
        words = [expected] if isinstance(expected, str) else expected
        if not any(TYPES[word](value) for word in words):
            yield f"{where} is {value!r}, not {' or '.join(words)}"

    def _anyOf(self, value: Any, expected: list[Schema], _: Schema, where: str) -> Iterator[str]:
        texts = [list(self.faults(value, item, where)) for item in expected]
        if all(texts):
            yield f"{where} fits none: {texts}"

    def _enum(self, value: Any, expected: list[Any], _: Schema, where: str) -> Iterator[str]:
        if value not in expected:
            yield f"{where} is {value!r}, not one of {expected}"

    def _const(self, value: Any, expected: Any, _: Schema, where: str) -> Iterator[str]:
        if value != expected:
            yield f"{where} is {value!r}, not {expected!r}"

    def _pattern(self, value: Any, expected: str, _: Schema, where: str) -> Iterator[str]:
        if isinstance(value, str) and not re.search(expected, value):
            yield f"{where} is {value!r}, which does not fit {expected}"

    def _minLength(self, value: Any, expected: int, _: Schema, where: str) -> Iterator[str]:
        if isinstance(value, str) and len(value) < expected:
            yield f"{where} is shorter than {expected}"

    def _items(self, value: Any, expected: Schema, _: Schema, where: str) -> Iterator[str]:
        for n, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.faults(item, expected, f"{where}[{n}]")

    def _required(self, value: Any, expected: list[str], _: Schema, where: str) -> Iterator[str]:
        for name in expected:
            if isinstance(value, dict) and name not in value:
                yield f"{where}.{name} is missing"

    def _properties(self, value: Any, expected: Schema, all_: Schema, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            return
        for name, item in value.items():
            if name in expected:
                yield from self.faults(item, expected[name], f"{where}.{name}")
            elif "additionalProperties" not in all_:
                # Stricter than the standard: the server must not send a field that is not
                # described.
                yield f"{where}.{name} is not described"

    def _additionalProperties(
        self, value: Any, expected: Schema | bool, all_: Schema, where: str
    ) -> Iterator[str]:
        if not isinstance(value, dict):
            return
        others = [name for name in value if name not in all_.get("properties", {})]
        if expected is False and others:
            yield f"{where} has more than it may: {others}"
        for name in others if isinstance(expected, dict) else ():
            yield from self.faults(value[name], expected, f"{where}.{name}")  # type: ignore[arg-type]
