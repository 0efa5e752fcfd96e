"""One record of every kind in both organizations, and valid credentials for them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from belvedere import hosts
from belvedere.access import Actor, Keyring, Level, operator
from belvedere.access.credentials import enrolment, secret_keys, tokens
from belvedere.access.crypto import totp
from belvedere.access.customers import invitations, member_changes, password_recovery, service
from belvedere.access.signin import login_tickets, second_factors
from belvedere.db import Tx
from belvedere.definitions import host_groups
from belvedere.definitions import service as definitions
from belvedere.definitions.service import DefinitionBody
from belvedere.egress.messages import EgressResult
from belvedere.indicators import public_links
from belvedere.indicators import service as indicators
from belvedere.indicators.bodies import IndicatorBody
from belvedere.jobs.approvals import links
from belvedere.jobs.lifecycle import claim
from belvedere.jobs.lifecycle.create import JobRequest, create
from belvedere.jobs.queries import result_form
from belvedere.monitors import service as monitors
from belvedere.monitors import trials
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.notifications import service as notify
from belvedere.notifications.bodies import ChannelBody, RuleBody
from belvedere.notifications.delivery import outbox
from belvedere.providers import service as providers
from belvedere.providers.model import Endpoints, ProviderBody
from belvedere.schedules import service as schedules
from belvedere.schedules.bodies import ScheduleBody
from belvedere.secrets import service as secrets
from belvedere.secrets.service import SecretBody
from belvedere.server.runtime import ServerRuntime
from belvedere.statuspages import logo, posts, subscribers
from belvedere.statuspages import service as statuspages
from belvedere.statuspages.logo import LogoBody
from belvedere.statuspages.model import Part, StatusPageBody
from belvedere.statuspages.posts import PostBody
from belvedere.webhooks import service as webhooks
from belvedere.webhooks.deliveries import receive
from belvedere.webhooks.deliveries.receive import Call
from belvedere.webhooks.model import CallAuthorization
from belvedere.webhooks.service import WebhookBody
from belvedere.workflow_specs.model import Graph, Node
from belvedere.workflows import service as workflows
from belvedere.workflows import start
from belvedere.workflows.bodies import WorkflowBody
from belvedere.workflows.schedule_targets import TARGETS
from belvedere.workflows.start import WorkflowJobRequest
from contract.fakeagent import hello
from contract.world import InitialObjects, make_task
from egress.fake_pool import FakeEgressPool
from people import Actors

WHO = {
    "viewer": "vic",
    "user": "uma",
    "manager": "max",
    "admin": "ada",
    "owner": "olga",
    "admin of another organization": "eve",
}
EVERYBODY = ["vic", "uma", "max"]


@dataclass
class OrganizationIds:
    """An organization: its name, its host, and the id of one record of each kind."""

    name: str
    by: Actor
    host: str
    acl: list[str]
    ids: dict[str, str] = field(default_factory=dict)
    # What paths contain besides ids: secrets, titles, tokens of links.
    texts: dict[str, str] = field(default_factory=dict)


@dataclass
class AllKinds:
    acme: OrganizationIds
    globex: OrganizationIds
    # Credentials, by the name of the principal.
    tokens: dict[str, str]
    texts: dict[str, str]


def settle(
    tx: Tx, runtime: ServerRuntime, actors: Actors, initial_objects: InitialObjects
) -> AllKinds:
    keys, ada = runtime.keyring, actors.ada
    acme = OrganizationIds("acme", ada, "web-1", EVERYBODY, {"member": actors.vic.member_id})
    # Below Eve, who may not give a new credential to an equal.
    gil = member_changes.add_member(tx, operator(actors.globex), "gil@globex.test", Level.VIEWER)
    globex = OrganizationIds("globex", actors.eve, "box-1", [], {"member": gil.id})
    for place in (acme, globex):
        place.texts["hostname"] = place.host
        place.ids |= {
            "customer": place.by.customer_id,
            "host": initial_objects.hosts[place.host].host_id,
        }
        for make in MAKERS:
            make(tx, runtime, place)
    return AllKinds(
        acme,
        globex,
        tokens={
            **{name: actors.tokens[who] for name, who in WHO.items()},
            **_dead_tokens(tx, runtime, ada),
            "anonymous": "",
            "integration token": initial_objects.integration["acme"],
            "agent": initial_objects.hosts["web-1"].token,
            "agent of another host": initial_objects.hosts["web-2"].token,
        },
        texts={
            "reset": password_recovery.issue_link(tx, keys, actors.olga, actors.vic.member_id)[1],
            "invitation": invitations.invite(
                tx, keys, ada, "new@acme.test", "", Level.VIEWER, []
            ).token,
            "enrolment": enrolment.create_enrolment(tx, keys, ada)[1],
            "member": actors.uma.member_id,
            **_half_signed_in(tx, keys, actors),
        },
    )


def _half_signed_in(tx: Tx, keys: Keyring, actors: Actors) -> dict[str, str]:
    """A member who still has to enter the code, with the code; and Uma, who has no app yet."""
    tom = member_changes.add_member(
        tx, operator(actors.acme), "tom@acme.test", Level.VIEWER
    ).user_id
    secret, step = second_factors.begin(tx, keys, tom), tx.now // totp.STEP
    second_factors.confirm(tx, keys, tom, totp.code_at(secret, step))
    return {
        "ticket": login_tickets.create(tx, keys, tom, actors.acme.id, login_tickets.TOTP),
        "code": totp.code_at(secret, step + 1),
        "setup": login_tickets.create(
            tx, keys, actors.uma.user_id, actors.acme.id, login_tickets.SETUP
        ),
    }


def _dead_tokens(tx: Tx, runtime: ServerRuntime, by: Actor) -> dict[str, str]:
    expired, expired_text = tokens.create_token(tx, runtime.keyring, by, "expired", 1)
    tx.execute("update tokens set expires_at = ? where id = ?", tx.now - 1, expired.id)
    revoked, revoked_text = tokens.create_token(tx, runtime.keyring, by, "revoked")
    tokens.revoke(tx, by, revoked.id)
    return {
        "bad token": "bvt_" + "x" * 43,
        "expired token": expired_text,
        "revoked token": revoked_text,
    }


def _running_task(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    """A task with its file, its secret, and a job that its agent has."""
    fields: dict[str, Any] = {
        "name": f"secret of {place.host}",
        "type": "script",
        "hostname": place.host,
        "script": {"filename": f"secret-of-{place.host}.sh", "source": "#!/bin/sh\n"},
        "acl": place.acl,
    }
    task_id = make_task(tx, runtime.keyring, place.by, fields)
    session = hosts.connect(tx, place.ids["host"], hello(place.host), "192.0.2.7")
    (created_job,) = create(tx, [JobRequest(place.by, task_id, [])])
    assert not isinstance(created_job, Exception)
    assert len(claim.claim(tx, place.ids["host"], session)) == 1
    place.ids |= {
        "task": task_id,
        "job": created_job.job.id,
        "file": created_job.job.script_id or "",
    }
    place.texts["secret"] = secret_keys.reveal(tx, runtime.keyring, place.by, "task", task_id)
    place.texts["job_secret"] = result_form.job_secret(runtime.keyring, created_job.job.id)


def _tokens(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    place.ids["token"] = tokens.create_token(tx, runtime.keyring, place.by, "theirs")[0].id
    place.ids["enrolment"] = enrolment.create_enrolment(tx, runtime.keyring, place.by)[0].id


def _indicator(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    title = f"secret of {place.host}"
    body = IndicatorBody(title=title, type="counter", acl=place.acl, read_only=False)
    object_id = indicators.create(tx, place.by, body).row.id
    place.ids["indicator"], place.texts["title"] = object_id, title.replace(" ", "%20")
    place.texts["token"] = public_links.publish(tx, runtime.keyring, place.by, object_id)[1]


def _monitor(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    """A push monitor with the same secret as the task."""
    body = MonitorBody(name=f"secret of {place.host}", type="push", acl=place.acl)
    object_id = monitors.create(tx, runtime.keyring, place.by, body, None)[0].id
    digest = runtime.keyring.digest(place.texts["secret"])
    tx.execute("update secret_keys set digest = ? where object_id = ?", digest, object_id)
    place.ids["monitor"] = object_id
    watched = MonitorBody(
        name=f"secret of {place.host}", type="dstat", host_id=place.ids["host"], acl=place.acl
    )
    place.ids["resource"] = monitors.create(tx, runtime.keyring, place.by, watched, None)[0].id
    of = MonitorBody(
        name=f"secret of {place.host}", type="nested", monitors=[object_id], acl=place.acl
    )
    place.ids["nested"] = monitors.create(tx, runtime.keyring, place.by, of, None)[0].id
    trial = MonitorBody(type="dstat", host_id=place.ids["host"])
    place.ids["trial"] = trials.create(tx, place.by, trial, None).id


def _webhook(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    """With a delivery in its inbox; it has the same secret as the task."""
    body = WebhookBody(name=f"secret of {place.host}")
    object_id = webhooks.create(tx, runtime.keyring, place.by, body).row.id
    digest = runtime.keyring.digest(place.texts["secret"])
    tx.execute("update secret_keys set digest = ? where object_id = ?", digest, object_id)
    call = Call(
        place.by, object_id, CallAuthorization.TOKEN, runtime.keyring, b"[]", "", {}, "{}", []
    )
    (answered,) = receive.trigger(tx, [call])
    assert not isinstance(answered, Exception)
    place.ids["webhook"] = object_id
    place.ids["delivery"] = tx.value("select id from deliveries where webhook_id = ?", object_id)


def _schedule(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    body = ScheduleBody(name=f"secret of {place.host}", repeatEvery="0 5 * * *")
    task_id, targets = place.ids["task"], TARGETS
    schedule = schedules.create(tx, targets, place.by, "task", task_id, body)
    place.ids["schedule"] = schedule.row.id


def _workflow(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    """With a failed job; it has the same secret as the task."""
    node = Node("a", place.ids["task"])
    name = f"secret of {place.host}"
    body = WorkflowBody(name=name, graph=Graph([node]), acl=place.acl)
    object_id = workflows.create(tx, runtime.keyring, place.by, body).row.id
    digest = runtime.keyring.digest(place.texts["secret"])
    tx.execute("update secret_keys set digest = ? where object_id = ?", digest, object_id)
    (prepared_workflow_job,) = start.run(tx, [WorkflowJobRequest(place.by, object_id, [])])
    assert not isinstance(prepared_workflow_job, Exception)
    place.ids |= {"workflows": object_id, "workflow_job": prepared_workflow_job.job.id}


def _approval(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    """A job that waits, and the link with which its approver approves it."""
    fields = {"name": "ask", "type": "approval", "approvers": [place.by.email]}
    task_id = make_task(tx, runtime.keyring, place.by, fields)
    (created_job,) = create(tx, [JobRequest(place.by, task_id, [])])
    assert not isinstance(created_job, Exception)
    record = links.create_links(tx, runtime.keyring, created_job.job, place.by.user_id)
    place.texts["link"] = record["approve"]


def _notify(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    """A channel with a dead message, a rule, and a notification in every inbox."""
    # Nothing leaves the machine.
    runtime.egress = FakeEgressPool()
    name = f"secret of {place.host}"
    body = ChannelBody(name=name, url="https://example.com/hook")
    checked = EgressResult(service="Webhook", scheme="https")
    channel = notify.create_channel(tx, runtime.keyring, place.by, body, checked).id
    rule = RuleBody(name=name, channels=[channel])
    place.ids |= {"channel": channel, "rule": notify.create_rule(tx, place.by, rule).id}
    message = notify.begin_test(tx, place.by, channel)
    outbox.complete(tx, message, EgressResult("no", for_good=True), 0.0)
    place.ids["message"] = message.id
    # Like a session it belongs to a person, so it has the same id.
    tx.execute(
        "insert into notifications (id, customer_id, user_id, kind, object, object_id, severity,"
        " title, body, created_at) select id, customer_id, user_id, 'message.dead', 'message', ?,"
        " 'LOW', ?, '', created_at from sessions where customer_id = ?",
        message.id,
        name,
        place.by.customer_id,
    )


# A PNG of one pixel.
LOGO = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def _statuspage(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    part = Part(name="shop", monitor_id=place.ids["monitor"])
    body = StatusPageBody(title="Shop", slug=f"page-of-{place.name}", parts=[part])
    status_page = statuspages.create(tx, place.by, body)
    place.ids["statuspage"], place.texts["slug"] = status_page.id, status_page.slug
    text = PostBody(title=f"secret of {place.host}", text="new")
    place.ids["incident"] = posts.post(tx, place.by, status_page.id, text).id
    logo.put(tx, place.by, status_page.id, LogoBody(LOGO))
    keys, url = runtime.keyring, runtime.settings.base_url
    subscribers.subscribe(tx, keys, url, status_page.slug, f"reader@{place.name}.test")
    (row,) = subscribers.list_subscribers(tx, place.by, status_page.id)
    place.ids["subscriber"] = row.id
    for word, action in (("subscriber", "confirm"), ("unsubscriber", "unsubscribe")):
        link = subscribers.link_for(keys, url, status_page.slug, row.id, action)
        place.texts[word] = link.partition("=")[2]


def _views(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    """Everybody's own session, by its id, too."""
    tx.execute(
        "insert into views (id, customer_id, user_id, name, page, query, shared, version,"
        " created_at, updated_at) select id, customer_id, user_id, ?, 'jobs', '', 0, 1, created_at,"
        " created_at from sessions where customer_id = ?",
        *(f"secret of {place.host}", place.by.customer_id),
    )


