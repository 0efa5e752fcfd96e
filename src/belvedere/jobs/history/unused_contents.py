"""Deleting contents that neither a file nor a job needs: the steps of `files.blob_sweep`.

Jobs refer to contents by their scripts, and by files among their arguments.
"""

import re

from belvedere.db import Tx
from belvedere.files import blob_sweep
from belvedere.files.blob_sweep import Sweep
from belvedere.jobs import scraper
from belvedere.jobs.lifecycle import commands

# Transactions per run of the loop.
MAX_STEPS = 20
# Jobs per transaction, and texts of arguments (each up to 1 MiB) that it reads.
BATCH, MAX_TEXTS = 500, 20
_DIGEST = re.compile(r'\{"blob":"([0-9a-f]{64})"')


def step(tx: Tx) -> bool:
    """The next batch; whether there may be more to do at once."""
    if not blob_sweep.is_due(tx):
        return False
    sweep = blob_sweep.current(tx)
    if sweep.phase == "blobs":
        # Future jobs need these contents, and no row refers to them.
        scraper.store_source(tx)
        commands.store_source(tx)
        blob_sweep.find_batch(tx, sweep)
    elif sweep.phase == "jobs":
        _keep_referenced(tx, sweep)
    else:
        blob_sweep.delete_batch(tx, sweep)
    blob_sweep.save(tx, sweep)
    return True


def _keep_referenced(tx: Tx, sweep: Sweep) -> None:
    digests, last = _after(tx, sweep.job_position)
    blob_sweep.keep(tx, digests)
    if last is None:
        sweep.phase = "delete"
    else:
        sweep.job_position = last


def _after(tx: Tx, job_id: str) -> tuple[set[str], str | None]:
    """The contents of the next jobs, and the last of these jobs; None at the end."""
    rows = tx.rows(f"select id from jobs where id > ? order by id limit {BATCH}", job_id)
    if not rows:
        return set(), None
    last: str = rows[-1][0]
    texts = tx.rows(
        "select id, arguments from jobs where id > ? and id <= ?"
        f' and arguments like \'%{{"blob":"%\' order by id limit {MAX_TEXTS}',
        *(job_id, last),
    )
    if len(texts) == MAX_TEXTS:
        last = texts[-1][0]
    digests = {digest for _, text in texts for digest in _DIGEST.findall(text)}
    return digests | _scripts(tx, job_id, last), last


def _scripts(tx: Tx, job_id: str, last: str) -> set[str]:
    rows = tx.rows(
        "select distinct script_sha256 from jobs where id > ? and id <= ?"
        " and script_sha256 is not null",
        *(job_id, last),
    )
    return {sha256 for (sha256,) in rows}
