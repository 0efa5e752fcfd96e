"""Who asks and what they may do: the verbs that other rooms use. The doors are in `access.api`."""

from belvedere.access import audit
from belvedere.access.acl import (
    acl_of,
    change_acl,
    clear_acl,
    forget_acl,
    replace_acl,
    resolve,
    visible,
)
from belvedere.access.actor import Actor, Level, may_run, may_see, require, require_person
from belvedere.access.credentials import secret_keys
from belvedere.access.credentials.enrolment import Enrolled, create_enrolment, redeem_enrolment
from belvedere.access.credentials.tokens import (
    Token,
    adopt_token,
    create_agent_token,
    create_token,
    revoke_agent_tokens,
)
from belvedere.access.crypto.keyring import Keyring, load_secret
from belvedere.access.customers.member_changes import admit
from belvedere.access.customers.password_recovery import reset_password, set_password
from belvedere.access.customers.service import (
    Customer,
    Founded,
    by_name,
    create_organization,
    enable,
    operator,
)
from belvedere.access.limits.rate_limits import Limits
from belvedere.access.signin import cookies
from belvedere.access.signin.authentication import authenticate, sweep, touch
from belvedere.access.signin.password_checker import PasswordChecker

__all__ = [
    "Actor",
    "Customer",
    "Enrolled",
    "Founded",
    "Keyring",
    "Level",
    "Limits",
    "Token",
    "PasswordChecker",
    "acl_of",
    "admit",
    "adopt_token",
    "audit",
    "authenticate",
    "by_name",
    "change_acl",
    "clear_acl",
    "cookies",
    "create_agent_token",
    "create_enrolment",
    "create_organization",
    "create_token",
    "enable",
    "forget_acl",
    "load_secret",
    "may_run",
    "may_see",
    "operator",
    "redeem_enrolment",
    "replace_acl",
    "require",
    "require_person",
    "reset_password",
    "resolve",
    "revoke_agent_tokens",
    "secret_keys",
    "set_password",
    "sweep",
    "touch",
    "visible",
]
