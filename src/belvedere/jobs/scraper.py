"""One HTTP request made by a host: a built-in script that runs like any other.

The text of `scraper_script.py` goes to the agent as a script, so that a request is journalled,
timed out, canceled and reported exactly as scripts are.
"""

import hashlib
from collections.abc import Mapping
from importlib.resources import files

from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.files import store_content
from belvedere.secrets import references
from belvedere.tasks.definition.masking import request_of
from belvedere.tasks.model import TaskSpec

FILENAME = "scraper.py"
# The agent's own interpreter: the only Python that certainly exists on the host.
RUNAS = ["%python%", "-I", "%script%"]


def source() -> bytes:
    return files("belvedere.jobs").joinpath("scraper_script.py").read_bytes()


SHA256 = hashlib.sha256(source()).hexdigest()


def store_source(tx: Tx) -> None:
    """Agents fetch it by its hash; called once when a server starts."""
    assert store_content(tx, source()) == SHA256


def argument(spec: TaskSpec, timeout_ms: int, secrets: Mapping[str, str]) -> str:
    """The request as the only argument of the script, in JSON."""
    request, problem = request_of(spec), ""
    try:
        request = references.resolve(request, secrets)
    except references.MissingSecret as missing:
        problem = str(missing)
    return json_text.compact(
        {
            **request,
            "problem": problem,
            "method": spec.method,
            "json": spec.json,
            "status_code": spec.status_code,
            "pattern": spec.pattern if spec.parser in ("", "pattern") else "",
            "keeps_body": spec.register_body,
            "timeout_s": timeout_ms / 1_000,
        }
    )
