"""`belvedere upgrade --check`: whether this version can be started, on the server's machine."""

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Command, Record, option
from belvedere.cli.server import operator_client
from belvedere.cli.server.doctor import show_findings


def upgrade(args: Args) -> object:
    import msgspec

    from belvedere import settings
    from belvedere.server.upgrade import check_upgrade

    server_settings = settings.load({"data": args.data, "database": args.database})
    return msgspec.to_builtins(check_upgrade(server_settings))


def show_report(report: Record) -> None:
    database = report["database_version"] or "unknown (before this was recorded)"
    print(f"program   {report['version']}")
    print(f"database  {database}, {report['engine']}\n")
    if report["pending"]:
        rendering.table(
            ("pending migration", "slow", "what it does*"),
            [
                (row["name"], "maybe" if row["may_be_slow"] else "no", row["about"])
                for row in report["pending"]
            ],
        )
        print()
    show_findings(report["findings"])
    if report["ready"]:
        print("\nReady: stop the old server and start this version.")
    else:
        print("\nNot ready: solve the problems first.")


def _status(_: Args, report: Record) -> int:
    return 0 if report["ready"] else 1


COMMANDS = (
    Command(
        "upgrade",
        upgrade,
        "Check whether this version of the program can be started with the database: pending "
        "migrations, disk, last backup, versions of agents, settings. Read-only; safe while the "
        "old server is running. Exits with 1 if something has to be done first.",
        "belvedere upgrade --check --data ./data",
        show_report,
        options=(
            option(
                "--check",
                action="store_true",
                required=True,
                help="only check; starting the new version performs the upgrade",
            ),
            *operator_client.OPTIONS,
        ),
        status=_status,
        is_remote=False,
    ),
)
