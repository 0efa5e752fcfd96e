"""`belvedere backup` and `belvedere restore`, on the server's machine."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from belvedere.cli.framework import terminal
from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.dispatch import report_error
from belvedere.cli.framework.terminal import BYTES, ReportProgress, format_size, progress
from belvedere.cli.framework.time_words import duration_ms
from belvedere.cli.server import operator_client
from belvedere.cli.server.restored import NEXT_STEPS

if TYPE_CHECKING:
    from belvedere.server.backup.create import BackupRecord

MIN_INTERVAL_MS = 60_000
# Interval of the lines of progress.
LINE_S = 5.0
# Steps of a restore that are not measured in bytes.
COUNTED_STEPS = {"indexes": "indexes", "analyze": "tables", "keys": "keys"}
TERMINATED = 143


def back_up(args: Args) -> object:
    from datetime import UTC, datetime

    from belvedere.server.backup import rotation

    if args.keep is not None and args.keep < 1:
        raise CommandError("--keep needs at least 1.", 2)
    target = Path(args.file).absolute()
    write = _writer(args, target)
    if args.every:
        _repeat(target, args.every, write)
    if args.keep is not None:
        return _builtins(write(rotation.add_time(target, datetime.now(UTC))))
    return _builtins(write(target))


def _writer(args: Args, target: Path) -> "Callable[[Path], BackupRecord]":
    from belvedere import settings
    from belvedere.server.backup import create, rotation

    server_settings = settings.load({"data": args.data, "database": args.database})
    passphrase = _new_passphrase() if args.include_key else ""

    def write(path: Path) -> "BackupRecord":
        with _clean_stop(), _progress() as report:
            record = create.back_up(
                server_settings, path, report, force=args.force, passphrase=passphrase
            )
        if path != target:
            rotation.remove_interrupted(target)
            record.removed = rotation.remove_old(target, args.keep or 0)
        return record

    return write


@contextmanager
def _clean_stop() -> Iterator[None]:
    """A backup that is stopped removes its unfinished file."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _repeat(target: Path, every: str, write: "Callable[[Path], BackupRecord]") -> NoReturn:
    """Until it is stopped. An error is reported, and the backup tried again."""
    from belvedere.server.backup import rotation

    interval_ms = duration_ms(every)
    if interval_ms < MIN_INTERVAL_MS:
        raise CommandError("--every needs at least 1m.", 2)
    for outcome in rotation.repeat(target, interval_ms / 1_000, write):
        if isinstance(outcome, Exception):
            report_error(getattr(outcome, "message", str(outcome)), 1)
        else:
            show_backup(_builtins(outcome))
        sys.stdout.flush()
    raise AssertionError("it repeats without end")


def _new_passphrase() -> str:
    first = terminal.secret("Passphrase for the key: ")
    if sys.stdin.isatty() and terminal.secret("Repeat the passphrase: ") != first:
        raise CommandError("The two passphrases differ. Nothing was written.")
    return first


def restore(args: Args) -> object:
    from belvedere import settings
    from belvedere.server.backup.load import restore_backup

    server_settings = settings.load({"data": args.data, "database": args.database})
    with _progress() as report:
        record = restore_backup(
            server_settings,
            Path(args.file).absolute(),
            lambda: terminal.secret("Passphrase of the key in the backup: "),
            report,
            unsigned=args.unsigned,
        )
    return _builtins(record)


def _builtins(record: object) -> Record:
    import msgspec

    fields: Record = msgspec.to_builtins(record)
    return fields


def _progress() -> AbstractContextManager[ReportProgress]:
    """A bar on a terminal; otherwise a line on stderr for each part, and every few seconds."""
    last, last_at = "", 0.0

    def print_line(step: str, amount: str) -> None:
        nonlocal last, last_at
        now = time.monotonic()
        if step != last or now - last_at >= LINE_S:
            last, last_at = step, now
            print(f"{step} ({amount})", file=sys.stderr, flush=True)

    return progress(lambda step: COUNTED_STEPS.get(step, BYTES), print_line)


def show_backup(record: Record) -> None:
    print(f"{record['file']}: {format_size(record['size'])}, {record['rows']} rows")
    print(f"SHA-256 of the manifest: {record['sha256']}")
    for path in record["removed"]:
        print(f"{path}: deleted, because newer backups exist")
    if record["key"]:
        print(f"The key is not in the backup. Keep a copy of it in another place: {record['key']}")
    else:
        print("The key is in the backup, encrypted with your passphrase.")


def show_restored(record: Record) -> None:
    print(
        f"Restored {record['rows']} rows of the backup of {record['created_at']}"
        f" (version {record['version']}, {record['engine']}); epoch {record['epoch']}."
    )
    if record["is_continued"]:
        print("An earlier restore of this file was interrupted; it was continued.")
    elif record["is_repeated"]:
        print("An earlier restore of another file was interrupted: its files were removed.")
    if not record["is_signed"]:
        print("The signature was not checked: the backup has none, or there is no key here.")
    print("Next steps:")
    key = record["missing_key"]
    steps = (f"Copy the key of this installation to {key} (mode 0600).",) if key else ()
    for number, step in enumerate((*steps, *NEXT_STEPS), 1):
        print(f"  {number}. {step}")


COMMANDS = (
    Command(
        "backup",
        back_up,
        "Write a consistent backup of the database to one file, also while servers are running. "
        "The encryption key is not in it unless you ask for it.",
        "belvedere backup /backup/belvedere.zip --every 1d --keep 7",
        show_backup,
        options=(
            option("file", metavar="FILE", help="file to write; --keep adds the time to its name"),
            option("--force", action="store_true", help="replace an existing file"),
            option(
                "--include-key",
                action="store_true",
                help="include the encryption key, encrypted with a passphrase (prompted for, or the"
                " first line of stdin)",
            ),
            option("--every", metavar="TIME", help="repeat until stopped, for example 1d or 6h"),
            option(
                "--keep",
                metavar="N",
                type=int,
                help="add the time to the name, and keep only the newest N backups with this name",
            ),
            *operator_client.OPTIONS,
        ),
        is_remote=False,
    ),
    Command(
        "restore",
        restore,
        "Restore a backup into an empty data folder or an empty PostgreSQL database. Jobs that may "
        "have run since the backup are held until they are released. If it is interrupted, run it "
        "again: it continues.",
        "belvedere restore /backup/belvedere.zip --data /var/lib/belvedere",
        show_restored,
        options=(
            option("file", metavar="FILE", help="a file that `belvedere backup` wrote"),
            option(
                "--unsigned",
                action="store_true",
                help="accept a backup that has no signature, because it was written without the"
                " key",
            ),
            *operator_client.OPTIONS,
        ),
        is_remote=False,
    ),
)
