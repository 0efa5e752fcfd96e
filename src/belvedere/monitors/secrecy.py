"""What of a configuration may be shown: values of headers that open doors stay hidden."""

import re
from typing import Any

MASK = "***"
_SECRET = re.compile("auth|cookie|token|secret|key|pass", re.IGNORECASE)


def shown_config(config: dict[str, Any]) -> dict[str, Any]:
    headers = config.get("headers")
    if not headers:
        return config
    return {
        **config,
        "headers": {n: MASK if _SECRET.search(n) else value for n, value in headers.items()},
    }


def unmasked(config: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """Put hidden values back where a record was sent as it had been shown."""
    headers, kept = config.get("headers"), old.get("headers") or {}
    if not headers:
        return config
    return {
        **config,
        "headers": {n: kept.get(n, v) if v == MASK else v for n, v in headers.items()},
    }
