"""Input of members: filters, cron expressions, patterns; and the output of scripts."""

import re
import sqlite3
from datetime import date, datetime, timedelta
from itertools import product
from typing import Any

import hypothesis.strategies as st

from belvedere.base.errors import Invalid
from belvedere.base.text import regex
from belvedere.base.text.masking import MARK, Masker
from belvedere.jobs.output.log_lines import _CODES, LogSearch
from belvedere.jobs.output.log_store import Chunk
from belvedere.rest import listing as filters
from belvedere.rest import listing_sql
from belvedere.rest.listing import Field, FieldKind, Listable
from belvedere.rest.patterns import matcher
from belvedere.schedules.timing import cron
from belvedere.schedules.timing.cron import BadCron, Cron
from security.fuzz.target import Target
from security.fuzz.wire import cut, cuts

# Filters, against a table of a few rows and the same conditions in Python.
COLUMNS = ("id", "name", "size")
ROWS: list[tuple[Any, ...]] = [
    (f"{n:024x}", name, size)
    for n, (name, size) in enumerate(
        [("a", 1), ("A_b", 2), ("50%", None), (None, 3), ("ab", -1), ("\\", 0), ("", 2**40)]
    )
]
LISTABLE = Listable(
    fields={"id": Field("x.id"), "name": Field("x.name"), "size": Field("x.size", FieldKind.INT)}
)
_table = sqlite3.connect(":memory:")
_table.execute("create table x (id text, name text, size integer)")
_table.executemany("insert into x values (?, ?, ?)", ROWS)

operators = st.sampled_from(
    ["", "[$eq]", "[$ne]", "[$in][]", "[$gt]", "[$gte]", "[$lt]", "[$text]"]
)
wild = st.text("where[]$intxgelsoradmcluf{}().N01-", max_size=25)
terms = st.one_of(
    st.sampled_from(["a", "ab", "A_b", "50%", "%", "_", "\\", "", "1", "2", "-1", "x", "\0"]),
    st.text(max_size=4),
    st.integers(-(2**70), 2**70).map(str),
)
conditions = st.tuples(st.sampled_from(["name", "size", "id"]), operators).map(
    lambda item: f"where[{item[0]}]{item[1]}"
)
asked = st.dictionaries(
    st.one_of(conditions, wild, st.sampled_from(["sort[name]", "sort[id]", "limit", "after"])),
    st.lists(terms, min_size=1, max_size=3),
    max_size=4,
)


# Most of the above is refused; these are valid conditions.
numbers = st.sampled_from(["-1", "0", "1", "2", "3"])
sound = st.dictionaries(
    st.tuples(st.just("size"), operators.filter(lambda item: item != "[$text]")).map(
        lambda item: f"where[{item[0]}]{item[1]}"
    ),
    st.lists(numbers, min_size=1, max_size=1),
    min_size=1,
    max_size=2,
)


def _holds(condition: filters.Condition, row: tuple[Any, ...]) -> bool:
    actual_value = row[COLUMNS.index(condition.field)]
    value = condition.values[0]
    match condition.operator:
        case "$eq":
            return bool(actual_value == value)
        case "$ne":
            return bool(actual_value != value)
        case "$in":
            return actual_value in condition.values
        case "$text":
            text = str(value)[1:-1].replace("\\%", "%").replace("\\_", "_").replace("\\\\", "\\")
            return actual_value is not None and text in actual_value.lower()
    if actual_value is None:
        return False
    order: dict[str, Any] = {
        "$gt": actual_value > value,
        "$gte": actual_value >= value,
        "$lt": actual_value < value,
    }
    return bool(order.get(condition.operator, actual_value <= value))


def _check_filters(query: dict[str, list[str]]) -> None:
    """Refused with Invalid, or SQL whose parameters match and which finds what the conditions
    say."""
    try:
        listing = filters.read(query, LISTABLE)
    except Invalid as refusal:
        assert refusal.faults
        return
    sql = listing_sql.clauses(listing)
    assert sql.where.count("?") == len(sql.params) and sql.page.count("?") == len(sql.page_params)
    text = f"select x.id, x.name, x.size from x where 1 = 1{sql.where}"
    result = set(_table.execute(text, sql.params))
    assert result == {
        row for row in ROWS if all(_holds(condition, row) for condition in listing.conditions)
    }
    _table.execute(text + sql.page, (*sql.params, *sql.page_params)).fetchall()


# Cron, compared with a check of every day and every second.
_DAYS = st.sampled_from(["*", "?", "1", "29", "30", "31", "*/7", "1,15", "10-12", "5/10"])
_WEEK = st.sampled_from(["*", "?", "mon", "0", "7", "*/7", "1-5", "sat,sun"])
crons = st.tuples(
    st.sampled_from(["", "0 ", "*/20 ", "59 "]),
    st.sampled_from(["*", "0", "59", "*/15", "5,7"]),
    st.sampled_from(["*", "0", "23", "9-17/4"]),
    _DAYS,
    st.sampled_from(["*", "2", "feb", "1-3", "*/5", "12"]),
    _WEEK,
).map(lambda item: f"{item[0]}{' '.join(item[1:])}")
texts = st.one_of(crons, st.text("*/-,?0123456789 @dailymonfeb", max_size=30), st.text(max_size=20))
moments = st.datetimes(datetime(2024, 1, 1), datetime(2060, 12, 31))


