"""`belvedere doctor`: check the installation on this machine, without disturbing its server."""

from typing import Any

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Verb
from belvedere.cli.framework.progress import progress
from belvedere.cli.server import operator_client


def doctor(args: Args) -> Any:
    import msgspec

    from belvedere import settings
    from belvedere.server.doctor import examine

    found = settings.load({"data": args.data, "database": args.database})
    with progress() as tell:
        return msgspec.to_builtins(examine(found, tell))


def show_findings(findings: Any) -> None:
    rendering.table(
        ("check", "verdict", "found*", "what to do*"),
        [(one["check"], one["verdict"], one["found"], one["advice"]) for one in findings],
    )


def _status(_: Args, findings: Any) -> int:
    return int(any(finding["verdict"] == "problem" for finding in findings))


VERBS = (
    Verb(
        "doctor",
        doctor,
        "Check the schema, the files and keys, every job against its events, the logs, hosts, "
        "clock and disk. It only reads, also while the server runs. Exits with 1 when there is a "
        "problem.",
        "belvedere doctor --data ./data",
        show_findings,
        options=operator_client.OPTIONS,
        status=_status,
        is_remote=False,
    ),
)
