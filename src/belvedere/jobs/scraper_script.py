"""Make one HTTP request as told by the first argument; the last line says how it went."""

import json
import re
import sys
import urllib.error
import urllib.request

MOST_BODY = 1 << 20
SHOWN_BODY = 28 * 1024


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other: its status is what was asked about."""

    def redirect_request(self, *_args: object) -> None:
        return None


def fetch(asked: dict) -> tuple:  # type: ignore[type-arg]
    headers = dict(asked["headers"])
    body = asked["body"].encode() or None
    if asked["json"]:
        headers.setdefault("Content-Type", "application/json")
    headers.setdefault("User-Agent", "Belvedere")
    request = urllib.request.Request(
        asked["url"], data=body, headers=headers, method=asked["method"]
    )
    opener = urllib.request.build_opener(NoRedirect)
    try:
        answer = opener.open(request, timeout=asked["timeout_s"])
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        data = answer.read(MOST_BODY).decode("utf-8", "replace")
        return answer.status, dict(answer.headers.items()), data


def verdict(asked: dict, status: int, data: str) -> tuple:  # type: ignore[type-arg]
    wanted = asked["status_code"]
    if wanted and not re.fullmatch(wanted, str(status)):
        return "failure", "scraper:mismatch:status_code", f"status {status}, expected {wanted}"
    if not wanted and status >= 400:
        return "failure", "scraper:mismatch:status_code", f"status {status}"
    if asked["pattern"] and not re.search(asked["pattern"], data):
        return "failure", "scraper:mismatch:pattern", "the pattern is not in the answer"
    return "success", "success", f"status {status}"


def sentence(fault: Exception) -> str:
    """Without the wrapping of urllib and the error numbers of the operating system."""
    reason = getattr(fault, "reason", None)
    cause = reason if isinstance(reason, Exception) else fault
    if isinstance(cause, TimeoutError):
        return "no response in time"
    return str(getattr(cause, "strerror", None) or cause)


def shown_url(url: str) -> str:
    """Without the query and without the name and password before the host."""
    scheme, _, rest = url.split("?")[0].split("#")[0].partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{path}"


def main() -> int:
    asked = json.loads(sys.argv[1])
    try:
        if asked.get("problem"):
            raise ValueError(asked["problem"])
        status, headers, data = fetch(asked)
        state, event, message = verdict(asked, status, data)
    except re.error as fault:
        state, event, message = "failure", "scraper:config:pattern:invalid_regexp", str(fault)
        status, headers, data = 0, {}, ""
    except (OSError, ValueError) as fault:
        state, event, message = "failure", "scraper:error:request", sentence(fault)
        status, headers, data = 0, {}, ""
    print(f"{asked['method']} {shown_url(asked['url'])}: {message}")
    shown = data[:SHOWN_BODY] if asked["keeps_body"] else ""
    output = [shown, json.dumps(headers), str(status)]
    print(json.dumps({"state": state, "event_name": event, "output": output}))
    return 0 if state == "success" else 1


if __name__ == "__main__":
    sys.exit(main())
