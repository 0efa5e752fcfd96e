"""The trace context of a request reaches the process of the script."""

from e2e.site import Site

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
SCRIPT = '#!/bin/sh\necho "${TRACEPARENT-none}"\n'


def test_a_script_prints_the_trace_of_its_request(site: Site) -> None:
    task_id = site.world.task(SCRIPT, site.agent)
    headers = {"traceparent": PARENT}
    response = site.world.api.request("POST", "/job", {"task": task_id}, headers=headers)
    job = site.world.wait_ended(response.body["id"])
    assert site.world.log(job["id"]).decode() == f"00-{TRACE}-{job['id'][-16:]}-01\n"
    assert job["traceparent"] == PARENT


def test_a_script_without_a_trace_has_no_variable(site: Site) -> None:
    job = site.run(SCRIPT)
    assert site.world.log(job["id"]) == b"none\n"
