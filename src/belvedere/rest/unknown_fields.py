"""Fields of a body that a route does not read: named in a header, or refused with `?strict=1`."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from urllib.parse import quote

import msgspec
from msgspec.inspect import AnyType, DictType, ListType, StructType, Type, UnionType

from belvedere.base.errors import Fault, Invalid

HEADER = "Belvedere-Ignored"
# In one response.
MAX_NAMED = 20
MAX_NAME = 64
MAX_PATH = 200
# Sent by clients with every body, and read elsewhere or without meaning.
ALWAYS_ALLOWED = frozenset({"access_token", "customer", "_type"})


_ANY = AnyType()
# By the identity of a type: all of them belong to a route, so that they live as long as the server.
_fields_by_type: dict[int, dict[str, Type] | None] = {}


class UnknownField(msgspec.Struct, frozen=True):
    path: str
    # A field of the record that the client sends back: not an error, although it has no effect.
    is_record_field: bool
    # The names that the route reads at this place.
    field_names: tuple[str, ...]


def find(value: object, body: object, record: object = None) -> list[UnknownField]:
    """The fields of a JSON value that its type does not have; at most MAX_NAMED."""
    types = (_type_of(body), *([] if record is None else [_type_of(record)]))
    return list(islice(_walk(value, types[0], types[1:], ""), MAX_NAMED))


def names(fields: Iterable[str]) -> str:
    """The value of the header."""
    safe = "[]._-$"
    return ", ".join(quote(name[:MAX_NAME], safe=safe) for name in islice(fields, MAX_NAMED))


def refuse(fields: Sequence[UnknownField]) -> None:
    """For `?strict=1`: an error for each field that is not part of the record either."""
    faults = [
        Fault(field.path, f"There is no field {field.path}.{_suggestion(field)}")
        for field in map(_shortened, fields)
        if not field.is_record_field
    ]
    if faults:
        raise Invalid(faults[0].message, code="unknown_field", faults=tuple(faults))


def _shortened(field: UnknownField) -> UnknownField:
    """A client chooses the name, and the response repeats it."""
    return msgspec.structs.replace(field, path=field.path[:MAX_PATH])


def _suggestion(field: UnknownField) -> str:
    name = field.path.rpartition(".")[2]
    nearest = difflib.get_close_matches(name[:MAX_NAME], field.field_names, 1)
    return f" Did you mean {nearest[0]}?" if nearest else ""


@cache
def _type_of(shape: object) -> Type:
    return msgspec.inspect.type_info(shape)


def _walk(value: object, body: Type, records: Sequence[Type], path: str) -> Iterator[UnknownField]:
    if isinstance(value, list):
        item_type, record_types = _item_type(body), [_item_type(record) for record in records]
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _walk(item, item_type, record_types, f"{path}[{index}]")
    elif isinstance(value, dict):
        fields = _fields(body)
        if fields is not None:
            yield from _walk_object(value, fields, records, path)


def _walk_object(
    value: dict[str, object], fields: dict[str, Type], records: Sequence[Type], path: str
) -> Iterator[UnknownField]:
    record_fields = [_fields(record) or {} for record in records]
    for name, item in value.items():
        place = f"{path}.{name}" if path else name
        if name in fields:
            nested = [types[name] for types in record_fields if name in types]
            yield from _walk(item, fields[name], nested, place)
        elif path or name not in ALWAYS_ALLOWED:
            is_record_field = any(name in types for types in record_fields)
            yield UnknownField(place, is_record_field, tuple(fields))


def _alternatives(kind: Type) -> Sequence[Type]:
    return kind.types if isinstance(kind, UnionType) else (kind,)


def _item_type(kind: Type) -> Type:
    """The type of the elements of a list; Any if the value may be something else."""
    lists = [option for option in _alternatives(kind) if isinstance(option, ListType)]
    return lists[0].item_type if lists else _ANY


def _fields(kind: Type) -> dict[str, Type] | None:
    """The fields of an object by name; None if any field is allowed. A body may have thousands of
    objects of one type."""
    if id(kind) not in _fields_by_type:
        _fields_by_type[id(kind)] = _read_fields(kind)
    return _fields_by_type[id(kind)]


def _read_fields(kind: Type) -> dict[str, Type] | None:
    options = _alternatives(kind)
    if any(isinstance(option, AnyType | DictType) for option in options):
        return None
    structs = [option for option in options if isinstance(option, StructType)]
    return {field.encode_name: field.type for struct in structs for field in struct.fields}
