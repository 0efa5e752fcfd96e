"""What this process has done since its start: requests, jobs, results of monitors, database."""

from collections.abc import Iterator

from belvedere.jobs.model import JobState
from belvedere.jobs.tallies import TALLIES
from belvedere.monitors.evaluation.samples import RESULT_LAGS, RESULTS
from belvedere.server.metrics.text_format import Family, counter, gauge, histogram
from belvedere.server.runtime import ServerRuntime
from belvedere.server.traces.exporter import TraceExporter

# Prometheus sees an increase only in a series that it has read before: without these, the first
# lost job would cause no alert.
ORIGINS = ("scheduler", "secret", "trigger_by", "user", "workflow")
_NO_LOST_JOBS = {(str(JobState.LOST), origin): 0 for origin in ORIGINS}


def families(runtime: ServerRuntime) -> Iterator[Family]:
    yield from _requests(runtime)
    yield from _jobs()
    yield from _monitors()
    yield histogram(
        "belvedere_database_commit_seconds",
        "Time of durable commits of the main database.",
        runtime.db.commit_times,
    )
    yield histogram(
        "belvedere_database_transaction_seconds",
        "Time of transactions that write to the main database, with their commit.",
        runtime.db.transaction_times,
    )
    yield histogram(
        "belvedere_event_loop_lag_seconds",
        "Delay of a timer of the event loop, measured up to ten times a second.",
        runtime.watchdog.lags,
    )
    yield counter(
        "belvedere_event_loop_blocked_total",
        "Times that the event loop was blocked for more than 250 ms.",
        runtime.watchdog.slow,
    )
    exporter = runtime.of(TraceExporter)
    yield counter(
        "belvedere_trace_spans_exported_total", "Spans sent to the collector.", exporter.exported
    )
    yield counter(
        "belvedere_trace_spans_dropped_total",
        "Spans that were not sent: the collector rejected them, or there were too many.",
        exporter.dropped,
    )
    yield gauge(
        "belvedere_agents_connected", "Agents connected to this server.", len(runtime.agents)
    )


def _requests(runtime: ServerRuntime) -> Iterator[Family]:
    counts = runtime.requests
    yield Family(
        "belvedere_http_requests_total",
        "counter",
        "Answered requests by method, route and status.",
        ("method", "route", "status"),
        [
            ((method, route, str(status)), count)
            for (method, route, status), count in sorted(counts.by_route.items())
        ],
    )
    yield histogram(
        "belvedere_http_request_seconds",
        "Time from the head of a request to the end of its response, without streams.",
        counts.seconds,
    )


def _jobs() -> Iterator[Family]:
    yield Family(
        "belvedere_jobs_created_total",
        "counter",
        "Jobs that this server created, by origin.",
        ("origin",),
        [((origin,), count) for origin, count in sorted(TALLIES.created.items())],
    )
    yield Family(
        "belvedere_jobs_ended_total",
        "counter",
        "Jobs whose end this server stored, by state and origin; a lost job whose result became"
        " known later counts twice.",
        ("state", "origin"),
        sorted((_NO_LOST_JOBS | TALLIES.ended).items()),
    )
    yield histogram(
        "belvedere_job_assign_seconds",
        "Time from the creation of a job (or its delay) until its order is sent to the agent.",
        TALLIES.until_assigned,
    )
    yield histogram(
        "belvedere_job_start_seconds",
        "Time from the creation of a job (or its delay) until its script starts; counted when the"
        " job ends.",
        TALLIES.until_started,
    )
    yield histogram(
        "belvedere_job_end_seconds",
        "Time from the creation of a job until its end is stored.",
        TALLIES.until_ended,
    )


def _monitors() -> Iterator[Family]:
    yield Family(
        "belvedere_monitor_results_total",
        "counter",
        "Results of checks that this server stored, by state.",
        ("state",),
        [((state,), count) for state, count in sorted(RESULTS.items())],
    )
    yield histogram(
        "belvedere_monitor_result_lag_seconds",
        "Time from a check by an agent until its result is stored.",
        RESULT_LAGS,
    )
