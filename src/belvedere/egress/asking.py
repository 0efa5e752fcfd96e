"""A request to another server that needs the response. Runs in the egress worker."""

import http.client
from urllib.parse import urlsplit

from belvedere import __version__
from belvedere.egress import http_calls
from belvedere.egress.messages import Outcome, Parcel

# Documents and lists of keys have a few kilobytes.
MAX_ANSWER = 128 * 1024


def ask(parcel: Parcel) -> Outcome:
    """The response with its status. Redirects are not followed."""
    fault = http_calls.check(parcel.url)
    if fault:
        return Outcome(fault, for_good=True)
    url = urlsplit(parcel.url)
    connection = http_calls.connect(url)
    headers = {
        "Accept": "application/json",
        "User-Agent": f"Belvedere/{__version__}",
        **parcel.headers,
    }
    try:
        body = parcel.payload.encode() if parcel.payload else None
        connection.request(parcel.method, http_calls.target(url), body, headers)
        answer = connection.getresponse()
        content = answer.read(MAX_ANSWER + 1)
    except (OSError, http.client.HTTPException) as broken:
        return Outcome(http_calls.error_text(broken))
    finally:
        connection.close()
    if len(content) > MAX_ANSWER:
        return Outcome(f"The response is longer than {MAX_ANSWER} bytes.", for_good=True)
    return Outcome(status=answer.status, text=content.decode(errors="replace"))
