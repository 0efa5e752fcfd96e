"""The text index on PostgreSQL: lexemes that are trigrams, in a GIN index.

`pg_trgm` would need an extension, which not every role may create, and compares words only. The
GIN index has no order: a query reads all of its rows. So a search first counts one of the samples
(`sample_scope`), and a text that many rows contain is searched without the index.
"""

from collections.abc import Sequence

from belvedere.db.text_index import ScopeGroups, TextIndex, grams, sample_scope

# Longer than a trigram, so that no text has it.
_SCOPE = "@scope "


def _entry(row_id: str, scopes: Sequence[str], text: str) -> tuple[object, ...]:
    samples = [sample_scope(scope, row_id) for scope in scopes[:1]]
    return row_id, [*(_SCOPE + scope for scope in (*scopes, *samples)), *grams(text)]


def _query(groups: ScopeGroups, grams: Sequence[str]) -> str:
    """Every lexeme is quoted, so that no text is a part of the syntax."""
    scopes = [f"({' | '.join(_quoted(_SCOPE + scope) for scope in group)})" for group in groups]
    return " & ".join([*scopes, *map(_quoted, grams)])


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


_MATCHES = "select id from {table} where lexemes @@ ?::tsquery"
INDEX = TextIndex(
    write="insert into {table} (id, lexemes) select e ->> 0,"
    " array_to_tsvector(array(select json_array_elements_text(e -> 1)))"
    " from json_array_elements(?::json) e"
    " on conflict (id) do update set lexemes = excluded.lexemes",
    entry=_entry,
    delete="delete from {table} where id in (select json_array_elements_text(?::json))",
    key=str,
    # Materialized: otherwise the planner may read all rows in the order of their ids.
    find=f"with matches as materialized ({_MATCHES})"
    " select id from matches where id >= ? and id <= ? order by id {order} limit ?",
    query=_query,
    range=lambda low, high: (low, high),
    count=f"select count(*) from ({_MATCHES} limit ?) m",
)
