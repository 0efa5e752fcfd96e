"""`belvedere job files`: list or download the files that a job produced."""

import hashlib
from pathlib import Path
from urllib.parse import quote

from belvedere.cli.framework import lookup, rendering
from belvedere.cli.framework.command import Args, CommandError, Record
from belvedere.client.http_client import Client

READ_SIZE = 64 * 1024


def files(args: Args) -> object:
    client = lookup.connect_to_job(args)
    records = client.get(f"/job/{args.job}/files")
    if args.save:
        for record in records:
            _download(client, args.job, record, Path(args.save))
    return records


def _download(client: Client, job_id: str, file: Record, folder: Path) -> None:
    """Under its own name, complete or not at all; an existing file is not overwritten."""
    name = file["name"]
    if name != Path(name).name or name in (".", ".."):
        raise CommandError(f"The server sent {name!r}, which is not a valid file name.")
    target = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    if target.exists():
        raise CommandError(f"{target} already exists.")
    digest, draft = hashlib.sha256(), folder / f".{name}.part"
    path = f"/job/{job_id}/files/{quote(name, safe='')}"
    with client.open(path) as response, draft.open("wb") as out:
        while piece := response.read(READ_SIZE):
            digest.update(piece)
            out.write(piece)
    if digest.hexdigest() != file["sha256"]:
        draft.unlink()
        raise CommandError(f"The download of {name} is incomplete or damaged; try again.")
    draft.rename(target)
    rendering.note(f"{target} ({file['size']} bytes)")


def show_files(files: list[Record]) -> None:
    rendering.table(
        ("name*", "bytes", "complete", "sha256"),
        (
            (file["name"], file["size"], "yes" if file["complete"] else "no", file["sha256"][:12])
            for file in files
        ),
        "The job produced no files.",
    )
