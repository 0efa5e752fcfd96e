"""`belvedere mark-restored`: the step after a database was restored from a backup."""

from collections.abc import Mapping

from belvedere.cli.framework.command import Args, Command
from belvedere.cli.server import operator_client

START = "Start the server. It holds jobs that may have run since the {}."
HELD_JOBS = (
    "List them: belvedere job held",
    "Release a job that has not run: belvedere job release JOB",
    "End a job that must not run: belvedere job cancel JOB",
    "Record the outcome of a job that has run: belvedere job resolve JOB OUTCOME",
)
NEXT_STEPS = (START.format("backup"), *HELD_JOBS)


def mark_restored(args: Args) -> object:
    """Refused while a server runs on this data folder."""
    return operator_client.call_operator(args, "/mark-restored", {})


def _show(answer: Mapping[str, object]) -> None:
    """What was done, and what is left to do."""
    print(f"The database is marked as restored (epoch {answer['epoch']}). Next steps:")
    for number, step in enumerate(NEXT_STEPS, 1):
        print(f"  {number}. {step}")


COMMANDS = (
    Command(
        "mark-restored",
        mark_restored,
        "Run this after restoring the database from a backup, before the server starts. Jobs that "
        "may have run since the backup are then held until they are released.",
        "belvedere mark-restored --data ./data",
        _show,
        options=operator_client.OPTIONS,
        is_remote=False,
    ),
)
