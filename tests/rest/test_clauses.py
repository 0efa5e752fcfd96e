"""Listings as SQL, on both engines; no value may become part of the text."""

import asyncio
import string

import hypothesis
import hypothesis.strategies as st
import pytest

from belvedere.base.errors import Invalid
from belvedere.db import Database, Tx
from belvedere.rest.listing import Field, FieldKind, Listable, read
from belvedere.rest.listing_sql import clauses

THINGS = Listable(
    fields={
        "id": Field("t.id"),
        "name": Field("t.name"),
        "size": Field("t.size", FieldKind.INT),
        "enable": Field("t.enabled", FieldKind.BOOL),
        "creation_date": Field("t.created_at", FieldKind.TIME),
        "acl": Field("exists (select 1 from labels l where l.thing_id = t.id and l.entry {test})"),
        "part.N": Field("substr(t.name, {n} + 1, 1)"),
    }
)
ALL = ["0" * 23 + digit for digit in "123"]
EVIL = [
    "' or '1'='1",
    "x'); drop table things; --",
    "?",
    "%s",
    "%(x)s",
    "{n}",
    "{test}",
    "$1",
    "\\' or 1=1 --",
    "name) or (1=1",
]


def create_table(tx: Tx) -> None:
    tx.execute(
        "create table things (id text, name text, size bigint, enabled bigint, created_at bigint)"
    )
    tx.execute("create table labels (thing_id text, entry text)")
    tx.execute_many(
        "insert into things values (?, ?, ?, ?, ?)",
        [
            (ALL[0], "ant", 1, 1, 1_000),
            (ALL[1], "bee", 2, 0, 2_000),
            (ALL[2], "cow", None, 1, 3_000),
        ],
    )
    tx.execute("insert into labels values (?, 'ada'), (?, 'max')", ALL[0], ALL[1])


def select_ids(tx: Tx, query: dict[str, list[str]], of: Listable = THINGS) -> list[str]:
    sql = clauses(read(query, of))
    rows = tx.rows(
        f"select t.id from things t where 1 = ?{sql.where}{sql.page}",
        1,
        *sql.params,
        *sql.page_params,
    )
    return [row[0] for row in rows]


def test_a_condition_selects_rows(db: Database) -> None:
    db.write_blocking(create_table)
    assert db.write_blocking(select_ids, {}) == ALL
    assert db.write_blocking(select_ids, {"where[name]": ["bee"]}) == ALL[1:2]


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("where[name][$in][]", ["ant", "cow", "dog"], "13"),
        ("where[name][$ne]", ["ant"], "23"),
        ("where[size][$ne]", ["1"], "23"),
        ("where[size][$gt]", ["1"], "2"),
        ("where[size][$gte]", ["1"], "12"),
        ("where[size][$lt]", ["2"], "1"),
        ("where[size][$lte]", ["2"], "12"),
        ("where[enable]", ["true"], "13"),
        ("where[enable][$ne]", ["true"], "2"),
        ("where[creation_date][$gt]", ["1970-01-01T00:00:01Z"], "23"),
        ("where[acl]", ["ada"], "1"),
        ("where[acl][$in][]", ["ada", "max"], "12"),
        ("where[acl][$ne]", ["ada"], "23"),
        ("where[part.1]", ["e"], "2"),
        ("sort[size]", ["1"], "312"),
        ("sort[size]", ["-1"], "213"),
        ("sort[id]", ["-1"], "321"),
        ("after", ["0" * 23 + "1"], "23"),
        ("limit", ["2"], "12"),
    ],
)
def test_conditions_mean_the_same_on_both_engines(
    db: Database, name: str, values: list[str], expected: str
) -> None:
    db.write_blocking(create_table)
    assert db.write_blocking(select_ids, {name: values}) == [
        ALL[int(digit) - 1] for digit in expected
    ]


def test_a_list_can_be_paged_backwards(db: Database) -> None:
    db.write_blocking(create_table)
    newest = Listable(fields=THINGS.fields, newest_first=True)
    assert db.write_blocking(select_ids, {"after": [ALL[2]], "limit": ["1"]}, newest) == [ALL[1]]


def test_a_total_ignores_the_page(db: Database) -> None:
    db.write_blocking(create_table)
    sql = clauses(read({"where[enable]": ["1"], "limit": ["1"], "after": [ALL[0]]}, THINGS))
    text = f"select count(*) from things t where 1 = 1{sql.where}"
    assert db.write_blocking(lambda tx: tx.value(text, *sql.params)) == 2


