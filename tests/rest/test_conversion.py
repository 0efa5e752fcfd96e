"""Numbers where a text is expected, as clients of TheEye send them."""

import msgspec
import pytest

from belvedere.rest.bodies.conversion import MAX_TEXTS, convert


class Part(msgspec.Struct):
    label: str = ""


class Body(msgspec.Struct):
    status_code: str | None = None
    parts: list[Part] = []
    env: dict[str, str] = {}
    count: int = 0


def test_numbers_become_texts_where_texts_are_expected() -> None:
    value = {"status_code": 200, "parts": [{}, {"label": 1.5}], "env": {"A": 1, "B": "b"}}
    body = convert(value, Body)
    assert (body.status_code, body.parts[1].label, body.env) == ("200", "1.5", {"A": "1", "B": "b"})
    assert value["status_code"] == 200


def test_numbers_may_be_texts() -> None:
    assert convert({"count": "7"}, Body).count == 7


@pytest.mark.parametrize("value", [{"status_code": True}, {"status_code": [1]}, {"count": "x"}])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        convert(value, Body)


def test_the_number_of_attempts_is_limited() -> None:
    value = {"parts": [{"label": number} for number in range(MAX_TEXTS + 1)]}
    with pytest.raises(msgspec.ValidationError):
        convert(value, Body)
