"""Responses with built files: compressed as the client accepts it, revalidated by ETag."""

import re

from belvedere.access.request import AnyRequest
from belvedere.rest.route import Reply
from belvedere.server.console.assets import AssetFile, Copy

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
# Deeper than the address of any page.
MAX_DEPTH = 16
IMMUTABLE = "public, max-age=31536000, immutable"
# Cached, but revalidated each time: a new release must be visible at once.
REVALIDATE = "no-cache"
_REFUSED = re.compile(r";\s*q=0(\.0*)?\s*$")


def file_reply(request: AnyRequest, file: AssetFile, policy: str) -> Reply:
    accepted = _encodings(request.starlette.headers.get("accept-encoding", ""))
    copy = next(
        candidate
        for candidate in file.copies
        if not candidate.encoding or candidate.encoding in accepted
    )
    headers = {"cache-control": IMMUTABLE if file.is_hashed else REVALIDATE}
    if len(file.copies) > 1:
        headers["vary"] = "accept-encoding"
    if copy.encoding:
        headers["content-encoding"] = copy.encoding
    return unless_cached(request, copy, file.media_type, policy, headers)


def _encodings(accepted: str) -> frozenset[str]:
    parts = [part.strip().lower() for part in accepted.split(",")]
    return frozenset(part.partition(";")[0].strip() for part in parts if not _REFUSED.search(part))


def unless_cached(
    request: AnyRequest, copy: Copy, media_type: str, policy: str, headers: dict[str, str]
) -> Reply:
    client_etags = request.starlette.headers.get("if-none-match", "")
    headers = {**headers, "etag": copy.etag}
    if copy.etag in [tag.strip().removeprefix("W/") for tag in client_etags.split(",")]:
        return answer(b"", 304, media_type, policy, headers)
    return answer(copy.data, 200, media_type, policy, headers)


def answer(
    data: str | bytes,
    status: int,
    media_type: str,
    policy: str,
    headers: dict[str, str] | None = None,
) -> Reply:
    return Reply(data, status, {"content-security-policy": policy, **(headers or {})}, media_type)
