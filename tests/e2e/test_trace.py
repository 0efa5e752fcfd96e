"""The trace context of a request reaches the process of the script, and spans reach a collector."""

from pathlib import Path
from typing import Any

from e2e.site import Site
from e2e.wait_until import until
from e2e.world import World
from egress.receivers import Sink, http_sink
from server.otlp import decode_spans

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
SCRIPT = '#!/bin/sh\necho "${TRACEPARENT-none}"\n'


def run_traced(site: Site) -> dict[str, Any]:
    task_id = site.world.task(SCRIPT, site.agent)
    headers = {"traceparent": PARENT}
    response = site.world.api.request("POST", "/job", {"task": task_id}, headers=headers)
    return site.world.wait_ended(response.body["id"])


def test_a_script_prints_the_trace_of_its_request(site: Site) -> None:
    job = run_traced(site)
    assert site.world.log(job["id"]).decode() == f"00-{TRACE}-{job['id'][-16:]}-01\n"
    assert job["traceparent"] == PARENT


def test_a_script_without_a_trace_has_no_variable(site: Site) -> None:
    job = site.run(SCRIPT)
    assert site.world.log(job["id"]) == b"none\n"


def spans_of(collector: Sink) -> list[Any]:
    assert {message.path for message in collector.got} <= {"/v1/traces"}
    return [span for message in collector.got for span in decode_spans(message.body)]


def test_a_collector_gets_the_spans_of_a_job(tmp_path: Path) -> None:
    with http_sink() as collector:
        url = f"http://{collector.host}:{collector.port}"
        with World(tmp_path, BELVEDERE_OTLP_URL=url) as world:
            assert world.start(), world.server.read_log()
            site = Site(world, world.agent("web"))
            first = run_traced(site)
            until(lambda: len(spans_of(collector)) == 3, 30, world.server.read_log)
            job, *parts = spans_of(collector)
            assert job.trace_id.hex() == TRACE and job.span_id.hex() == first["id"][-16:]
            assert [(part.name, part.parent_span_id) for part in parts] == [
                ("wait", job.span_id),
                ("run", job.span_id),
            ]
            # What waits is sent when the server stops.
            last = run_traced(site)
            assert world.server.stop() == 0
            assert spans_of(collector)[3].span_id.hex() == last["id"][-16:]
