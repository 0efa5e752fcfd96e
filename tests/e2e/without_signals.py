"""The program with every doorbell taken off: whatever happens then, happens by polling."""

import sys

from belvedere.cli.main import main
from belvedere.db.postgres.notify import PostgresNotifier
from belvedere.db.signals import SignalBus


def nobody_hears(*_: object) -> None:
    pass


if __name__ == "__main__":
    setattr(SignalBus, "ring", nobody_hears)  # noqa: B010
    setattr(PostgresNotifier, "ring", nobody_hears)  # noqa: B010
    sys.exit(main())
