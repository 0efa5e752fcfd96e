"""`belvedere job files`: what a job left, listed or fetched."""

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Stop
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

PIECE = 64 * 1024


def files(args: Args) -> Any:
    client = connect(args)
    found = client.get(f"/job/{args.job}/files")
    if args.save:
        for each in found:
            _fetch(client, args.job, each, Path(args.save))
    return found


def _fetch(client: Client, job_id: str, file: dict[str, Any], folder: Path) -> None:
    """Under its own name, whole or not at all; what is there is not overwritten."""
    name = file["name"]
    if name != Path(name).name or name in (".", ".."):
        raise Stop(f"The server names a file {name!r}, which is no name.")
    target = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    if target.exists():
        raise Stop(f"{target} is there already.")
    digest, draft = hashlib.sha256(), folder / f".{name}.part"
    path = f"/job/{job_id}/files/{quote(name, safe='')}"
    with client.open(path) as response, draft.open("wb") as out:
        while piece := response.read(PIECE):
            digest.update(piece)
            out.write(piece)
    if digest.hexdigest() != file["sha256"]:
        draft.unlink()
        raise Stop(f"{name} did not come whole; try again.")
    draft.rename(target)
    rendering.note(f"{target} ({file['size']} bytes)")


def show_files(found: Any) -> None:
    rendering.table(
        ("name*", "bytes", "whole", "sha256"),
        (
            (each["name"], each["size"], "yes" if each["complete"] else "no", each["sha256"][:12])
            for each in found
        ),
        "The job left no files.",
    )
