"""`belvedere migrate`, on the server's machine: move to the other database engine."""

import sys
import time
from contextlib import AbstractContextManager
from time import sleep

from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.terminal import ReportProgress, progress
from belvedere.cli.server import operator_client
from belvedere.cli.server.restored import HELD_JOBS, START

# Interval of the check whether the server still runs, and of the lines of progress.
WAIT_S, LINE_S = 1.0, 5.0
# Steps that do not count rows, by their first word.
COUNTED_STEPS = {"create": "statements", "checksum": "tables"}


def migrate(args: Args) -> object:
    import msgspec

    from belvedere import settings
    from belvedere.server.transfer import moves

    if bool(args.to) == args.reopen:
        raise CommandError("Use either --to or --reopen.", 2)
    server_settings = settings.load({"data": args.data, "database": args.database})
    if args.reopen:
        return msgspec.to_builtins(moves.reopen(server_settings))
    with _progress() as report:
        record = moves.move(server_settings, args.to, report, _Wait(), is_copy_only=args.copy_only)
    return msgspec.to_builtins(record)


class _Wait:
    """Asks once for the server to be stopped."""

    def __init__(self) -> None:
        self._is_first = True

    def __call__(self) -> None:
        if self._is_first:
            self._is_first = False
            print(
                "The copy is ready. Stop the server now (all servers of this database); agents may"
                " keep running. Waiting …",
                file=sys.stderr,
                flush=True,
            )
        sleep(WAIT_S)


def _progress() -> AbstractContextManager[ReportProgress]:
    """A bar on a terminal; otherwise a line on stderr every few seconds."""
    began_at = last_at = time.monotonic()

    def print_line(step: str, amount: str) -> None:
        nonlocal last_at
        now = time.monotonic()
        if now - last_at >= LINE_S:
            last_at = now
            print(f"{step}: {amount} after {now - began_at:.0f} s", file=sys.stderr, flush=True)

    return progress(lambda step: COUNTED_STEPS.get(step.partition(" ")[0], "rows"), print_line)


def show(record: Record) -> None:
    if "epoch" in record:
        _show_reopened(record)
    elif not record["is_complete"]:
        print(f"Copied {record['rows']} rows from {record['source']} to {record['target']}.")
        print("The server still uses the old database. Run the command again without --copy-only.")
    else:
        print(
            f"Moved {record['rows']} rows in {record['tables']} tables from {record['source']} to"
            f" {record['target']}; the row counts and checksums of all tables are equal."
        )
        print(f"Downtime: {record['stopped_s']} s ({record['changed']} changed rows).")
        print("Start the server with the new database, and with the same data folder as before.")


def _show_reopened(record: Record) -> None:
    print(f"Servers can use this {record['database']} database again.")
    if record["epoch"] is None:
        return
    print(f"What happened since it was moved is only in {record['other']}. Next steps:")
    for number, step in enumerate((START.format("migration"), *HELD_JOBS), 1):
        print(f"  {number}. {step}")


COMMANDS = (
    Command(
        "migrate",
        migrate,
        "Move to the other database engine: copy everything while the server runs, wait until it is"
        " stopped, then copy what has changed and compare all tables. If it is interrupted, run it"
        " again: it continues.",
        "belvedere migrate --to postgresql://belvedere@db.example.org/belvedere",
        show,
        options=(
            option(
                "--to",
                metavar="URL",
                help="the new database: postgresql://…, sqlite (in the data folder) or"
                " sqlite:///PATH",
            ),
            option(
                "--copy-only",
                action="store_true",
                help="only copy, while the server runs; a later run copies what has changed",
            ),
            option(
                "--reopen",
                action="store_true",
                help="let servers use the old database again; it then counts as a restored backup",
            ),
            *operator_client.OPTIONS,
        ),
        is_remote=False,
    ),
)
