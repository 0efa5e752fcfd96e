"""docs/reference/errors.md: every code that an error response can have."""

import re

from belvedere.base import errors
from belvedere.rest.error_format import STATUS
from pages import codes
from pages.codes import Raised
from pages.table import code, heading, table

ABOUT = """
An error response is one JSON object:

```json
{
  "statusCode": 400,
  "code": "missing_arguments",
  "message": "…",
  "errors": [{"field": "task_arguments[1]", "message": "…"}],
  "request_id": "…"
}
```

`code` is stable: programs can rely on it. `message` is for people and may change. `errors` is
present only if fields are invalid. `request_id` identifies the request in the server's log. 405
has `Allow`, 429 and 503 have `Retry-After`, except 503 with the code `outcome_unknown`: check the
outcome before you repeat such a request, or repeat it with the same `Idempotency-Key`.
"""
INTERNAL = ("internal", "500", "Internal error; the server's log has the details.")


def page() -> str:
    # One row per code and status; if several messages share them, the longest one.
    rows = {(one.code, _status(one.kind)): "" for one in raised()}
    for one in raised():
        key = one.code, _status(one.kind)
        rows[key] = max(rows[key], one.sentence, key=len)
    listed = sorted([INTERNAL, *((*key, sentence) for key, sentence in rows.items())])
    cells = ((code(word), status, sentence) for word, status, sentence in listed)
    return heading("Errors", ABOUT) + "\n" + table(("Code", "Status", "For example"), cells)


def raised() -> list[Raised]:
    """All codes: those of the classes, and those that are passed where something is refused."""
    given = codes.raised()
    known = {one.code for one in given}
    own = [Raised(kind.code, kind.__name__, _about(kind)) for kind, _ in STATUS]
    return [*(one for one in own if one.code not in known), *given]


def _about(kind: type[errors.Refused]) -> str:
    """The comment about this class in the drawing of the tree."""
    line = rf"^ *{kind.__name__} {{2,}}(.+?) {{2,}}\d+$"
    found = re.search(line, errors.__doc__ or "", re.MULTILINE)
    return f"{found[1][0].upper()}{found[1][1:]}." if found else "Refused."


def _status(kind: str) -> str:
    return str(next(status for found, status in STATUS if found.__name__ == kind))
