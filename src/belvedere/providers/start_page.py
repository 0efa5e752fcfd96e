"""The page that asks before a sign-in at a provider starts. It needs no script.

A page of another site may send a browser to our address of a provider. If that started a sign-in at
once, the other site would choose the account in which the person then works (login CSRF). So only
our own pages start one directly; everyone else, including from a bookmark, sees this page first.
"""

from html import escape

from belvedere.access.anonymous_requests import is_own_page
from belvedere.access.request import AnyRequest
from belvedere.base.errors import Forbidden
from belvedere.rest.route import Reply

HTML = "text/html"
# There is no `form-action`: browsers apply it to the redirect to the provider too, and a provider
# may redirect further.
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline';"
    " frame-ancestors 'none'; base-uri 'none'",
    "x-robots-tag": "noindex",
}
# With `no-referrer`, the policy of all responses, browsers send the origin `null` with a form.
_REFERRER = "<meta name='referrer' content='same-origin'>"
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
button { font: inherit; padding: .6rem 1.6rem; }
"""


def check_own_page(request: AnyRequest) -> None:
    if not is_own_page(request):
        raise Forbidden("Cross-site request blocked.", code="cross_site")


def reply(provider_name: str, customer_name: str) -> Reply:
    """The form is sent to the address of the page, with its query."""
    title = f"Sign in to {escape(customer_name)}"
    page = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"{_REFERRER}<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f"<p>You will be redirected to {escape(provider_name)}. Continue only if you want to sign"
        " in.</p><form method='post'>"
        f"<button>Sign in with {escape(provider_name)}</button></form></body></html>"
    )
    return Reply(page, headers=HEADERS, media_type=f"{HTML}; charset=utf-8")
