"""All settings of the server in one table: option, environment variable, default, description."""

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from belvedere.base.errors import Invalid

T = TypeVar("T")
# The name of the operator's socket in the data folder.
SOCKET = "admin.sock"


def default_data() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(base) / "belvedere"


def _setting(default: T, env: str, about: str, *, is_secret: bool = False) -> T:
    metadata = {"env": env, "about": about, "is_secret": is_secret}
    return field(default=default, metadata=metadata)


MAX_PORT = 65_535


@dataclass(slots=True)
class Settings:
    """The settings of a server. Each field has an environment variable and an option."""

    data: str = _setting("", "BELVEDERE_DATA", "folder for the database, keys and sockets")
    database: str = _setting(
        "",
        "BELVEDERE_DATABASE",
        "postgresql:// address; empty: SQLite in the data folder",
        is_secret=True,
    )
    host: str = _setting("127.0.0.1", "BELVEDERE_HOST", "address to listen on")
    port: int = _setting(8420, "BELVEDERE_PORT", "port to listen on")
    url: str = _setting("", "BELVEDERE_URL", "the address people and agents use, for links")
    tls_cert: str = _setting("", "BELVEDERE_TLS_CERT", "certificate file for https")
    tls_key: str = _setting("", "BELVEDERE_TLS_KEY", "key file for https")
    secret_key: str = _setting(
        "",
        "BELVEDERE_SECRET_KEY",
        "64 hex digits, or the text of a secret.key; empty: secret.key in the data folder",
        is_secret=True,
    )
    proxies: str = _setting(
        "",
        "BELVEDERE_PROXIES",
        "addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is trusted,"
        " separated by"
        " commas",
    )
    origins: str = _setting(
        "", "BELVEDERE_ORIGINS", "origins that browsers may call from (CORS), separated by commas"
    )
    metrics_token: str = _setting(
        "",
        "BELVEDERE_METRICS_TOKEN",
        "token to read /-/metrics, for Prometheus; at least 16 characters; empty: no access",
        is_secret=True,
    )
    metrics_listen: str = _setting(
        "",
        "BELVEDERE_METRICS_LISTEN",
        "address:port on which /-/metrics is served as well, such as 127.0.0.1:9420; without a"
        " metrics token, anyone who can reach it may read it; empty: nowhere",
    )
    otlp_url: str = _setting(
        "",
        "BELVEDERE_OTLP_URL",
        "address of an OpenTelemetry collector (OTLP/HTTP), such as http://127.0.0.1:4318, for"
        " spans of jobs whose request had a traceparent; empty: none",
        is_secret=True,
    )
    ready: bool = _setting(True, "BELVEDERE_READY", "serve /-/ready without a credential")
    drain: int = _setting(
        10,
        "BELVEDERE_DRAIN",
        "seconds after SIGTERM within which load balancers and agents move to another server and"
        " requests in progress are answered",
    )
    other_servers: str = _setting(
        "",
        "BELVEDERE_OTHER_SERVERS",
        "addresses of other servers on the same database, separated by commas, to which agents"
        " connect when this server stops; empty: the address that they use already",
    )
    secret_rate: int = _setting(
        500, "BELVEDERE_SECRET_RATE", "requests per second for each secret key before 429"
    )
    connections_per_address: int = _setting(
        1_000,
        "BELVEDERE_CONNECTIONS_PER_ADDRESS",
        "HTTP connections that one address may have open, at most half of the total limit;"
        " proxies of"
        " BELVEDERE_PROXIES are exempt",
    )
    plain_http: bool = _setting(
        False,
        "BELVEDERE_PLAIN_HTTP",
        "uvicorn's own protocol classes instead of Belvedere's, if a new uvicorn or websockets"
        " breaks those; connections then have no limits and no deadlines: use a proxy",
    )
    storage_quota: int = _setting(
        100,
        "BELVEDERE_STORAGE_QUOTA",
        "GiB of logs, files and samples that one organization may store; beyond that, output is"
        " dropped and marked, and uploads are refused; 0: no limit",
    )
    agent_updates: str = _setting(
        "all",
        "BELVEDERE_AGENT_UPDATES",
        "which agents the server updates to its own version: all, off, or tag:NAME for hosts with"
        " this tag; only agents that were installed as one file",
    )
    agent_downgrades: bool = _setting(
        False,
        "BELVEDERE_AGENT_DOWNGRADES",
        "also replace agents that are newer than the server, after the server went back to an older"
        " version",
    )
    upgrade_copy: bool = _setting(
        True,
        "BELVEDERE_UPGRADE_COPY",
        "copy a SQLite database in the data folder before a new version changes it; the last two"
        " copies are kept",
    )
    event_budget: int = _setting(
        100_000,
        "BELVEDERE_EVENT_BUDGET",
        "events that one organization keeps for each kind of object (webhook, monitor, …) except"
        " jobs; older ones are deleted; 0: only by age, after 30 days",
    )
    inner_networks: str = _setting(
        "",
        "BELVEDERE_INNER_NETWORKS",
        "internal networks that the server may call for notifications and identity providers,"
        " such as"
        " 10.0.0.0/8, separated by commas; empty: none",
    )
    mail: str = _setting(
        "",
        "BELVEDERE_MAIL",
        "mailtos://user:password@host?from=address; sends invitations and links for new passwords",
        is_secret=True,
    )
    redis: str = _setting(
        "",
        "BELVEDERE_REDIS",
        "redis:// or rediss:// (TLS) address on which the ends of jobs are published, for programs"
        " that wait for them there; empty: nowhere",
        is_secret=True,
    )
    log_level: str = _setting("info", "BELVEDERE_LOG_LEVEL", "debug, info, warning or error")
    log_format: str = _setting(
        "text", "BELVEDERE_LOG_FORMAT", "text, or json: one JSON object per line"
    )
    agent: bool = _setting(True, "BELVEDERE_AGENT", "`up`: start a local agent")
    scripts_user: str = _setting(
        "",
        "BELVEDERE_SCRIPTS_USER",
        "user that runs the scripts of the local agent of `up`; needs root; empty: the server's own"
        " user, and then `up` serves one organization only",
    )
    demo: bool = _setting(True, "BELVEDERE_DEMO", "create demo objects at the first start")
    customer: str = _setting("main", "BELVEDERE_CUSTOMER", "first start: organization name")
    admin_email: str = _setting(
        "admin@localhost", "BELVEDERE_ADMIN_EMAIL", "first start: e-mail of the owner"
    )
    admin_password: str = _setting(
        "",
        "BELVEDERE_ADMIN_PASSWORD",
        "first start: password of the owner; empty: a random one",
        is_secret=True,
    )
    access_token: str = _setting(
        "",
        "BELVEDERE_ACCESS_TOKEN",
        "first start: an integration token; bvt_ and at least 32 characters",
        is_secret=True,
    )

    @property
    def folder(self) -> Path:
        return Path(self.data) if self.data else default_data()

    @property
    def database_url(self) -> str:
        return self.database or str(self.folder / "belvedere.db")

    @property
    def operator_socket(self) -> Path:
        """The socket of the running server for commands of the operator."""
        return self.folder / SOCKET

    @property
    def base_url(self) -> str:
        if self.url:
            return self.url.rstrip("/")
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{self.port}"


