"""How jobs look to a person."""

from typing import Any

from belvedere.cli.framework import rendering, time_words
from belvedere.cli.jobs import outcome


def show_log(answer: Any) -> None:
    """What was found by a search; a log itself has been written while it came."""
    if isinstance(answer, list):
        rendering.table(
            ("line", "text*"), ((each["line"], each["text"]) for each in answer), "No match."
        )


def shown_state(job: Any) -> str:
    """One word: how it ended, else where it is."""
    return str(job["state"] if outcome.is_over(job) else job["lifecycle"])


def _starter(job: Any) -> str:
    return str(job["user"]["email"] or job["user"]["username"] or job["origin"])


def show_jobs(jobs: Any) -> None:
    rendering.table(
        ("id", "state", "task*", "host*", "age"),
        (
            (
                each["id"],
                shown_state(each),
                each["name"],
                each["hostname"],
                time_words.age(each["creation_date"]),
            )
            for each in jobs
        ),
        "No job. Run a task with: belvedere run TASK",
    )


def show_job(job: Any) -> None:
    result = job.get("result") or {}
    seconds = outcome.elapsed_s(job)
    rendering.fields(
        (
            ("id", job["id"]),
            ("task", job["name"]),
            ("state", shown_state(job)),
            ("lifecycle", job["lifecycle"] if outcome.is_over(job) else None),
            ("waits", outcome.waits(job)),
            ("host", job["hostname"]),
            ("arguments", job.get("task_arguments_values")),
            ("will run", "; ".join(map(_planned, job.get("will_run") or ()))),
            ("exit code", result.get("code")),
            ("signal", result.get("signal")),
            ("took", time_words.span(seconds) if seconds is not None else ""),
            ("reason", job["reason"] or result.get("reason")),
            ("output", job.get("output")),
            ("last line", result.get("lastline")),
            ("started by", _starter(job)),
            ("canceled by", job["canceled_by"]),
            ("resolved by", job["resolved_by"]),
            ("restarted from", job["restarted_from"]),
            ("attempts", job["attempt_count"] if job["attempt_count"] > 1 else None),
            ("created", time_words.when(job["creation_date"])),
            ("started", time_words.when(job["started_at"])),
            ("ended", time_words.when(job["ended_at"])),
        )
    )


def _planned(one: Any) -> str:
    """A task that an approval lets run, in one line."""
    parts = [one["name"], f"on {one['hostname']}" if one.get("hostname") else ""]
    if one.get("script_sha256"):
        parts.append(f"{one['script_filename']} {one['script_sha256'][:12]}")
    parts.append(one.get("url", ""))
    known = one.get("arguments")
    parts.append("arguments from before" if known is None else " ".join(map(str, known)))
    return ", ".join(filter(None, (" ".join(parts[:2]).strip(), *parts[2:])))


def show_decided(said: str) -> Any:
    """What was decided, and what runs because of it."""

    def show_it(job: Any) -> None:
        print(said.format(job["id"]))
        for one in job.get("will_run") or () if job["state"] == "success" else ():
            print(rendering.cell(f"It runs {_planned(one)}.").plain)

    return show_it


def say(text: str) -> Any:
    return lambda job: print(text.format(job["id"], shown_state(job)))


def show_canceled(job: Any) -> None:
    if outcome.is_over(job):
        print(f"Job {job['id']} is canceled.")
    else:
        print(f"Job {job['id']} is being stopped; it ends when its host has confirmed it.")
