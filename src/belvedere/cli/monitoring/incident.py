"""`belvedere incident`: incidents that are posted on a status page, for its visitors."""

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.monitoring.status_page import PAGE
from belvedere.client.http_client import Client

# As in the console. The server checks them.
STATES = {
    "investigating": "Investigating",
    "identified": "Identified",
    "monitoring": "Monitoring",
    "resolved": "Resolved",
}
IMPACTS = {"outage": "Outage", "notice": "Notice"}


def list_all(args: Args) -> object:
    client = connect(args)
    return client.get(_path(client, args))


def post(args: Args) -> object:
    client = connect(args)
    body = {"title": args.title, "impact": args.impact, **_update(args, args.state)}
    return client.post(_path(client, args), body)


def update(args: Args) -> object:
    """Without a new state, the state stays the same."""
    client = connect(args)
    path = _path(client, args)
    incident = lookup.incident(client.get(path), args.incident)
    body = _update(args, args.state or incident["state"])
    return client.post(f"{path}/{incident['id']}/update", body)


def resolve(args: Args) -> object:
    args.state = "resolved"
    return update(args)


def delete(args: Args) -> object:
    client = connect(args)
    path = _path(client, args)
    return client.delete(f"{path}/{lookup.incident(client.get(path), args.incident)['id']}")


def _path(client: Client, args: Args) -> str:
    return f"/statuspage/{lookup.status_page(client, args.page)['id']}/incident"


def _update(args: Args, state: str) -> Record:
    return {"text": args.text, "state": state, "notify": not args.no_notify}


def show_incidents(incidents: list[Record]) -> None:
    rendering.table(
        ("id", "title*", "state", "impact", "started", "updates", "last update*"),
        (
            (
                incident["id"],
                incident["title"],
                STATES.get(incident["state"], incident["state"]),
                IMPACTS.get(incident["impact"], incident["impact"]),
                time_words.age(incident["started"]),
                len(incident["updates"]),
                " ".join(incident["updates"][0]["text"].split()),
            )
            for incident in incidents
        ),
        "No incidents posted. Post one with: belvedere incident post PAGE TITLE TEXT",
    )


def show_incident(incident: Record) -> None:
    rendering.fields(
        (
            ("id", incident["id"]),
            ("title", incident["title"]),
            ("state", STATES.get(incident["state"], incident["state"])),
            ("impact", IMPACTS.get(incident["impact"], incident["impact"])),
            ("started", time_words.when(incident["started"])),
            ("updates", [f"{entry['state']}: {entry['text']}" for entry in incident["updates"]]),
        )
    )


INCIDENT = option("incident", metavar="INCIDENT", help="its title or id")
TEXT = option("text", metavar="TEXT", help="what visitors should know")
QUIET = option("--no-notify", action="store_true", help="do not send e-mail to subscribers")

COMMANDS = (
    Command(
        "list",
        list_all,
        "List the incidents that were posted on a status page.",
        "belvedere incident list Shop",
        show_incidents,
        options=(PAGE,),
    ),
    Command(
        "post",
        post,
        "Post an incident on a status page; subscribers get an e-mail.",
        "belvedere incident post Shop 'Payments are slow' 'We are looking into it.'",
        show_incident,
        options=(
            PAGE,
            option("title", metavar="TITLE", help="the title of the incident"),
            TEXT,
            option("--state", choices=list(STATES), default="investigating", help="its state"),
            option(
                "--impact",
                choices=list(IMPACTS),
                default="outage",
                help="outage: the page shows a failure until it is resolved; notice: it does not",
            ),
            QUIET,
        ),
    ),
    Command(
        "update",
        update,
        "Add an update to a posted incident.",
        "belvedere incident update Shop 'Payments are slow' 'A disk was full.' --state identified",
        show_incident,
        options=(
            PAGE,
            INCIDENT,
            TEXT,
            option("--state", choices=list(STATES), help="its new state (default: unchanged)"),
            QUIET,
        ),
    ),
    Command(
        "resolve",
        resolve,
        "Resolve a posted incident.",
        "belvedere incident resolve Shop 'Payments are slow' 'Payments work again.'",
        show_incident,
        options=(PAGE, INCIDENT, TEXT, QUIET),
    ),
    Command(
        "delete",
        delete,
        "Delete a posted incident; the page and the feeds no longer show it.",
        "belvedere incident delete Shop 'Payments are slow'",
        lambda incident: print(f"Incident {incident['title']} deleted."),
        options=(PAGE, INCIDENT),
    ),
)
