"""What a schedule can start: one row for each kind of target."""

from belvedere.schedules.targets import TASK, Target

TARGETS: dict[str, Target] = {
    "task": TASK,
}
