"""How jobs look to a person."""

from typing import Any

from belvedere.cli import outcome, show, words


def show_log(answer: Any) -> None:
    """What was found by a search; a log itself has been written while it came."""
    if isinstance(answer, list):
        show.table(
            ("line", "text*"), ((each["line"], each["text"]) for each in answer), "No match."
        )


def shown_state(job: Any) -> str:
    """One word: how it ended, else where it is."""
    return str(job["state"] if outcome.is_over(job) else job["lifecycle"])


def _starter(job: Any) -> str:
    return str(job["user"]["email"] or job["user"]["username"] or job["origin"])


def show_jobs(jobs: Any) -> None:
    show.table(
        ("id", "state", "task*", "host*", "age"),
        (
            (
                each["id"],
                shown_state(each),
                each["name"],
                each["hostname"],
                words.age(each["creation_date"]),
            )
            for each in jobs
        ),
        "No job. Run a task with: belvedere run TASK",
    )


def show_job(job: Any) -> None:
    result = job.get("result") or {}
    seconds = outcome.elapsed_s(job)
    show.fields(
        (
            ("id", job["id"]),
            ("task", job["name"]),
            ("state", shown_state(job)),
            ("lifecycle", job["lifecycle"] if outcome.is_over(job) else None),
            ("waits", outcome.waits(job)),
            ("host", job["hostname"]),
            ("arguments", job.get("task_arguments_values")),
            ("exit code", result.get("code")),
            ("signal", result.get("signal")),
            ("took", words.span(seconds) if seconds is not None else ""),
            ("reason", job["reason"] or result.get("reason")),
            ("output", job.get("output")),
            ("last line", result.get("lastline")),
            ("started by", _starter(job)),
            ("canceled by", job["canceled_by"]),
            ("resolved by", job["resolved_by"]),
            ("restarted from", job["restarted_from"]),
            ("attempts", job["attempt_count"] if job["attempt_count"] > 1 else None),
            ("created", words.when(job["creation_date"])),
            ("started", words.when(job["started_at"])),
            ("ended", words.when(job["ended_at"])),
        )
    )


def say(text: str) -> Any:
    return lambda job: print(text.format(job["id"], shown_state(job)))


def show_canceled(job: Any) -> None:
    if outcome.is_over(job):
        print(f"Job {job['id']} is canceled.")
    else:
        print(f"Job {job['id']} is being stopped; it ends when its host has confirmed it.")
