"""What anybody can make the server spend: one row for each limit of each anonymous route.

A route without rows fails `test_every_anonymous_route_has_rows`. A row names the limit, the worst
request that it allows, the answer (so that the row measures what it says) and the cost in plain
requests. A plain request takes about half a millisecond of the event loop, of which 100 ms are
allowed.
"""

from dataclasses import dataclass

from belvedere.base import websocket_frames
from belvedere.jobs.api.request_size import MAX_BODY
from belvedere.server.transport.http_protocol import MAX_HEADER, MAX_HEADERS, MAX_URL
from security.cost_inputs import (
    FORM,
    ON_LOOP,
    SHAPES,
    Worst,
    body,
    fields_of,
    form,
    head,
    long_name,
    one_field,
    path,
    picture,
    query,
    upgrade,
    with_secret,
)

# Time of the event loop, in plain requests; the requests below measure a third of it or less.
MAX_RATIO = 40
# Memory of the server and its client, which are one process here.
MAX_MEMORY = 16 << 20


LISTED = "a," * (MAX_HEADER // 2 - 100)
OVERSIZED = websocket_frames.pack(websocket_frames.TEXT, b"x" * (1 << 20), masked=True)
EMPTY_FRAMES = websocket_frames.pack(websocket_frames.TEXT, b"", masked=True) * 50_000


@dataclass(frozen=True)
class Cost:
    limit: str
    worst: Worst
    statuses: tuple[int, ...]
    ratio: int = MAX_RATIO
    memory: int = MAX_MEMORY


OF_HEAD = (
    Cost(
        "MAX_URL, MAX_HEADERS, MAX_HEADER, fields.MAX_FIELDS", head, (200, 302, 400, 401, 403, 404)
    ),
    Cost("MAX_PATH as empty segments", path(""), (200, 302, 404)),
    Cost("MAX_PATH as escaped segments", path("%41"), (200, 302, 404)),
    Cost("MAX_URL as escaped segments", path("%41", MAX_URL), (414,)),
)
OF_NAME = (*OF_HEAD, Cost("MAX_PATH as one name", long_name, (200, 302, 400, 403, 404)))
OF_SMALL_BODY = (
    *OF_HEAD,
    *(Cost(f"SMALL_BODY of {shape}", body(shape), (200, 400, 401)) for shape in SHAPES),
)
OF_JSON_WITH_SECRET = tuple(
    Cost(f"{name} of {shape}, right secret", with_secret(SHAPES[shape](size)), (200, 400))
    for shape in SHAPES
    for name, size in (("MAX_ON_LOOP", ON_LOOP), ("max_body", 1 << 20))
)
OF_RUN = (
    *OF_HEAD,
    Cost("max_body, wrong secret", body("numbers", MAX_BODY), (403,)),
    *OF_JSON_WITH_SECRET,
    Cost("MAX_BODY of a form", with_secret(form(MAX_BODY), FORM), (200, 400)),
    Cost("MAX_BODY of one field", with_secret(one_field(MAX_BODY), FORM), (200, 400)),
    Cost("MAX_ON_LOOP of a form", with_secret(form(ON_LOOP), FORM), (200, 400)),
    Cost("MAX_ON_LOOP of one field", with_secret(one_field(ON_LOOP), FORM), (200, 400)),
)
OF_PASSWORD = (
    Cost("SMALL_BODY as a name", fields_of("é", "username", "password"), (400, 401)),
    Cost("SMALL_BODY as combining marks", fields_of("\u0301", "username", "password"), (400, 401)),
)
OF_LINK = (Cost("SMALL_BODY as a link", fields_of("é", "token", "password"), (400, 404)),)
OF_SUBSCRIPTION = (
    *OF_HEAD,
    *(Cost(f"SMALL_BODY of {shape}", body(shape), (400, 404)) for shape in SHAPES),
)

# The WebSocket of agents is not a row of the route table; no client is authenticated before the
# reply.
AGENT_UPGRADE = (
    Cost("no token", upgrade(), (401,)),
    Cost("a wrong token", upgrade("bva_" + "x" * 43), (401,)),
    Cost("MAX_HEADER as a token", upgrade("bva_" + "x" * (MAX_HEADER - 100)), (401,)),
    Cost("MAX_HEADER as extensions", upgrade(headers={"sec-websocket-extensions": LISTED}), (401,)),
    Cost("MAX_HEADER as protocols", upgrade(headers={"sec-websocket-protocol": LISTED}), (401,)),
    Cost(
        "MAX_HEADER as a connection",
        upgrade(headers={"connection": f"Upgrade,{LISTED}"}),
        (401, 404),
    ),
    Cost("MAX_HEADERS", upgrade(headers={f"x{n}": "a" for n in range(MAX_HEADERS - 10)}), (401,)),
    Cost("an oversized first frame", upgrade("bva_x", OVERSIZED), (401,)),
    Cost("many empty frames", upgrade("bva_x", EMPTY_FRAMES), (401,)),
)

TABLE: dict[str, tuple[Cost, ...]] = {
    "GET /-/health": OF_HEAD,
    "GET /api/status": OF_HEAD,
    "GET /-/ready": OF_HEAD,
    "GET /-/metrics": OF_HEAD,
    "GET /-/openapi.json": OF_HEAD,
    "GET /-/docs": OF_HEAD,
    "GET /-/docs/{rest...}": OF_NAME,
    "GET /-/install.sh": OF_HEAD,
    "GET /-/belvedere-agent.pyz": OF_HEAD,
    "GET /-/setup": OF_HEAD,
    "POST /-/setup": OF_SMALL_BODY,
    "POST /api/auth/login": (*OF_SMALL_BODY, *OF_PASSWORD),
    "POST /api/auth/login/local": (*OF_SMALL_BODY, *OF_PASSWORD),
    "POST /api/auth/login/second-factor": (
        *OF_SMALL_BODY,
        Cost("SMALL_BODY as a code", fields_of("é", "ticket", "code"), (400, 401, 404)),
    ),
    "POST /api/auth/login/second-factor/setup": (
        *OF_SMALL_BODY,
        Cost("SMALL_BODY as a ticket", fields_of("é", "ticket"), (400, 401, 404)),
    ),
    "POST /api/auth/password/recover": (
        *OF_SMALL_BODY,
        Cost("SMALL_BODY as a name", fields_of("é", "email"), (200,)),
    ),
    "PUT /api/auth/password/reset": (*OF_SMALL_BODY, *OF_LINK),
    "POST /api/auth/link": (*OF_SMALL_BODY, Cost("as a link", fields_of("é", "token"), (404,))),
    "POST /api/auth/invitation": (*OF_SMALL_BODY, *OF_LINK),
    "GET /api/auth/methods": (*OF_HEAD, Cost("MAX_URL as a name", query("customer"), (200,))),
    "GET /-/oidc/{id}/begin": (*OF_HEAD, Cost("MAX_URL as a page", query("to"), (404,))),
    "POST /-/oidc/{id}/begin": (*OF_HEAD, Cost("MAX_URL as a page", query("to"), (403,))),
    "GET /-/oidc/{id}/callback": (*OF_HEAD, Cost("MAX_URL as a code", query("code"), (302,))),
    "GET /-/oidc/callback": (*OF_HEAD, Cost("MAX_URL as a state", query("state"), (302,))),
    "POST /-/enrol": (
        *OF_SMALL_BODY,
        Cost("SMALL_BODY as a name", fields_of("é", "token", "hostname", "machine_id"), (400, 403)),
    ),
    "POST /job/secret/{secret}": (*OF_RUN, Cost("MAX_PATH as a secret", long_name, (400, 403))),
    "POST /task/{id}/secret/{secret}/job": OF_RUN,
    "GET /job/{id}/secret/{secret}/result": OF_NAME,
    "POST /job/{id}/secret/{secret}/result": OF_NAME,
    "GET /-/approval/{link}": OF_NAME,
    "POST /-/approval/{link}": OF_NAME,
    "POST /token": OF_HEAD,
    "GET /-/badge/{token}": (*OF_NAME, Cost("the longest value", picture, (200,))),
    "POST /webhook/{id}/trigger/secret/{secret}": (*OF_NAME, *OF_JSON_WITH_SECRET),
    "POST /webhook/{id}/trigger/signed": (*OF_HEAD, *OF_JSON_WITH_SECRET),
    "GET /monitor/{id}/push/{secret}": OF_NAME,
    "POST /monitor/{id}/push/{secret}": (
        *OF_NAME,
        *(
            Cost(f"SMALL_BODY of {shape}", with_secret(SHAPES[shape](16_000)), (200, 400))
            for shape in SHAPES
        ),
    ),
    "POST /workflows/{id}/secret/{secret}/job": OF_RUN,
    "GET /-/status/{slug}": OF_NAME,
    "GET /-/status/{slug}/badge.svg": OF_HEAD,
    "GET /-/status/{slug}/feed.atom": OF_HEAD,
    "GET /-/status/{slug}/feed.rss": OF_HEAD,
    "GET /-/status/{slug}/logo": OF_HEAD,
    "POST /-/status/{slug}/subscriber": OF_SUBSCRIPTION,
    "POST /-/status/{slug}/subscriber/confirm": (
        *OF_SUBSCRIPTION,
        Cost("SMALL_BODY as a token", fields_of("é", "token"), (404,)),
    ),
    "POST /-/status/{slug}/subscriber/unsubscribe": (
        *OF_SUBSCRIPTION,
        Cost("SMALL_BODY as a token", fields_of("é", "token"), (404,)),
    ),
    "GET /": OF_HEAD,
    "GET /ui": OF_HEAD,
    "GET /ui/{rest...}": OF_HEAD,
}
