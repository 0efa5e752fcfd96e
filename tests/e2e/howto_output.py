"""Compares the output in a page with the real output: what differs in each run may differ."""

import re

# What differs in each run: a name and a pattern. A later command of the page that repeats a
# remembered value gets the real one.
REMEMBERED = (
    ("id", r"\b[0-9a-f]{24}\b"),
    ("token", r"\bbv[a-z]_[A-Za-z0-9_-]+"),
    ("short", r"\b(?=[a-f]*\d)[0-9a-f]{12}\b"),
    ("code", r"\b(?:[A-Z2-9]{4}-){3}[A-Z2-9]{4}\b"),
    ("recovery", r"\b[a-z2-9]{5}-[a-z2-9]{5}\b"),
    ("digest", r"\b[0-9a-f]{64}\b"),
    ("secret", r"(?<!\S)(?=\S*[a-z])(?=\S*[A-Z])[\w-]{20}(?!\S)"),
)
FORGOTTEN = (
    # A row of the next runs: the day of the week, the offset of the zone, a change of the clocks.
    ("run", r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d [^\n]*"),
    ("time", r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?: ?[A-Z]{1,4}\b)?"),
    ("day", r"\b\d{4}-\d\d-\d\d\b"),
    ("age", r"\bnow\b|\b\d+(?:\.\d+)? (?:ms|s|min|h|d)\b(?: \d+ (?:s|min|h)\b)?(?: ago)?"),
    ("measured", r"\bms [\d.]+"),
)
RULES = (*FORGOTTEN, *REMEMBERED)
TOKENS = re.compile("|".join([*(f"(?P<{name}>{rule})" for name, rule in RULES), r"(?P<any>…)"]))
# Without a terminal nothing prompts.
PROMPTS = re.compile(r"^(?:Password|Client secret|Code from your app|Value|URL)[^:]*:$")

# A slow machine shows progress.
PROGRESS = re.compile(r"^[a-z ]+: \d+ of \d+ after \d+ s$")


def compare(documented: list[str], real: str, *, is_ordered: bool = True) -> dict[str, str] | None:
    """The real value for each value of the page, or None if the output differs."""
    lines = [line.rstrip() for line in documented if not PROMPTS.match(line)]
    real_lines = [line.rstrip() for line in real.split("\n") if not PROGRESS.match(line)]
    if is_ordered:
        return _match("\n".join(lines), "\n".join(real_lines))
    return _match_in_any_order(lines, real_lines)


def pair_values(documented: list[str], real: str) -> dict[str, str]:
    """The values of an output that differs, in their order: the next commands may need them."""
    pairs: dict[str, str] = {}
    for _, rule in REMEMBERED:
        values, real_values = (
            list(dict.fromkeys(re.findall(rule, text))) for text in ("\n".join(documented), real)
        )
        pairs |= dict(zip(values, real_values, strict=False))
    return pairs


def _match(documented: str, real: str) -> dict[str, str] | None:
    values: list[str] = []
    pattern = "\n".join(_pattern(line, values) for line in documented.split("\n"))
    match = re.fullmatch(pattern, real, re.DOTALL)
    return None if match is None else dict(zip(values, match.groups(), strict=True))


def _match_in_any_order(documented: list[str], real: list[str]) -> dict[str, str] | None:
    values: dict[str, str] = {}
    remaining = list(real)
    for line in documented:
        matches = ((text, _match(line, text)) for text in remaining)
        text, pairs = next(
            ((text, pairs) for text, pairs in matches if pairs is not None), ("", None)
        )
        if pairs is None:
            return None
        remaining.remove(text)
        values |= pairs
    return None if remaining else values


def _pattern(line: str, values: list[str]) -> str:
    parts = []
    position = 0
    for token in TOKENS.finditer(line):
        parts.append(_spaces(line[position : token.start()]))
        parts.append(_token(token, values))
        position = token.end()
    return "".join([*parts, _spaces(line[position:])])


def _token(token: re.Match[str], values: list[str]) -> str:
    kind = str(token.lastgroup)
    if kind == "any":
        return ".*"
    rule = dict(RULES)[kind]
    if kind in dict(FORGOTTEN):
        return f"(?:{rule})"
    values.append(token[0])
    return f"({rule})"


def _spaces(text: str) -> str:
    """The width of a column depends on what is in it."""
    return " +".join(re.escape(part) for part in re.split(" +", text))
