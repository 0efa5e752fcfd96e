"""Webhooks and their deliveries."""

from enum import StrEnum

import msgspec

from belvedere.base.clock import Millis


class Signature(StrEnum):
    """How a sender proves that it sent the body."""

    NONE = "none"
    HMAC = "hmac-sha256"
    GITHUB = "github"
    # GitLab does not sign: it sends the secret itself in a header.
    GITLAB = "gitlab"
    STRIPE = "stripe"
    SLACK = "slack"


class CallAuthorization(StrEnum):
    """What authorized a call."""

    TOKEN = "token"
    SECRET = "secret"
    SIGNATURE = "signature"
    REPLAY = "replay"


# A challenge is a request to verify the address; it was answered and started nothing.
ACCEPTED, DUPLICATE, CHALLENGE = "accepted", "duplicate", "challenge"
# The only event of a webhook.
TRIGGER = "trigger"


class WebhookRow(msgspec.Struct):
    """A row of `webhooks`, in the order of the select."""

    id: str
    customer_id: str
    name: str
    enabled: int
    signature: str
    trigger_count: int
    triggered_at: Millis | None
    version: int
    created_at: Millis
    updated_at: Millis


class Delivery(msgspec.Struct):
    """A row of `deliveries` without the body, in the order of the select."""

    id: str
    customer_id: str
    webhook_id: str
    at: Millis
    address: str
    door: str
    username: str
    verdict: str
    delivery_key: str | None
    replay_of: str | None
    jobs: str
    masked: str
    content_type: str
    headers: str
    size: int


class StartedJob(msgspec.Struct, omit_defaults=True):
    """A job that a call started, and the task or workflow of it."""

    id: str
    task_id: str | None = None
    workflow_id: str | None = None
