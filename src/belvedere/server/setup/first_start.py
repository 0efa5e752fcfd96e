"""The first start: an organization, its owner, a token if one was given. Told once."""

import secrets
from dataclasses import dataclass

from belvedere.access.credentials import tokens
from belvedere.access.crypto import password_hash as passwords
from belvedere.access.customers import service
from belvedere.access.customers.service import NewCustomer
from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.events import Event
from belvedere.server import demo
from belvedere.server.runtime import ServerRuntime


@dataclass(frozen=True, slots=True)
class Welcome:
    """What a person must know to sign in; the password is nowhere else."""

    customer: str
    email: str
    # None: it was given by the environment, so nobody needs to be told.
    password: str | None


def is_empty(tx: Tx) -> bool:
    return tx.row("select 1 from customers limit 1") is None


def set_up(runtime: ServerRuntime) -> Welcome | None:
    """Make the first organization when there is none; None when there is one already."""
    if not runtime.db.write_blocking(is_empty):
        return None
    settings = runtime.settings
    given = settings.admin_password
    if given:
        passwords.check(given, (settings.admin_email, settings.customer))
    password = given or secrets.token_urlsafe(15)
    try:
        runtime.db.write_blocking(
            found, runtime, settings.customer, settings.admin_email, passwords.digest(password)
        )
    except Conflict:
        # Another server of the same database was faster.
        return None
    return Welcome(settings.customer, settings.admin_email, None if given else password)


def found(tx: Tx, runtime: ServerRuntime, name: str, email: str, password_hash: str) -> NewCustomer:
    """The first organization and its owner, with whatever the settings want there."""
    settings = runtime.settings
    made = service.create_customer(
        tx,
        runtime.keyring,
        name,
        email,
        reserved=runtime.table.reserved,
        password_hash=password_hash,
    )
    if settings.demo:
        tx.execute("insert into meta (name, value) values ('demo', ?)", made.customer.id)
    if settings.access_token:
        actor = service.operator(made.customer)
        tokens.adopt_token(tx, runtime.keyring, actor, "set-up", settings.access_token)
    return made


def show_demo(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    """The first host of the new organization gets the samples, once."""
    wanted = tx.value("select value from meta where name = 'demo'")
    if wanted is None or wanted != event.customer_id:
        return
    demo.make(tx, runtime, service.operator(service.find(tx, wanted)), event.object_id)
    tx.execute("delete from meta where name = 'demo'")
