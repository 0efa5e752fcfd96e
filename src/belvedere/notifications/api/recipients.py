"""The endpoint that names who is notified of a failure: names of channels and no address."""

from belvedere.access.request import AnyRequest, Request
from belvedere.notifications import service
from belvedere.notifications.api.records import RecipientRecord
from belvedere.notifications.model import MAX_VALUES, AddressedNotice, Notice, NoticeSeverity
from belvedere.rest import query
from belvedere.rest.route import Route

_KINDS = {"monitor": "monitor.failure", "task": "job.finished"}


async def list_recipients(request: Request[None]) -> list[RecipientRecord]:
    names = await request.services.db.read(
        service.recipient_names, request.actor, _requested_failure(request)
    )
    return [RecipientRecord(name) for name in names]


def _requested_failure(request: AnyRequest) -> AddressedNotice:
    """The notice that a failure of this monitor or task would cause."""
    kind = _choice(request, "kind", tuple(_KINDS), "monitor")
    severity = NoticeSeverity(_choice(request, "severity", tuple(NoticeSeverity), "HIGH"))
    return AddressedNotice(
        request.actor.customer_id,
        Notice(_KINDS[kind], kind, "", "", 0, severity, "failure"),
        is_alert=True,
        about=frozenset(_texts(request, "object")),
        tags=frozenset(tag.lower() for tag in _texts(request, "tag")),
    )


def _choice(request: AnyRequest, name: str, choices: tuple[str, ...], default: str) -> str:
    value = request.query.get(name, [default])[-1]
    if value not in choices:
        raise query.invalid_query(name, f"{name} must be one of {', '.join(choices)}.")
    return value


def _texts(request: AnyRequest, name: str) -> list[str]:
    return [query.text(name, value) for value in request.query.get(name, [])[:MAX_VALUES]]


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/notify/recipients",
        "manager",
        list_recipients,
        "List the channels that a failure is sent to, by name",
        from_interface=False,
        answer=list[RecipientRecord],
        query=(
            ("kind", "monitor (default) or task"),
            ("object", "id of the monitor or task, and of its host; may be repeated"),
            ("tag", "a tag of it; may be repeated"),
            ("severity", "LOW, HIGH (default) or CRITICAL"),
        ),
    ),
)
