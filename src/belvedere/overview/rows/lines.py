"""Lists whose rows show more than a record: up to 200 at once, in any order."""

from collections.abc import Mapping
from typing import Any

from belvedere.rest.listing import Field, Listable

MOST = 200
_TAGS = {
    "sqlite": "exists (select 1 from json_each({tags}) g where g.value {test})",
    "postgres": "exists (select 1 from json_array_elements_text({tags}::json) g (value)"
    " where g.value {test})",
}


def listable(of: Listable, more: Mapping[str, Field]) -> Listable:
    """The same list with more to ask for; it may be skipped in, since it has no history."""
    return Listable(fields={**of.fields, **more}, most=MOST, may_skip=True)


def tagged(engine: str, tags: str) -> Field:
    """`where[tags]=`, on a column with a JSON list."""
    return Field(_TAGS[engine].replace("{tags}", tags))


def rank(expression: str, words: Mapping[str, int]) -> str:
    """A number for each word, for sorting; any other comes last."""
    cases = " ".join(f"when '{word}' then {number}" for word, number in words.items())
    return f"(case {expression} {cases} else {len(words)} end)"


def rounded(value: Any) -> float | None:
    return None if value is None else round(float(value), 4)
