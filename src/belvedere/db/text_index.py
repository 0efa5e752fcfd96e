"""An index of texts for searches of any part of them: which rows may contain all of these trigrams.

Neither engine needs a privilege or an extension for it: SQLite has FTS5 with its trigram tokenizer,
PostgreSQL a `tsvector` whose lexemes are trigrams. A row also has scopes, such as its organization;
a search names the scopes that it is limited to, so that rows of others cost it nothing. What is
found are candidates: the caller compares their texts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# A text must have this many characters to be found by the index.
GRAM = 3
# Limits of one query.
MAX_GRAMS = 32
# Rows are spread over this many samples by their id; the scope of one sample is `sample_scope`.
SAMPLES = 64

# Each group names alternatives; a row must have one of each group.
ScopeGroups = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, eq=False)
class TextIndex:
    """The statements of an engine; the caller names the {table}."""

    # A JSON list of entries; an entry of the same row is replaced.
    write: str
    entry: Callable[[str, Sequence[str], str], tuple[object, ...]]
    # A JSON list of keys.
    delete: str
    key: Callable[[str], object]
    # (query, range of ids, limit), in the {order} of ids or of the times in them; it may find some
    # ids beyond the range.
    find: str
    query: Callable[[ScopeGroups, Sequence[str]], str]
    range: Callable[[str, str], tuple[object, ...]]
    # Up to a number of rows: (query, limit). Empty if `find` reads only as many as it returns.
    count: str = ""
    # Merges parts of the index: about this number of pages. Empty if the engine does so by itself.
    # At most one change (`changes`) by it means that nothing is left to merge.
    merge: str = ""
    changes: str = ""


def grams(text: str) -> set[str]:
    return {text[at : at + GRAM] for at in range(len(text) - GRAM + 1)}


def query_grams(terms: Sequence[str]) -> list[str]:
    """Enough trigrams of the terms to find few others, because each of them costs time: of a long
    term every second one and the last."""
    selection = dict.fromkeys(gram for term in terms for gram in _selected(term))
    return list(selection)[:MAX_GRAMS]


def _selected(term: str) -> list[str]:
    last = len(term) - GRAM
    places = range(last + 1) if last < GRAM else [*range(0, last, 2), last]
    return [term[at : at + GRAM] for at in places]


def sample_scope(scope: str, row_id: str) -> str:
    return f"{scope}/{int(row_id[-2:], 16) % SAMPLES}"
