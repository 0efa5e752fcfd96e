"""Who sends a request and what they may do: the operations that other packages use. The endpoints
are in `access.api`."""

from belvedere.access import audit
from belvedere.access.acl import (
    Acl,
    acl_of,
    change_acl,
    delete_acl,
    read_acl,
    replace_acl,
    resolve,
    visible_filter,
    with_pending,
)
from belvedere.access.actor import Actor, Level, may_run, may_see, require, require_person
from belvedere.access.credentials import secret_keys
from belvedere.access.credentials.enrolment import (
    EnrolmentGrant,
    create_enrolment,
    redeem_enrolment,
)
from belvedere.access.credentials.tokens import (
    Token,
    adopt_token,
    create_agent_token,
    create_token,
    revoke_agent_tokens,
)
from belvedere.access.crypto.keyring import Keyring, load_secret
from belvedere.access.customers.member_changes import add_member
from belvedere.access.customers.password_recovery import reset_password, set_password
from belvedere.access.customers.service import (
    Customer,
    NewCustomer,
    by_name,
    create_customer,
    enable,
    operator,
)
from belvedere.access.limits.rate_limits import LoginLimits
from belvedere.access.signin import cookies
from belvedere.access.signin.authentication import authenticate, purge_expired, touch
from belvedere.access.signin.password_checker import PasswordChecker

__all__ = [
    "Acl",
    "Actor",
    "Customer",
    "EnrolmentGrant",
    "NewCustomer",
    "Keyring",
    "Level",
    "LoginLimits",
    "Token",
    "PasswordChecker",
    "acl_of",
    "add_member",
    "adopt_token",
    "audit",
    "authenticate",
    "by_name",
    "change_acl",
    "cookies",
    "create_agent_token",
    "create_enrolment",
    "create_customer",
    "create_token",
    "enable",
    "delete_acl",
    "load_secret",
    "may_run",
    "may_see",
    "operator",
    "redeem_enrolment",
    "read_acl",
    "replace_acl",
    "require",
    "require_person",
    "reset_password",
    "resolve",
    "revoke_agent_tokens",
    "secret_keys",
    "set_password",
    "purge_expired",
    "touch",
    "visible_filter",
    "with_pending",
]
