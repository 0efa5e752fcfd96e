"""The first start: creates an organization, its owner, and a token if one is configured."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from belvedere.access.credentials import tokens
from belvedere.access.crypto import password_hash as passwords
from belvedere.access.customers import service
from belvedere.access.customers.service import NewCustomer
from belvedere.base.errors import Conflict
from belvedere.db import Tx, installation
from belvedere.events import Event
from belvedere.server import demo
from belvedere.server.runtime import ServerRuntime

# The organization that gets the demo with its first host.
_DEMO = "demo"


@dataclass(frozen=True, slots=True)
class FirstLogin:
    """What a person needs to sign in; the password is stored nowhere else."""

    customer: str
    email: str
    # None: it comes from the environment, so it is not printed.
    password: str | None


def is_empty(tx: Tx) -> bool:
    return tx.row("select 1 from customers limit 1") is None


def set_up(runtime: ServerRuntime) -> FirstLogin | None:
    """Create the first organization; None if there is one already."""
    if not runtime.db.write_blocking(is_empty):
        return None
    settings = runtime.settings
    preset = settings.admin_password
    if preset:
        passwords.check(preset, (settings.admin_email, settings.customer))
    password = preset or secrets.token_urlsafe(15)
    try:
        runtime.db.write_blocking(
            create_first,
            runtime,
            settings.customer,
            settings.admin_email,
            passwords.digest(password),
        )
    except Conflict:
        # Another server on the same database was faster.
        return None
    return FirstLogin(settings.customer, settings.admin_email, None if preset else password)


def create_first(
    tx: Tx, runtime: ServerRuntime, name: str, email: str, password_hash: str
) -> NewCustomer:
    """Create the first organization and its owner, with the demo and token of the settings."""
    settings = runtime.settings
    created = service.create_customer(
        tx,
        runtime.keyring,
        name,
        email,
        reserved=runtime.router.reserved,
        password_hash=password_hash,
    )
    if settings.demo:
        installation.write(tx, _DEMO, created.customer.id)
    if settings.access_token:
        actor = service.operator(created.customer)
        tokens.adopt_token(tx, runtime.keyring, actor, "set-up", settings.access_token)
    return created


def show_demo_to_first(tx: Tx, runtime: ServerRuntime, batch: Sequence[Event]) -> None:
    """The same for hosts that connected together."""
    if installation.read(tx, _DEMO) is not None:
        for event in batch:
            show_demo(tx, runtime, event)


def show_demo(tx: Tx, runtime: ServerRuntime, event: Event) -> None:
    """Create the demo on the first host of the new organization, once."""
    customer_id = installation.read(tx, _DEMO)
    if customer_id is None or customer_id != event.customer_id:
        return
    demo.create_demo(tx, runtime, service.operator(service.find(tx, customer_id)), event.object_id)
    installation.delete(tx, _DEMO)
