"""Sample tasks for a first start: each shows one feature with a short script."""

from typing import Any

from belvedere.access import Actor, Level
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.people import memberships
from belvedere.db import Tx
from belvedere.tasks import service
from belvedere.tasks.bodies import ScriptBody, TaskBody
from belvedere.tasks.model import Argument, ArgumentKind, Option, Type

GREET = """\
#!/bin/sh
# Arguments arrive as $1, $2, ... in the order in which the task defines them.
name=$1
language=$2

case $language in
  es) echo "Hola, $name!" ;;
  de) echo "Hallo, $name!" ;;
  *)  echo "Hello, $name!" ;;
esac

echo "This ran on $(hostname) as $(id -un)."
"""

COUNT = """\
#!/bin/sh
# Everything printed is shown while the script runs; open the job and watch.
# Cancel it half-way: the script and whatever it started are stopped.
for n in 1 2 3 4 5 6 7 8 9 10; do
  echo "step $n of 10"
  sleep 1
done
"""

DISK = """\
#!/bin/sh
# The last line is the result: a JSON object with a state and an output.
# The output is a list; the next task of a workflow gets it as its arguments.
used=$(df -P / | awk 'NR == 2 { sub("%", "", $5); print $5 }')
free=$(df -Ph / | awk 'NR == 2 { print $4 }')

echo "The root disk is $used% full."

if [ "$used" -lt 90 ]; then state=success; else state=failure; fi
printf '{"state": "%s", "output": ["%s", "%s"]}\\n' "$state" "$used" "$free"
"""

FAIL = """\
#!/bin/sh
# An exit code other than 0 is a failure. What went to standard error is in the log too.
echo "Looking for the answer ..."
echo "There is none: /etc/belvedere/answer does not exist." >&2
exit 3
"""


REPORT = """\
#!/bin/sh
# In a workflow the output of one task is the arguments of the next.
# An approval in between hands on what it was given.
echo "The root disk is $1% full, and $2 are free."
"""


def create_tasks(tx: Tx, keys: Keyring, actor: Actor, host_id: str) -> dict[str, str]:
    """Create the sample tasks on this host; returns their ids by name."""
    owners = [
        member.email
        for member in memberships.list_members(tx, actor)
        if Level(member.level) is Level.OWNER
    ]
    views = [service.create(tx, keys, actor, body)[0] for body in _bodies(host_id, owners)]
    return {view.name: view.id for view in views}


def _bodies(host_id: str, owners: list[str]) -> list[Any]:
    return [
        _script(
            host_id,
            "Greet somebody",
            "Shows arguments: a text and a choice.",
            "greet.sh",
            GREET,
            task_arguments=[
                Argument(ArgumentKind.INPUT, "Name", value="world", charsmax=80),
                Argument(
                    ArgumentKind.SELECT,
                    "Language",
                    order=1,
                    value="en",
                    options=[
                        Option("en", "English"),
                        Option("es", "Spanish"),
                        Option("de", "German"),
                    ],
                ),
            ],
        ),
        _script(
            host_id,
            "Count slowly",
            "Shows live output. Takes ten seconds; try to cancel it.",
            "count.sh",
            COUNT,
        ),
        _script(
            host_id,
            "Measure the disk",
            "Shows output values: the last line is JSON with a state and an output.",
            "disk.sh",
            DISK,
            output_parameters=[{"label": "used percent"}, {"label": "free"}],
        ),
        _script(host_id, "Fail on purpose", "Shows a failure: exit code 3.", "fail.sh", FAIL),
        _script(
            host_id,
            "Report",
            "Shows what a task gets from the one before it in a workflow.",
            "report.sh",
            REPORT,
            task_arguments=[
                Argument(ArgumentKind.INPUT, "Used percent", value="42"),
                Argument(ArgumentKind.INPUT, "Free", order=1, value="10G"),
            ],
        ),
        TaskBody(
            name="Ask for approval",
            type=Type.APPROVAL,
            description="Shows a question: the job waits until an approver says yes or no.",
            tags=["demo"],
            approvers=owners,
        ),
    ]


# `more` are fields of TaskBody, which has a type for each.
def _script(
    host_id: str, name: str, description: str, filename: str, source: str, **more: Any
) -> TaskBody:
    return TaskBody(
        name=name,
        type=Type.SCRIPT,
        description=description,
        tags=["demo"],
        host_id=host_id,
        script=ScriptBody(filename=filename, source=source),
        **more,
    )