def _provider(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    at = f"https://id.{place.name}.test"
    where = Endpoints(at, f"{at}/authorize", f"{at}/token", f"{at}/keys")
    body = ProviderBody(name=f"secret of {place.host}", issuer=at, client_id="belvedere")
    by = operator(service.find(tx, place.by.customer_id))
    place.ids["provider"] = providers.create(tx, runtime.keyring, by, body, where).id


def _secret(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    name = f"OF_{place.name.upper()}"
    secrets.put(tx, runtime.keyring, place.by, name, SecretBody(value="hush-hush"))
    place.texts["name"] = name


def _definition(tx: Tx, runtime: ServerRuntime, place: OrganizationIds) -> None:
    """For a tag that no host has."""
    body = DefinitionBody("monitor", "none", {"name": f"secret of {place.host}", "type": "dstat"})
    place.ids["definition"] = definitions.create(tx, runtime.keyring, place.by, body).row.id
    place.ids["hostgroup"] = host_groups.list_groups(tx, place.by)[0].id


# A feature adds the records that its routes name.
MAKERS: tuple[Callable[[Tx, ServerRuntime, OrganizationIds], None], ...] = (
    _running_task,
    _tokens,
    _indicator,
    _monitor,
    _webhook,
    _definition,
    _notify,
    _statuspage,
    _views,
    _workflow,
    _schedule,
    _secret,
    _provider,
    _approval,
)
