"""What a person searches for: words, each of which may be anywhere in the text of a job."""

from collections.abc import Sequence
from dataclasses import replace

from belvedere.db.text_index import GRAM, query_grams
from belvedere.rest import query
from belvedere.rest.listing import MAX_TEXT_FILTER, Condition, Listing

# Further words are searched as one text, with the last of these.
MAX_TERMS = 8
# Not a declared field: only the functions of this package understand this condition.
FIELD, OPERATOR = "search", "$terms"


def with_search(listing: Listing, text: str) -> Listing:
    """The list of those jobs that contain every word of the text."""
    if len(text) > MAX_TEXT_FILTER:
        raise query.invalid_query("q", f"q accepts at most {MAX_TEXT_FILTER} characters.")
    terms = parse(query.text("q", text))
    if not terms:
        return listing
    condition = Condition(FIELD, OPERATOR, terms)
    return replace(listing, conditions=(*listing.conditions, condition))


def parse(text: str) -> tuple[str, ...]:
    words = text.lower().split()
    if len(words) <= MAX_TERMS:
        return tuple(words)
    return (*words[: MAX_TERMS - 1], " ".join(words[MAX_TERMS - 1 :]))


def of_listing(listing: Listing) -> tuple[str, ...]:
    return tuple(
        str(value)
        for condition in listing.conditions
        if condition.field == FIELD
        for value in condition.values
    )


def without_search(listing: Listing) -> Listing:
    others = tuple(condition for condition in listing.conditions if condition.field != FIELD)
    return replace(listing, conditions=others)


def grams(terms: Sequence[str]) -> list[str]:
    """Empty if every term is too short for the index."""
    return query_grams([term for term in terms if len(term) >= GRAM])
