"""Valid requests: for every route a path and a body that it accepts."""

import re
from typing import Any

from belvedere.access import Actor
from belvedere.rest.route import Route
from contract.fixtures_all_kinds import LOGO, WHO, AllKinds, OrganizationIds
from contract.matrix import PathOwner, Principal
from people import PASSWORD, Actors

# The artifact of the job of each organization.
FILE = "report.txt"
MISSING, MALFORMED = "0" * 24, "z" * 24


def noun(route: Route) -> str:
    """The kind of record that the id in the path belongs to."""
    before = route.path.partition("/{id}")[0].split("/")[-1]
    return {"script": "file", "scheduler": "schedule", "oidc": "provider"}.get(before, before)


def home(fixtures: AllKinds, principal: Principal) -> tuple[OrganizationIds, OrganizationIds]:
    """The organization of the principal, and the other one."""
    if principal.name.endswith("organization"):
        return fixtures.globex, fixtures.acme
    return fixtures.acme, fixtures.globex


def address(
    route: Route,
    fixtures: AllKinds,
    actors: Actors,
    principal: Principal,
    which: PathOwner,
    *,
    v1: bool,
) -> str:
    """The path, and the required query."""
    here, there = home(fixtures, principal)
    other_actor = actors.ada if here is fixtures.globex else actors.eve
    # Sessions are the only objects that belong to a person, not to the organization.
    actor: Actor = getattr(actors, WHO.get(principal.name, "ada"))

    def id_of(name: str) -> str:
        return {
            PathOwner.OWN: here.ids.get(name, actor.credential_id),
            PathOwner.OTHER: there.ids.get(name, other_actor.credential_id),
            PathOwner.MISSING: MISSING,
            PathOwner.MALFORMED: MALFORMED,
        }[which]

    text = id_of("task" if route.path == "/job/secret/{secret}" else noun(route))
    secret = here.texts["job_secret" if route.path.endswith("/result") else "secret"]
    path = route.path.replace("{id}", text).replace("{secret}", secret)
    path = re.sub(r"\{(\w+)_id\}", lambda inner: id_of(inner[1]), path)
    path = path.replace("{filename}", FILE)
    for word in ("title", "token", "hostname", "link", "slug"):
        texts = {PathOwner.OWN: here.texts[word], PathOwner.OTHER: there.texts[word]}
        path = path.replace(f"{{{word}}}", texts.get(which, MISSING))
    named = {PathOwner.OWN: here.texts["name"], PathOwner.OTHER: there.texts["name"]}
    path = path.replace("{name}", named.get(which, "NOBODY"))
    if v1:
        path = f"/{here.name}{path}"
    if route.needs_customer or "{secret}" in route.path:
        return f"{path}?customer={here.name}&task={text}"
    if f"{route.method} {route.path}" == "DELETE /hostgroup/{id}":
        return f"{path}?deleteInstances=true"
    return f"{path}?q=x" if path.endswith("/search") else path


