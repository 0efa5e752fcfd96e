"""The table of differences in docs/howto/move-from-theeye.md, from docs/reference/deviations.md.

People who move need it on the page that they follow; it must not be maintained twice.
"""

import re

FIRST = "<!-- differences: written by `make reference` from deviations.md -->"
LAST = "<!-- end of differences -->"
TITLES = "| Where | TheEye | Belvedere | Reason |"
_SECTION = re.compile(f"{re.escape(FIRST)}.*?{re.escape(LAST)}", re.DOTALL)
# A link to a page in the folder of deviations.md.
_LINK = re.compile(r"\]\((?!\w+:|\.\./|#)")


def update(page: str, deviations: str) -> str:
    """The page with the current table."""
    section = f"{FIRST}\n\n{_table(deviations)}\n\n{LAST}"
    page, count = _SECTION.subn(lambda _: section, page)
    assert count == 1, "the page must contain the marks of the differences once"
    return page


def rows(deviations: str) -> list[str]:
    return [line for line in deviations.splitlines() if line.startswith("| ")][1:]


def _table(deviations: str) -> str:
    lines = [_LINK.sub("](../reference/", row) for row in rows(deviations)]
    return "\n".join([TITLES, "|---|---|---|---|", *lines])
