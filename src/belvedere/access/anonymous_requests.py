"""What is checked of an anonymous request before any of its body is read, and the browser that sent
it."""

from collections.abc import Awaitable, Callable

from belvedere.access.credentials import secret_keys
from belvedere.access.customers import service
from belvedere.access.limits.rate_limits import AttemptKind, count_secret_use
from belvedere.access.request import AnyRequest
from belvedere.access.signin import cookies
from belvedere.access.signin.known_browsers import NO_BROWSER, Browser, new_browser
from belvedere.base.errors import Forbidden
from belvedere.db import Tx

# Enough for names, passwords and one-time links.
SMALL_BODY = 16 * 1024
# Characters of a task's id that are stored while wrong secrets for it are counted.
MAX_TARGET = 64
MAX_COOKIE = 100


def by_address(kind: AttemptKind) -> Callable[[AnyRequest], Awaitable[None]]:
    """Refuse an address with too many failed attempts."""

    async def admit(request: AnyRequest) -> None:
        request.services.limits.check(request.actor.address, kind)

    return admit


def target_of(request: AnyRequest) -> str:
    """What a wrong secret counts for: the record in the path, or the task in the query."""
    return request.path.get("id") or str(request.first("task") or "")[:MAX_TARGET]


async def by_secret(request: AnyRequest, object: str, object_id: str | None) -> str:
    """The id of the record that the secret in the path belongs to. Wrong secrets count for the
    address, right ones for the secret: a flood of requests with one secret must not slow down the
    others."""
    services, address, secret = request.services, request.actor.address, request.path["secret"]
    proof, target = services.keyring.digest(secret), target_of(request)
    services.limits.check(address, AttemptKind.SECRET, target, proof=proof)
    count_secret_use(services.secret_uses, proof)
    record_id: str | None = await services.db.read_inline(
        secret_keys.find_record, services.keyring, object, object_id, secret, request.customer
    )
    if record_id is None:
        customer = await services.db.read_inline(
            _customer, object, object_id or "", request.customer
        )
        services.limits.record_failure(
            address, kind=AttemptKind.SECRET, target=target, proof=proof, customer=customer
        )
        raise Forbidden("Invalid secret key.", code="wrong_secret")
    return record_id


def _customer(tx: Tx, object: str, object_id: str, name: str | None) -> str:
    """The organization that was attacked, for its audit log; empty when there is none."""
    if name is not None:
        customer = service.by_name(tx, name)
        return customer.name if customer is not None and customer.enabled else ""
    owner = tx.value(
        "select c.name from secret_keys k join customers c on c.id = k.customer_id"
        " where k.object = ? and k.object_id = ? and c.enabled = 1",
        object,
        object_id,
    )
    return str(owner or "")


def browser_of(request: AnyRequest) -> Browser:
    """The browser that the request's cookie names."""
    token = cookies.browser_token(
        request.starlette.cookies, secure=request.starlette.url.scheme == "https"
    )
    if token is None or len(token) > MAX_COOKIE:
        return NO_BROWSER
    return Browser(token, request.services.keyring.digest(token))


def browser_to_remember(request: AnyRequest, browser: Browser) -> Browser:
    """The browser to remember from now on: a new one unless the person used it before. A cookie
    that somebody else may have planted is not accepted."""
    if browser.token:
        return browser
    return new_browser(request.services.keyring) if is_own_page(request) else NO_BROWSER


def is_own_page(request: AnyRequest) -> bool:
    """Whether the console in a browser sent the request: only there cookies are sent back."""
    site = request.header(b"sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.header(b"origin")
    return origin is not None and origin.partition("://")[2] == request.header(b"host")
