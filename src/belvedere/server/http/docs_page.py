"""`/-/docs`: the route table as a page, without scripts or other hosts."""

from html import escape
from itertools import groupby

from belvedere import __version__
from belvedere.rest.route import Route
from belvedere.server.http.routing import Router

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem; }
td, th { text-align: left; vertical-align: top; padding: .35rem .6rem; }
tr { border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
code { font: 13px/1.4 ui-monospace, monospace; }
td:first-child { white-space: nowrap; }
small { opacity: .75; }
"""


def html(table: Router) -> str:
    ordered = sorted(table.routes, key=lambda route: (_noun(route), route.path, route.method))
    parts = [
        f"<h2 id='{escape(noun)}'>{escape(noun)}</h2><table><tr><th>Route</th><th>Level</th>"
        f"<th>Description</th></tr>{''.join(map(_row, routes))}</table>"
        for noun, routes in groupby(ordered, key=_noun)
    ]
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>Belvedere interface</title><style>{_STYLE}</style></head><body>"
        f"<h1>Belvedere {escape(__version__)}</h1><p>Send <code>Authorization: Bearer "
        "&lt;token&gt;</code> and the organization as <code>?customer=&lt;name&gt;</code> or as "
        "the first segment of the path. The same as OpenAPI: <code>/-/openapi.json</code>.</p>"
        f"{''.join(parts)}</body></html>"
    )


def _noun(route: Route) -> str:
    words = route.path.split("/")
    return words[2] if words[1] in ("-", "api") else words[1]


def _row(route: Route) -> str:
    query = ", ".join(f"<code>{escape(name)}</code> {escape(about)}" for name, about in route.query)
    extra = f"<br><small>{query}</small>" if query else ""
    return (
        f"<tr><td><code>{route.method} {escape(route.path)}</code></td>"
        f"<td>{escape(route.level)}</td><td>{escape(route.summary)}{extra}</td></tr>"
    )
