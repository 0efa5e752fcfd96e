"""`belvedere doctor`: check the installation on this machine, even while its server is running."""

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Command, Record
from belvedere.cli.framework.terminal import progress
from belvedere.cli.server import operator_client


def doctor(args: Args) -> object:
    import msgspec

    from belvedere import settings
    from belvedere.server.doctor import examine

    server_settings = settings.load({"data": args.data, "database": args.database})
    with progress(lambda step: step) as report:
        return msgspec.to_builtins(examine(server_settings, report))


def show_findings(findings: list[Record]) -> None:
    rendering.table(
        ("check", "verdict", "found*", "what to do*"),
        [
            (finding["check"], finding["verdict"], finding["found"], finding["advice"])
            for finding in findings
        ],
    )


def _status(_: Args, findings: list[Record]) -> int:
    return int(any(finding["verdict"] == "problem" for finding in findings))


COMMANDS = (
    Command(
        "doctor",
        doctor,
        "Check the schema, files and keys, every job against its events, logs, hosts, clock and "
        "disk. Read-only; safe while the server is running. Exits with 1 if there is a problem.",
        "belvedere doctor --data ./data",
        show_findings,
        options=operator_client.OPTIONS,
        status=_status,
        is_remote=False,
    ),
)
