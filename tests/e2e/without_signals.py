"""The program without any signals: everything works by polling."""

import sys

from belvedere.cli.main import main
from belvedere.db.postgres.notify import PostgresNotifier
from belvedere.db.signals import SignalBus


def send_nothing(*_: object) -> None:
    pass


if __name__ == "__main__":
    # Assigned by name, so that mypy reports a method that was renamed: a patch of a method that
    # does not exist would let the signals through and the test pass.
    SignalBus.emit = send_nothing  # type: ignore[method-assign, assignment]
    PostgresNotifier.notify = send_nothing  # type: ignore[method-assign, assignment]
    sys.exit(main())
