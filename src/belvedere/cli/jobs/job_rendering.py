"""Jobs as text for people."""

from belvedere.cli.framework import rendering, time_words, words
from belvedere.cli.framework.command import Record, Show
from belvedere.cli.jobs import outcome


def show_log(result: object) -> None:
    """The matches of a search; a log has already been printed by the command itself."""
    if isinstance(result, list):
        rendering.table(
            ("line", "text*"), ((match["line"], match["text"]) for match in result), "No match."
        )


def show_jobs(listing: Record) -> None:
    rendering.table(
        ("id", "state", "task*", "host*", "started by*", "age"),
        (
            (
                job["id"],
                words.job_state(job),
                job["name"],
                job["hostname"],
                words.job_starter(job),
                time_words.age(job["creation_date"]),
            )
            for job in listing["jobs"]
        ),
        "No jobs. Run a task with: belvedere run TASK",
    )
    removed = listing["removed"]
    if removed:
        jobs = "older job was" if removed["count"] == 1 else "older jobs were"
        last = time_words.when(removed["last_date"])
        print(f"{removed['count']} {jobs} removed by retention or manually, the last {last}.")


EVIDENCE = {
    "awaited": "the agent has not connected since the restore",
    "no_journal": "the agent keeps no journal, or never connected",
    "accepted": "the host has accepted jobs after the backup",
    "restarted": "the agent was restarted since the backup and cannot show what ran",
    "rolled_back": "the host was restored from a snapshot too",
}


def show_held(answer: Record) -> None:
    rendering.table(
        ("id", "job", "host", "created", "it may have run*"),
        (
            (
                job["id"],
                job["name"],
                job["hostname"],
                time_words.age(job["creation_date"]),
                EVIDENCE.get(job["evidence"], job["evidence"]),
            )
            for job in answer["jobs"]
        ),
    )


def show_job(job: Record) -> None:
    result = job.get("result") or {}
    seconds = outcome.elapsed_s(job)
    rendering.fields(
        (
            ("id", job["id"]),
            ("task", job["name"]),
            ("state", words.job_state(job)),
            ("lifecycle", job["lifecycle"] if outcome.is_over(job) else None),
            ("waiting for", outcome.waiting_text(job)),
            ("host", job["hostname"]),
            ("arguments", job.get("task_arguments_values")),
            ("will run", "; ".join(map(_planned_text, job.get("will_run") or ()))),
            ("exit code", result.get("code")),
            ("signal", result.get("signal")),
            ("took", time_words.span(seconds) if seconds is not None else ""),
            ("reason", job["reason"] or result.get("reason")),
            ("output", job.get("output")),
            ("last line", result.get("lastline")),
            ("started by", words.job_starter(job)),
            ("canceled by", job["canceled_by"]),
            ("resolved by", job["resolved_by"]),
            ("restarted from", job["restarted_from"]),
            ("attempts", job["attempt_count"] if job["attempt_count"] > 1 else None),
            ("created", time_words.when(job["creation_date"])),
            ("started", time_words.when(job["started_at"])),
            ("ended", time_words.when(job["ended_at"])),
        )
    )


def _planned_text(task: Record) -> str:
    """A task that an approval allows to run, in one line."""
    parts = [task["name"], f"on {task['hostname']}" if task.get("hostname") else ""]
    if task.get("script_sha256"):
        parts.append(f"{task['script_filename']} {task['script_sha256'][:12]}")
    parts.append(task.get("url", ""))
    arguments = task.get("arguments")
    parts.append(
        "arguments of the previous job" if arguments is None else " ".join(map(str, arguments))
    )
    return ", ".join(filter(None, (" ".join(parts[:2]).strip(), *parts[2:])))


def show_decision(message: str) -> Show:
    """The decision, and what runs because of it."""

    def show(job: Record) -> None:
        print(message.format(job["id"]))
        for task in job.get("will_run") or () if job["state"] == "success" else ():
            print(rendering.cell(f"It runs {_planned_text(task)}.").plain)

    return show


def confirmation(text: str) -> Show:
    return lambda job: print(text.format(job["id"], words.job_state_word(job).lower()))


def show_canceled(job: Record) -> None:
    if outcome.is_over(job):
        print(f"Job {job['id']} is canceled.")
    else:
        print(f"Job {job['id']} is being stopped; it ends when its host confirms.")