values = st.one_of(st.sampled_from(EVIL), st.text(max_size=30), st.text(string.punctuation))
names = st.sampled_from(
    ["where[name]", "where[name][$ne]", "where[name][$in][]", "where[name][$gt]", "where[acl]"]
)


@hypothesis.settings(
    max_examples=60, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(name=names, value=values)
def test_no_value_becomes_part_of_the_text(db: Database, name: str, value: str) -> None:
    if db.write_blocking(lambda tx: _is_bare(tx)):
        db.write_blocking(create_table)
    try:
        sql = clauses(read({name: [value]}, THINGS))
    except Invalid:
        return
    assert sql.where == clauses(read({name: ["harmless"]}, THINGS)).where
    assert sql.params == (value,)
    ids = db.write_blocking(select_ids, {name: [value]})
    if name in ("where[name]", "where[name][$in][]", "where[acl]"):
        assert ids == []
    if name == "where[name][$ne]":
        assert ids == ALL


@hypothesis.given(
    key=st.one_of(
        st.sampled_from([f"where[{evil}]" for evil in EVIL]),
        st.sampled_from([f"sort[{evil}]" for evil in EVIL]),
        st.text(string.ascii_lowercase + "[]$.;'\"-() 0", max_size=30).map("where[name]{}".format),
        st.text(string.ascii_lowercase + "[]$.;'\"-() 0", max_size=30).map("where[{}]".format),
        st.text(string.printable, max_size=20).map("sort[{}]".format),
    )
)
def test_no_name_becomes_part_of_the_text(key: str) -> None:
    """Whatever is accepted consists of the declaration's own words."""
    try:
        sql = clauses(read({key: ["1"]}, THINGS))
    except Invalid:
        return
    declared = " ".join(field.column for field in THINGS.fields.values())
    allowed = set(
        f"{declared} and ( ) = in ? is not true order by desc nulls first last , , 0".split()
    )
    loose = f"{sql.where}{sql.page}".replace("(", " ").replace(")", " ").replace(",", " ")
    words = " ".join(allowed).replace("(", " ").replace(")", " ").replace(",", " ").split()
    assert set(loose.split()) <= {*words, "<", ">", "<=", ">="}


def _is_bare(tx: Tx) -> bool:
    if tx.dialect.name == "sqlite":
        return tx.value("select 1 from sqlite_master where name = 'things'") is None
    return tx.value("select 1 from pg_tables where tablename = 'things'") is None


async def test_concurrent_lists_are_read(db: Database) -> None:
    await db.write(create_table)
    answers = await asyncio.gather(*(db.read(select_ids, {"limit": ["1"]}) for _ in range(3)))
    assert answers == [ALL[:1]] * 3


def test_a_text_is_found_anywhere_in_a_field(db: Database) -> None:
    def look(tx: Tx) -> list[list[str]]:
        create_table(tx)
        tx.execute("update things set name = '50%_B\\A' where id = ?", ALL[2])
        pair = ("E", "%", "_b", "\\", "q")
        texts = [select_ids(tx, {"where[name][$text]": [text]}) for text in pair]
        return [*texts, select_ids(tx, {"where[acl][$text]": ["AD"]})]

    assert db.write_blocking(look) == [[ALL[1]], [ALL[2]], [ALL[2]], [ALL[2]], [], [ALL[0]]]


def test_a_short_list_may_be_skipped_in(db: Database) -> None:
    of = Listable(fields=THINGS.fields, most=2, may_skip=True)

    def look(tx: Tx) -> list[list[str]]:
        create_table(tx)
        items: list[dict[str, list[str]]] = [
            {"sort[name]": ["-1"], "skip": ["1"]},
            {"skip": ["2"]},
            {"skip": ["9"]},
        ]
        return [select_ids(tx, query, of) for query in items]

    assert db.write_blocking(look) == [[ALL[1], ALL[0]], [ALL[2]], []]


@pytest.mark.parametrize("skip", ["-1", "x", "100001"])
def test_an_invalid_offset_is_refused(skip: str) -> None:
    with pytest.raises(Invalid):
        read({"skip": [skip]}, Listable(fields=THINGS.fields, most=2, may_skip=True))
    assert read({"skip": [skip]}, THINGS).skip == 0


def test_only_texts_hold_a_text() -> None:
    with pytest.raises(Invalid):
        read({"where[size][$text]": ["1"]}, THINGS)