TABLE = tuple(
    (item.name, item.metadata["env"], item.default, item.metadata["about"])
    for item in fields(Settings)
)

# Variables of earlier versions, and what to do instead. `belvedere upgrade --check` reports them.
DEPRECATED = {"BELVEDERE_LEASH": "It has no effect since 0.1; remove it."}

# Variables with secrets: the server removes them from its environment.
SECRETS = tuple(item.metadata["env"] for item in fields(Settings) if item.metadata["is_secret"])


def load(options: dict[str, Any], environ: dict[str, str] | None = None) -> Settings:
    """Options have precedence over the environment, the environment over the defaults."""
    variables = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for name, env, default, _ in TABLE:
        option = options.get(name)
        if option is None and env in variables:
            option = _typed(env, variables[env], default)
        if option is not None:
            values[name] = option
    settings = Settings(**values)
    if not 0 <= settings.port <= MAX_PORT:
        raise Invalid(f"The port must be 0 to {MAX_PORT}, not {settings.port}.")
    _check_database(settings.database)
    return settings


def _check_database(address: str) -> None:
    scheme, separator, _ = address.partition("://")
    if separator and scheme not in ("postgresql", "postgres", "sqlite"):
        raise Invalid(
            f"The database must be postgresql://… or the path of a SQLite file, not {scheme}://…."
        )


def _typed(env: str, text: str, default: object) -> bool | int | str:
    if isinstance(default, bool):
        return text.lower() not in ("", "0", "false", "no", "off")
    if isinstance(default, int):
        if not text.isdigit():
            raise Invalid(f"{env} must be an integer, not {text!r}.")
        return int(text)
    return text