def _every_day(actual_cron: Cron, after: date) -> date | None:
    day, last = after, after + cron.MAX_SEARCH
    while day < last:
        day += timedelta(days=1)
        if actual_cron.fits(day):
            return day
    return None


def _check_cron(example: tuple[str, datetime]) -> None:
    """BadCron, or the first matching time, which a check of every second of a day finds, too."""
    text, moment = example
    try:
        actual_cron = cron.parse(text)
    except BadCron:
        return
    label = moment.replace(microsecond=0)
    later = actual_cron.after(label)
    today = [
        (hour, minute, second)
        for hour in actual_cron.hours
        for minute in actual_cron.minutes
        for second in actual_cron.seconds
        if (hour, minute, second) > (label.hour, label.minute, label.second)
    ]
    if actual_cron.fits(label.date()) and today:
        assert later == label.replace(hour=today[0][0], minute=today[0][1], second=today[0][2])
        return
    day = _every_day(actual_cron, label.date())
    assert (later is None) == (day is None)
    if later is not None and day is not None:
        assert later.date() == day
        assert (later.hour, later.minute) == (actual_cron.hours[0], actual_cron.minutes[0])


# Masking.
secrets = st.lists(st.text("abcd-='\\ é", min_size=8, max_size=14), min_size=1, max_size=3)


def _check_masking(example: tuple[list[str], list[Any], list[int]]) -> None:
    """No secret is output, however the stream is split, and the result is the same."""
    values, parts, places = example
    stream = b"".join(
        part if isinstance(part, bytes) else values[part % len(values)].encode() for part in parts
    )
    actual_masker, masker = Masker(values), Masker(values)
    expected = actual_masker.feed(stream) + actual_masker.finish()
    assert b"".join([*map(masker.feed, cut(stream, places)), masker.finish()]) == expected
    for value in values:
        spelled = value.strip().encode()
        if len(spelled) >= 8:
            assert spelled not in expected
    if not any(value.encode() in stream for value in values) and MARK not in stream:
        assert len(expected) <= len(stream) or MARK in expected


parts = st.lists(st.one_of(st.integers(0, 2), st.binary(max_size=6)), max_size=8)

# Logs with terminal control codes.
pieces = st.lists(
    st.one_of(
        st.sampled_from([b"\n", b"\x1b[0m", b"\x1b[1;31m", b"\x1b]0;t\x07", b"\x1b]x\x1b\\"]),
        st.sampled_from([b"ne", b"edle", b"NEEDLE", b"n", b"\x1b[", b"\x1b", b"m", b"\xc3"]),
        st.binary(max_size=4),
    ),
    max_size=20,
).map(b"".join)


def _check_log(example: tuple[bytes, list[int]]) -> None:
    """The lines that contain the text, without the codes, are found; and the same however the log
    is split."""
    data, places = example
    expected = [
        n + 1
        for n, line in enumerate(data.split(b"\n"))
        if b"needle" in _CODES.sub(b"", line).lower()
    ]
    for chunks in ([data], cut(data, places)):
        looking, at, lines = LogSearch("needle", 100), 0, 0
        for piece in chunks:
            looking.feed(Chunk(at, lines, len(piece), piece))
            at, lines = at + len(piece), lines + piece.count(b"\n")
        looking.end_line()
        assert [hit.line for hit in looking.hits.lines] == expected
        assert looking.hits.matches == len(expected) and looking.walk.is_gapless


# Patterns.
atoms = st.one_of(
    st.sampled_from(
        [*"ab.^$|*+?()[]{}-\\é", r"\d", r"\w", r"\s", r"\b", r"\Z", "[a-f]", "[^é]", "(?:", "(?i)"]
    ),
    st.sampled_from(["{2}", "{,3}", "{1,}", "{99999}", "[[:alpha:]]", "(?P<x>", r"\u00e9", "(?="]),
    st.text(max_size=2),
)
# Most of these are not patterns; those made of whole parts are.
whole = st.recursive(
    st.sampled_from(["a", "é", ".", "^", "$", r"\d", r"\w", r"\W", r"\s", "[a-f]", "[^é]", r"\B"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+?", "{,2}", "{2}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=5,
)
sources = st.one_of(st.lists(atoms, max_size=10).map("".join), whole, whole.map("(?i){}".format))


SHORT = [
    "",
    *map("".join, product("aAé1٣ \n_", repeat=1)),
    *map("".join, product("aé1\n", repeat=2)),
]


def _check_patterns(example: tuple[str, str]) -> None:
    r"""Refused with Invalid on both sides, or matched alike by RE2 and by the agent's own
    engine."""
    source, text = example
    try:
        ours = regex.Pattern(source)
    except Invalid as refusal:
        assert refusal.code == "bad_pattern"
        ours = None
    try:
        theirs = matcher.RE2Pattern(source)
    except Invalid as refusal:
        assert ours is None or re.search("surrogate|letters of many", refusal.message)
        return
    assert ours is not None
    for item in (text, *SHORT):
        # RE2's words consist of ASCII letters.
        if r"\b" not in source.lower() or item.isascii():
            assert theirs.matches(item) is ours.matches(item), (source, item)


TARGETS = [
    Target("filters", st.one_of(asked, sound), _check_filters),
    Target("cron", st.tuples(texts, moments), _check_cron),
    Target("masking", st.tuples(secrets, parts, cuts), _check_masking),
    Target("logs", st.tuples(pieces, cuts), _check_log),
    Target("patterns", st.tuples(sources, st.text("abAé1 \n_-€", max_size=6)), _check_patterns),
]
