"""The logo of a status page."""

import base64
import binascii
import hashlib

import msgspec

from belvedere.access import Actor, Level, audit, require
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.rest import text_fields
from belvedere.rest.bodies import images
from belvedere.statuspages import service

MAX_LOGO = 128 * 1024


class LogoBody(msgspec.Struct, forbid_unknown_fields=True):
    """`content`: a PNG, JPEG or WebP image in base64."""

    content: str


class Logo(msgspec.Struct):
    media_type: str
    sha256: str
    content: str


class LogoRecord(msgspec.Struct):
    """`sha256` is empty if the page has no logo."""

    media_type: str
    sha256: str


def put(tx: Tx, actor: Actor, page_id: str, body: LogoBody) -> LogoRecord:
    require(actor, Level.ADMIN)
    page = service.show(tx, actor, page_id, lock=True)
    logo = checked(body)
    tx.execute("delete from statuspage_logos where statuspage_id = ?", page.id)
    tx.execute(
        "insert into statuspage_logos (statuspage_id, customer_id, media_type, sha256, content)"
        " values (?, ?, ?, ?, ?)",
        *(page.id, page.customer_id, *msgspec.structs.astuple(logo)),
    )
    after = {"media_type": logo.media_type, "sha256": logo.sha256}
    audit.record(tx, actor, "statuspage.logo_set", "statuspage", page.id, None, after)
    return LogoRecord(logo.media_type, logo.sha256)


def delete(tx: Tx, actor: Actor, page_id: str) -> LogoRecord:
    require(actor, Level.ADMIN)
    page = service.show(tx, actor, page_id, lock=True)
    tx.execute("delete from statuspage_logos where statuspage_id = ?", page.id)
    audit.record(tx, actor, "statuspage.logo_delete", "statuspage", page.id, None, None)
    return LogoRecord("", "")


def public_logo(tx: Tx, slug: str) -> Logo:
    page = service.public_row(tx, slug)
    sql = "select media_type, sha256, content from statuspage_logos where statuspage_id = ?"
    logo = tx.one(Logo, sql, page.id)
    if logo is None:
        raise NotFound("This page has no logo.", code="logo_not_found")
    return logo


def digest(tx: Tx, page_id: str) -> str:
    """The digest of the page's logo; empty if it has none."""
    value = tx.value("select sha256 from statuspage_logos where statuspage_id = ?", page_id)
    return str(value or "")


def checked(body: LogoBody) -> Logo:
    try:
        content = base64.b64decode(body.content, validate=True)
    except (binascii.Error, ValueError):
        raise text_fields.invalid_field("content", "This is not base64.") from None
    if len(content) > MAX_LOGO:
        message = f"The image has {len(content):,} bytes; at most {MAX_LOGO:,} are allowed."
        raise text_fields.invalid_field("content", message)
    try:
        kind = images.media_type(content)
    except images.NotAnImage as fault:
        raise text_fields.invalid_field("content", str(fault)) from None
    text = base64.b64encode(content).decode()
    return Logo(kind, hashlib.sha256(content).hexdigest(), text)
