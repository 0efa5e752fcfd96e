"""A listing as SQL. Column text comes only from the declaration, values only as parameters."""

from dataclasses import dataclass

from belvedere.rest.listing import PREFIX, Condition, FieldKind, Listable, Listing, declared

SIGNS = {"$eq": "=", "$ne": "=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}

Param = str | int


@dataclass(frozen=True, slots=True)
class Clauses:
    """SQL to follow a `where` that already has a condition: `… where x = ?{where}{page}`."""

    where: str
    params: tuple[Param, ...]
    # Keyset, order and limit; a count leaves this off.
    page: str
    page_params: tuple[Param, ...]


def clauses(listing: Listing, *, is_unindexed: bool = False) -> Clauses:
    """With `is_unindexed` no index fits the conditions: the database uses the index of the order,
    however promising another one looks."""
    tests = [_test(listing.of, condition, is_unindexed) for condition in listing.conditions]
    page, page_params = _page(listing)
    return Clauses(
        where="".join(f" and {test}" for test in tests),
        params=tuple(value for condition in listing.conditions for value in condition.values),
        page=page,
        page_params=page_params,
    )


# Makes an expression of a column, with the same value.
_EXPRESSION = {FieldKind.TEXT: "|| ''"}


def _test(of: Listable, condition: Condition, is_unindexed: bool) -> str:
    column = _column(of, condition.field)
    if is_unindexed and "{test}" not in column and condition.field != "id":
        column = f"({column} {_EXPRESSION.get(of.fields[condition.field].kind, '+ 0')})"
    if condition.operator == PREFIX:
        test = "like ? escape '\\'"
    elif condition.operator == "$in":
        test = f"in ({', '.join('?' * len(condition.values))})"
    elif condition.operator == "$text":
        test = "like ? escape '\\'"
        column = column if "{test}" in column else f"lower({column})"
    else:
        test = f"{SIGNS[condition.operator]} ?"
    text = column.replace("{test}", test) if "{test}" in column else f"{column} {test}"
    # A missing value counts as different too, hence no `<>`.
    return f"(({text}) is not true)" if condition.operator == "$ne" else f"({text})"


def _column(of: Listable, name: str) -> str:
    field = declared(of, name)
    assert field is not None, "a listing names only declared fields"
    number = name.rpartition(".")[2]
    return field.column.replace("{n}", str(int(number))) if "{n}" in field.column else field.column


def _page(listing: Listing) -> tuple[str, tuple[Param, ...]]:
    of = listing.of
    sort = list(listing.sort) or [(of.order, of.newest_first)]
    page, params = "", list[Param]()
    if listing.after is not None:
        page = f" and {of.fields['id'].column} {'<' if sort[0][1] else '>'} ?"
        params.append(listing.after)
    if all(name != "id" for name, _ in sort):
        # Rows with equal values must have the same order on every page.
        sort.append(("id", of.newest_first))
    page += " order by " + ", ".join(_order(of, name, down) for name, down in sort)
    if listing.limit is not None:
        page += " limit ?"
        params.append(listing.limit)
    if listing.skip:
        assert listing.limit is not None, "a list that may be skipped in has a limit"
        page += " offset ?"
        params.append(listing.skip)
    return page, tuple(params)


def _order(of: Listable, name: str, down: bool) -> str:
    field = of.fields[name]
    column = f"lower({field.column})" if field.is_name else field.column
    if name == "id":
        return f"{column}{' desc' if down else ''}"
    # The engines sort missing values differently by default.
    return f"{column} desc nulls last" if down else f"{column} nulls first"
