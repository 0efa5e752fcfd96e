"""How the cards of a page are arranged: by each person, and by a manager for everyone else."""

import re
from typing import Literal

import msgspec

from belvedere.access import Actor, Level, audit, require, require_person
from belvedere.db import Tx
from belvedere.rest import text_fields

DASHBOARD = "dashboard"
MAX_CARDS = 30
_CARD = re.compile(r"[a-z][a-z0-9-]{0,31}")
# The user id of the layout for everyone else.
SHARED = ""


class LayoutCard(msgspec.Struct, forbid_unknown_fields=True):
    """One card: its name, its width, and whether it is hidden."""

    card: str
    size: Literal["half", "full"] = "half"
    hidden: bool = False


class LayoutBody(msgspec.Struct, forbid_unknown_fields=True):
    """The cards in their order. `shared`: for everyone who has no layout of their own."""

    cards: list[LayoutCard]
    shared: bool = False


class LayoutRecord(msgspec.Struct):
    """The caller's layout and the shared one; null if there is none."""

    page: str
    own: list[LayoutCard] | None
    shared: list[LayoutCard] | None


_decode = msgspec.json.Decoder(list[LayoutCard]).decode


def show(tx: Tx, actor: Actor, page: str) -> LayoutRecord:
    require_person(actor)
    rows = tx.rows(
        "select user_id, cards from layouts where customer_id = ? and user_id in (?, ?)"
        " and page = ?",
        *(actor.customer_id, actor.user_id, SHARED, page),
    )
    cards = {user_id: _decode(text) for user_id, text in rows}
    return LayoutRecord(page, cards.get(actor.user_id), cards.get(SHARED))


def save(tx: Tx, actor: Actor, page: str, body: LayoutBody) -> LayoutRecord:
    before = show(tx, actor, page)
    _check_cards(body.cards)
    user_id = _owner(actor, shared=body.shared)
    tx.execute(
        "insert into layouts (customer_id, user_id, page, cards, updated_at) values (?, ?, ?, ?, ?)"
        " on conflict (customer_id, user_id, page) do update set cards = excluded.cards,"
        " updated_at = excluded.updated_at",
        *(actor.customer_id, user_id, page, msgspec.json.encode(body.cards).decode(), tx.now),
    )
    return _record_change(tx, actor, before, shared=body.shared)


def delete(tx: Tx, actor: Actor, page: str, *, shared: bool) -> LayoutRecord:
    before = show(tx, actor, page)
    tx.execute(
        "delete from layouts where customer_id = ? and user_id = ? and page = ?",
        *(actor.customer_id, _owner(actor, shared=shared), page),
    )
    return _record_change(tx, actor, before, shared=shared)


def move(tx: Tx, customer_id: str, former_id: str, user_id: str) -> None:
    """The layouts of one account in this organization belong to another one now, which keeps its
    own where it has one."""
    tx.execute(
        "delete from layouts where customer_id = ? and user_id = ? and page in"
        " (select page from layouts where customer_id = ? and user_id = ?)",
        *(customer_id, former_id, customer_id, user_id),
    )
    tx.execute(
        "update layouts set user_id = ? where user_id = ? and customer_id = ?",
        *(user_id, former_id, customer_id),
    )


def _owner(actor: Actor, *, shared: bool) -> str:
    if shared:
        require(actor, Level.MANAGER)
    return SHARED if shared else actor.user_id


def _record_change(tx: Tx, actor: Actor, before: LayoutRecord, *, shared: bool) -> LayoutRecord:
    """Only the shared layout changes what others see."""
    after = show(tx, actor, before.page)
    if shared:
        changes = [
            None if cards is None else {"cards": msgspec.to_builtins(cards)}
            for cards in (before.shared, after.shared)
        ]
        audit.record(tx, actor, "layout.change", "layout", before.page, *changes)
    return after


def _check_cards(cards: list[LayoutCard]) -> None:
    names = [card.card for card in cards]
    if len(names) > MAX_CARDS:
        raise text_fields.invalid_field("cards", f"At most {MAX_CARDS} cards are allowed.")
    if len(set(names)) < len(names):
        raise text_fields.invalid_field("cards", "Every card may be listed only once.")
    for name in names:
        if not _CARD.fullmatch(name):
            raise text_fields.invalid_field("cards", f"{name[:40]!r} is not the name of a card.")