def bodies(fixtures: AllKinds, here: OrganizationIds) -> dict[str, Any]:
    """For every route with a body, one that it accepts."""
    login = {"email": "uma@acme.test", "password": PASSWORD}
    file = {"filename": "a.sh", "source": "x"}
    acl = {"users": ["uma"], "action": "add"}
    flow = {"name": "new", "graph": {"nodes": [{"id": "a", "task_id": here.ids["task"]}]}}
    return {
        "POST /api/auth/login": login,
        "POST /api/auth/login/local": login,
        "POST /api/auth/login/second-factor": {
            "ticket": fixtures.texts["ticket"],
            "code": fixtures.texts["code"],
        },
        "POST /api/auth/login/second-factor/setup": {"ticket": fixtures.texts["setup"]},
        "POST /api/auth/second-factor": {"password": PASSWORD},
        "PUT /api/auth/second-factor": {"code": "000000"},
        "POST /api/auth/second-factor/recovery-codes": {"password": PASSWORD},
        "POST /api/auth/second-factor/disable": {"password": PASSWORD},
        "POST /api/auth/password/recover": {"email": "uma@acme.test"},
        "PUT /api/auth/password/reset": {"token": fixtures.texts["reset"], "password": PASSWORD},
        "POST /api/auth/password/change": {"current": PASSWORD, "password": PASSWORD},
        "POST /api/auth/link": {"token": fixtures.texts["invitation"]},
        "POST /api/auth/invitation": {"token": fixtures.texts["invitation"], "password": PASSWORD},
        "POST /api/session/invitation": {"id": fixtures.texts["member"]},
        "PUT /api/first-steps": {"visible": False},
        "PUT /api/session/preferences": {"settings": {"theme": "dark"}},
        "POST /api/member": {"user": {"email": "another@elsewhere.test"}},
        "PATCH /api/member/{id}": {"tags": ["team:blue"]},
        "POST /api/token": {"name": "new"},
        "POST /api/enrolment": {},
        "PUT /api/customer": {"name": "renamed"},
        "PUT /api/customer/owner": {"member_id": fixtures.texts["member"]},
        "POST /api/provider": {
            "name": "new",
            "issuer": "https://id.example.com",
            "client_id": "belvedere",
        },
        "PATCH /api/provider/{id}": {"name": "new"},
        "POST /-/setup": {
            "code": "x",
            "organization": "new",
            "email": "new@new.test",
            "password": PASSWORD,
        },
        "POST /-/enrol": {
            "token": fixtures.texts["enrolment"],
            "hostname": "new-1",
            "fingerprint": "machine-of-new-1",
        },
        "PATCH /host/{id}": {"tags": ["blue"]},
        "POST /host/{id}/enrolment": {},
        "POST /host": {"hostname": here.host},
        "POST /host/{hostname}": {},
        "POST /definition": {
            "kind": "monitor",
            "host_tag": "web",
            "definition": {"name": "new", "type": "dstat"},
        },
        "PUT /definition/{id}": {
            "kind": "monitor",
            "host_tag": "web",
            "definition": {"name": "new", "type": "dstat"},
        },
        "POST /hostgroup": {"name": "new", "resources": [{"name": "new", "type": "dstat"}]},
        "PUT /hostgroup/{id}": {"name": "none", "resources": [{"name": "new", "type": "dstat"}]},
        "POST /exec": {"command": ["uptime"], "hosts": [here.host]},
        "POST /dstat/{hostname}": {"dstat": {"cpu_used": 1}},
        "POST /psaux/{hostname}": {"psaux": []},
        "POST /file": file,
        "PUT /file/{id}": file,
        "PUT /file/{id}/schema": {"type": "object"},
        "PUT /file/{id}/upload": {"source": "y"},
        "POST /script/check": {"source": "", "filename": "a.txt"},
        "POST /task": {"name": "new", "type": "dummy"},
        "PUT /task/{id}": {"name": "new"},
        "PATCH /task/{id}": {"description": "new"},
        "PUT /api/task/{id}/timeout": {"timeout": 5_000},
        "POST /task/{id}/credentials/rotate": {},
        "PUT /task/{id}/acl": acl,
        "PATCH /task/{id}/acl": acl,
        "POST /job": {"task": here.ids["task"]},
        "POST /task/{id}/job": {},
        "POST /job/secret/{secret}": {},
        "POST /statuspage": {"title": "new"},
        "PATCH /statuspage/{id}": {"title": "new"},
        "POST /statuspage/{id}/incident": {"title": "new", "text": "new"},
        "POST /statuspage/{id}/incident/{incident_id}/update": {"text": "new"},
        "PUT /statuspage/{id}/logo": {"content": LOGO},
        "POST /-/status/{slug}/subscriber": {"email": "new@example.com"},
        "POST /-/status/{slug}/subscriber/confirm": {"token": here.texts["subscriber"]},
        "POST /-/status/{slug}/subscriber/unsubscribe": {"token": here.texts["unsubscriber"]},
        "POST /view": {"name": "new", "page": "jobs"},
        "PATCH /view/{id}": {"name": "new"},
        "PUT /view/layout/dashboard": {"cards": [{"card": "jobs"}]},
        "POST /job/cancel": {"ids": [here.ids["job"]]},
        "POST /task/{id}/secret/{secret}/job": {},
        "PUT /job/{id}/input": {"args": []},
        "PUT /job/{id}/resolve": {"outcome": "success"},
        "PUT /job/{id}/restart": {},
        "PUT /workflows/{id}/job/{workflow_job_id}/restart": {},
        "PUT /job/{id}/assignee": [here.ids["member"]],
        "PUT /job/{id}/acl": [here.ids["member"]],
        "PUT /job/{id}": {"result": {"state": "success", "data": {"code": 0}}},
        "POST /indicator": {"title": "new", "type": "text", "value": "x"},
        "PUT /indicator/{id}": {"type": "counter", "value": 5},
        "PATCH /indicator/{id}": {"value": 5},
        "PATCH /indicator/{id}/state": {"state": "failure"},
        "PUT /indicator/title/{title}": {"type": "counter", "value": 5},
        "PATCH /indicator/title/{title}": {"value": 5},
        "PUT /indicator/{id}/acl": acl,
        "PATCH /indicator/{id}/acl": acl,
        "POST /monitor": {"name": "new", "type": "push"},
        "POST /monitor/trial": {"type": "dstat", "host_id": here.ids["host"]},
        "POST /monitor/nested": {"name": "new", "monitors": [here.ids["monitor"]]},
        "PUT /monitor/nested/{id}": {"name": "new", "monitors": [here.ids["monitor"]]},
        "PATCH /resource/{id}/state": {"state": "success"},
        "PUT /resource/{id}": {"state": "success"},
        "PUT /monitor/{id}": {"name": "new"},
        "PATCH /monitor/{id}": {"description": "new"},
        "PATCH /monitor/{id}/alerts": {"alerts": False},
        "PUT /monitor/{id}/pause": {},
        "PUT /monitor/{id}/mute": {},
        "POST /monitor/{id}/credentials/rotate": {},
        "POST /monitor/{id}/push/{secret}": {},
        "PUT /monitor/{id}/acl": acl,
        "PATCH /monitor/{id}/acl": acl,
        "POST /workflows": flow,
        "POST /workflows/import": {"task": {"name": "new", "type": "dummy"}},
        "POST /task/import": {"task": {"name": "new", "type": "dummy"}},
        "PUT /workflows/{id}": flow,
        "PATCH /workflows/{id}": {"description": "new"},
        "POST /workflows/{id}/credentials/rotate": {},
        "PUT /workflows/{id}/acl": acl,
        "PATCH /workflows/{id}/acl": acl,
        "POST /workflows/{id}/job": {},
        "PUT /workflows/{id}/job/{workflow_job_id}/acl": [here.ids["member"]],
        "POST /workflows/{id}/schedule": {"repeatEvery": "0 5 * * *"},
        "POST /workflows/{id}/secret/{secret}/job": {},
        "POST /notify/channel": {"name": "new", "url": "https://example.com"},
        "PATCH /notify/channel/{id}": {"name": "new"},
        "POST /notify/rule": {"name": "new", "channels": [here.ids["channel"]]},
        "PATCH /notify/rule/{id}": {"name": "new"},
        "PUT /notification/preferences": {"muted": ["job.finished"]},
        "POST /webhook": {"name": "new"},
        "PUT /webhook/{id}": {"name": "new"},
        "PATCH /webhook/{id}": {"enable": False},
        "POST /webhook/{id}/credentials/rotate": {},
        "POST /task/{id}/schedule": {"repeatEvery": "0 5 * * *"},
        "PATCH /schedule/{id}": {"timezone": "Europe/Berlin"},
        "PUT /schedule/{id}/pause": {},
        "POST /schedule/preview": {"repeatEvery": "0 5 * * *"},
        "PUT /scheduler/{id}/start": {},
        "PUT /secret/{name}": {"value": "hush-hush"},
        "POST /webhook/{id}/trigger": ["x"],
        "POST /webhook/{id}/trigger/secret/{secret}": ["x"],
        "POST /webhook/{id}/trigger/signed": ["x"],
    }
