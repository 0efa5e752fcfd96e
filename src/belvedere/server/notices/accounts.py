"""Notices about a person's own account, in the inbox and by mail: sign-ins from new browsers or
networks, new passwords, second factors, tokens. They are built from events, so no sign-in waits for
them."""

from typing import Any, NamedTuple

from belvedere.access.people import memberships
from belvedere.base.clock import iso
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.events import Event
from belvedere.notifications.delivery import dispatcher, message_text
from belvedere.notifications.delivery.dispatcher import SealedMail
from belvedere.notifications.model import AddressedNotice, NoticeSeverity
from belvedere.server.notices.batch import NoticeBatch, make_notice
from belvedere.server.runtime import ServerRuntime


class Translations(NamedTuple):
    """A text in English and in Spanish."""

    en: str
    es: str


TITLES = {
    "member.new_sign_in": Translations(
        "New sign-in to your account", "Nuevo inicio de sesión en tu cuenta"
    ),
    "member.password_changed": Translations(
        "Your password was changed", "Se ha cambiado tu contraseña"
    ),
    "member.second_factor_on": Translations(
        "A second factor was set up for your account",
        "Se ha configurado un segundo factor en tu cuenta",
    ),
    "member.second_factor_off": Translations(
        "The second factor of your account was removed",
        "Se ha quitado el segundo factor de tu cuenta",
    ),
    "member.recovery_codes_renewed": Translations(
        "Your recovery codes were replaced", "Se han sustituido tus códigos de recuperación"
    ),
    "token.created": Translations(
        "An integration token was created with your account",
        "Se ha creado un token de integración con tu cuenta",
    ),
}
_MAIL = Translations(
    "{title}.\n\nOrganization: {customer}\nTime: {time}\n{details}\n"
    "If it was you, there is nothing to do. If not, change your password at {url}/ui/, end the"
    " other sessions there and inform an administrator.\n",
    "{title}.\n\nOrganización: {customer}\nHora: {time}\n{details}\n"
    "Si has sido tú, no tienes que hacer nada. Si no, cambia tu contraseña en {url}/ui/, termina"
    " allí las demás sesiones e informa a un administrador.\n",
)
_SIGN_IN = Translations(
    "Address: {address}\nBrowser or program: {agent}\n",
    "Dirección: {address}\nNavegador o programa: {agent}\n",
)
_TOKEN = Translations("Token: {name}\n", "Token: {name}\n")
UNKNOWN = "-"
MAX_AGENT = 250


class NoticeAccount(NamedTuple):
    user_id: str
    email: str


def account_notice(batch: NoticeBatch, event: Event, data: dict[str, Any]) -> AddressedNotice:
    """Only for the inbox of the person; for channels only where a rule names the kind."""
    account = _account(batch.tx, event)
    details = _details(batch.tx, event, data).en.replace("\n", "; ").strip("; ")
    return make_notice(
        batch,
        event,
        data,
        title=TITLES[event.kind].en,
        text=details,
        severity=NoticeSeverity.HIGH,
        people=() if account is None else (account.user_id,),
    )


def write_mail(tx: Tx, runtime: ServerRuntime, event: Event, data: dict[str, Any]) -> None:
    """In both languages, because the server does not know the person's."""
    account = _account(tx, event)
    if account is None:
        return
    details, titles = _details(tx, event, data), TITLES[event.kind]
    customer = tx.value("select name from customers where id = ?", event.customer_id)
    about = {"customer": customer, "time": iso(event.at), "url": runtime.settings.base_url}
    texts = [
        mail.format(title=title, details=detail, **about)
        for mail, title, detail in zip(_MAIL, titles, details, strict=True)
    ]
    letter = SealedMail(f"{titles.en} / {titles.es}", "\n---\n\n".join(texts))
    recipient = (event.customer_id, account.email)
    dispatcher.write_mail(tx, runtime.keyring, *recipient, letter, is_account=True)


def _account(tx: Tx, event: Event) -> NoticeAccount | None:
    """The account of the event, if the person is a member now."""
    if event.object == "token":
        sql = "select created_by from tokens where id = ?"
        user_id = tx.value(sql, event.object_id) or ""
        member = memberships.for_user(tx, event.customer_id, user_id)
    else:
        try:
            member = memberships.find(tx, event.customer_id, event.object_id)
        except NotFound:
            return None
    if member is None or not member.enabled or not member.user_enabled:
        return None
    return NoticeAccount(member.user_id, member.email)


def _details(tx: Tx, event: Event, data: dict[str, Any]) -> Translations:
    if event.kind == "token.created":
        name = str(data.get("name", UNKNOWN))
        return Translations(*(text.format(name=name) for text in _TOKEN))
    if event.kind != "member.new_sign_in":
        return Translations("", "")
    sql = "select address, agent from sessions where id = ?"
    address, agent = tx.row(sql, str(data.get("session_id", ""))) or (UNKNOWN, UNKNOWN)
    # This text comes from the client.
    program = message_text.one_line(agent, MAX_AGENT) or UNKNOWN
    return Translations(*(text.format(address=address, agent=program) for text in _SIGN_IN))
