"""Reading where[...], sort[...], limit, after, include[...] and count."""

import pytest

from belvedere.base.errors import Invalid
from belvedere.rest.listing import Condition, Field, FieldKind, Listable, Listing, read

ID = "0123456789abcdef01234567"
TASKS = Listable(
    fields={
        "id": Field("id"),
        "name": Field("name"),
        "timeout": Field("timeout", FieldKind.INT),
        "enable": Field("enabled", FieldKind.BOOL),
        "creation_date": Field("created_at", FieldKind.TIME),
        "acl": Field("exists (select 1 from acl where entry {test})"),
        "values.N": Field("arguments ->> {n}"),
    },
    includes=frozenset({"output"}),
)


def conditions(**query: str | list[str]) -> tuple[Condition, ...]:
    lists = {name: [v] if isinstance(v, str) else v for name, v in query.items()}
    return read(lists, TASKS).conditions


def test_a_query_becomes_a_listing() -> None:
    query = {
        "where[name]": ["deploy"],
        "sort[name]": ["-1"],
        "limit": ["5"],
        "include[output]": ["1"],
        "count": ["true"],
        "customer": ["acme"],
    }
    assert read(query, TASKS) == Listing(
        of=TASKS,
        conditions=(Condition("name", "$eq", ("deploy",)),),
        sort=(("name", True),),
        limit=5,
        include=frozenset({"output"}),
        count=True,
    )


def test_values_of_every_kind_are_parsed() -> None:
    query = {"where[enable]": "false", "where[timeout][$gte]": "10"}
    assert conditions(**query) == (
        Condition("enable", "$eq", (0,)),
        Condition("timeout", "$gte", (10,)),
    )
    at = {"where[creation_date][$lt]": "2026-01-31T08:00:00.500Z"}
    assert conditions(**at) == (Condition("creation_date", "$lt", (1769846400500,)),)


@pytest.mark.parametrize("name", ["where[name][$in][]", "where[name][$in]", "where[name][$in][3]"])
def test_a_list_of_values_is_parsed(name: str) -> None:
    assert conditions(**{name: ["a", "b"]}) == (Condition("name", "$in", ("a", "b")),)


def test_the_nested_filter_of_the_theeye_host_list_is_parsed() -> None:
    assert conditions(**{"filter[where][name]": "a"}) == (Condition("name", "$eq", ("a",)),)


def test_a_numbered_field_can_be_filtered() -> None:
    assert conditions(**{"where[values.12]": "a"}) == (Condition("values.12", "$eq", ("a",)),)


def test_other_parameters_are_ignored() -> None:
    query = {"wherever": ["1"], "where": ["1"], "populate[host]": ["1"], "x[$gt]": ["1"]}
    assert read(query, TASKS) == Listing(of=TASKS)


@pytest.mark.parametrize(
    "name, code",
    [
        ("where[secret]", "unknown_field"),
        ("where[values.N]", "unknown_field"),
        ("where[values.x]", "unknown_field"),
        ("where[]", "unknown_field"),
        ("sort[secret]", "unknown_field"),
        ("sort[acl]", "unknown_field"),
        ("sort[values.1]", "unknown_field"),
        ("include[secret]", "unknown_field"),
        ("where[name][$regex]", "unknown_operator"),
        ("where[name][$in][][x]", "unknown_operator"),
        ("where[name][$gt][]", "unknown_operator"),
        ("where[enable][$gt]", "unknown_operator"),
        ("where[acl][$lt]", "unknown_operator"),
    ],
)
def test_an_undeclared_field_is_named(name: str, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read({name: ["1"]}, TASKS)
    assert refusal.value.code == code
    assert refusal.value.faults[0].field == name


@pytest.mark.parametrize(
    "name, value",
    [
        ("where[enable]", "maybe"),
        ("where[timeout]", "1.5"),
        ("where[timeout]", "9223372036854775808"),
        ("where[creation_date]", "yesterday"),
        ("where[name]", "a\0b"),
        ("where[name]", "a\ud800b"),
        ("sort[name]", "2"),
        ("limit", "-1"),
        ("limit", "many"),
        ("after", "7"),
        ("count", "perhaps"),
        ("include[output]", "x"),
    ],
)
def test_an_invalid_value_is_named(name: str, value: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read({name: [value]}, TASKS)
    assert refusal.value.code == "bad_query"
    assert refusal.value.faults[0].field == name


def test_two_values_for_one_comparison_are_refused() -> None:
    with pytest.raises(Invalid, match="in"):
        read({"where[name]": ["a", "b"]}, TASKS)


def test_more_than_a_thousand_values_are_refused() -> None:
    assert read({"where[name][$in][]": ["a"] * 1_000}, TASKS).conditions
    with pytest.raises(Invalid):
        read({"where[name][$in][]": ["a"] * 1_001}, TASKS)


def test_a_page_never_exceeds_the_limit_of_the_resource() -> None:
    jobs = Listable(fields=TASKS.fields, most=1_000)
    assert read({}, jobs).limit == 1_000
    assert read({"limit": ["0"]}, jobs).limit == 1_000
    assert read({"limit": ["5000"]}, jobs).limit == 1_000
    assert read({"limit": ["10"]}, jobs).limit == 10
    assert read({"limit": ["0"]}, TASKS).limit is None


def test_paging_by_id_needs_the_order_of_the_ids() -> None:
    assert read({"after": [ID]}, TASKS).after == ID
    assert read({"after": [ID], "sort[id]": ["-1"]}, TASKS).after == ID
    with pytest.raises(Invalid, match="order of the ids"):
        read({"after": [ID], "sort[name]": ["1"]}, TASKS)
