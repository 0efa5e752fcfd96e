"""What uses a file: rows of packages above, which `server/ports.py` connects."""

import msgspec

from belvedere.db import Tx
from belvedere.db.ports import Port, PortList


class FileUse(msgspec.Struct):
    """A record that uses a file."""

    id: str
    name: str
    type: str
    # Task, Monitor or Indicator.
    model: str


class JobScript(msgspec.Struct):
    """The script of a job, in the version that the job was created with."""

    filename: str
    sha256: str


# (organization, file): the records of one package that use the file, by id.
uses: PortList[[Tx, str, str], list[FileUse]] = PortList("files.uses")

# (host, file): whether the agent of this host needs the file for its work.
needs: PortList[[Tx, str, str], bool] = PortList("files.needs")

# (host, job): the script of a job that runs there now. Agents of TheEye download it by the id of
# the job.
script_of_job: Port[[Tx, str, str], JobScript | None] = Port("files.script_of_job")


def list_uses(tx: Tx, customer_id: str, file_id: str) -> list[FileUse]:
    """What uses the file: tasks, then monitors, then indicators."""
    return [use for rows in uses.each(tx, customer_id, file_id) for use in rows]


def is_needed_by(tx: Tx, host_id: str, file_id: str) -> bool:
    """Whether a task of this host, a job that waits or runs there, or a monitor uses the file."""
    return any(needs.each(tx, host_id, file_id))
