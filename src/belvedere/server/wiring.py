"""Builds the server: opens and migrates the databases, checks the key, connects the features."""

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from belvedere.access.crypto import key_file
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.limits.rate_limits import LoginLimits, RateWindow
from belvedere.access.signin.password_checker import PasswordChecker
from belvedere.base.clock import SECOND, Clock, SharedClock, wall
from belvedere.base.errors import Unavailable
from belvedere.db import Database, installation
from belvedere.db.backup.copy import Location, check_complete
from belvedere.db.migrate import list_applied, migrate, open_database, pending_names
from belvedere.db.signals import ACCESS_CHANGED, ANY_EVENT, Signal, SignalBus, Topic
from belvedere.db.transfer import changes, marks
from belvedere.egress.pool import EgressPool
from belvedere.events.feed import EventFeed
from belvedere.files.api_check import SyntaxChecks
from belvedere.files.quota import GIB
from belvedere.jobs import scraper
from belvedere.jobs.api.create import JobServices
from belvedere.jobs.history.unprocessed import JobReaders
from belvedere.jobs.lifecycle import claim, commands
from belvedere.jobs.recovery import restore
from belvedere.jobs.search import progress
from belvedere.legacy_agents import check_reports
from belvedere.legacy_agents.api import poll
from belvedere.legacy_agents.registration import LegacyServices
from belvedere.monitors.api.agent_reports import ReportServices
from belvedere.schedules.targets import ScheduleServices
from belvedere.server import ports, restored, routes
from belvedere.server.agents import updates
from belvedere.server.agents.registry import AgentRegistry
from belvedere.server.background import consumers, job_publishing
from belvedere.server.console import assets, docs_site
from belvedere.server.doctor.api import Examination
from belvedere.server.http.authentication import CredentialCache, token_of_request
from belvedere.server.http.routing import Router
from belvedere.server.loop_watchdog import Watchdog
from belvedere.server.metrics import api as metrics_api
from belvedere.server.metrics.collect import Metrics
from belvedere.server.redis import connection as redis_connection
from belvedere.server.redis.publisher import RedisPublisher
from belvedere.server.runtime import ServerRuntime
from belvedere.server.storage import Storage
from belvedere.server.traces.exporter import TraceExporter
from belvedere.server.transport.connections import Connections, capacity
from belvedere.server.transport.proxies import Proxies
from belvedere.settings import Settings
from belvedere.statuspages.public_status import PageCache
from belvedere.statuspages.subscribers import SubscriptionLimits
from belvedere.workflows.schedule_targets import TARGETS

if TYPE_CHECKING:
    from belvedere.db.postgres.notify import PostgresNotifier

log = logging.getLogger("belvedere.server")


def open_databases(settings: Settings) -> tuple[Database, Database]:
    """The main database and the log store, migrated. On PostgreSQL they are one."""
    folder = settings.folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_complete(Location(settings.database_url, folder))
    marks.check_before_use(settings.database_url)
    old = os.umask(0o077)
    try:
        db = open_database(settings.database_url)
        _check_usable(db)
        changes.drop_leftovers(db.write_blocking)
        if db.dialect.is_shared:
            _migrate_shared(db)
            return db, db
        logs = open_database(str(folder / "logs.db"))
        changes.drop_leftovers(logs.write_blocking)
        db.clock = logs.clock = SharedClock(wall)
        _migrate_files(db, logs, settings)
        return db, logs
    finally:
        os.umask(old)


def _check_usable(db: Database) -> None:
    """Refuse a database that is moved to another engine, or restored."""
    try:
        db.write_blocking(marks.check_usable)
    except Unavailable:
        asyncio.run(db.close())
        raise


def _migrate_shared(db: Database) -> None:
    names = db.write_blocking(pending_names, "migrations")
    if names and db.write_blocking(list_applied):
        log.warning(
            "upgrading the database; PostgreSQL is not copied automatically: to go back you need a"
            " file of `belvedere backup` from before the upgrade migrations=%d",
            len(names),
        )
    migrate(db)
    migrate(db, "logs")
    # A restore may have begun since it was checked.
    _check_usable(db)
    db.write_blocking(installation.record_version)
    _follow_timeline(db)


def _migrate_files(db: Database, logs: Database, settings: Settings) -> None:
    # Imported only here: PostgreSQL needs nothing of SQLite.
    from belvedere.db.backup import upgrade_copy

    if settings.upgrade_copy:
        location = Location(settings.database_url, settings.folder)
        upgrade_copy.copy_if_pending(db, logs, location)
    migrate(db)
    migrate(logs, "logs")
    upgrade_copy.finish(db)


def _follow_timeline(db: Database) -> None:
    from belvedere.db.postgres.database import Postgres

    assert isinstance(db, Postgres)
    db.check_usable = marks.check_usable
    db.follow_timeline(restore.record_timeline)


def build(settings: Settings) -> ServerRuntime:
    """Build everything but the sockets."""
    routes.check(routes.ROUTES)
    metrics_api.check_settings(settings)
    updates.check_settings(settings)
    db, logs = open_databases(settings)
    key_material = key_file.load(settings.folder, settings.secret_key)
    return build_runtime(settings, db, logs, key_material.keys)


def build_runtime(
    settings: Settings, db: Database, logs: Database, keys: Keyring, clock: Clock | None = None
) -> ServerRuntime:
    """Build the services over open databases, and connect them."""
    ports.connect()
    clock = clock or db.clock
    db.sealer = keys
    db.write_blocking(keys.verify_database)
    db.write_blocking(scraper.store_source)
    db.write_blocking(commands.store_source)
    db.write_blocking(progress.start)
    signals, limits = SignalBus(), LoginLimits(clock)
    runtime = ServerRuntime(
        settings, db, logs, keys, signals, limits, PasswordChecker(limits), clock
    )
    runtime.started_at = clock()
    runtime.proxies = Proxies(settings.proxies, clock)
    runtime.secret_uses = RateWindow(settings.secret_rate, SECOND, clock)
    runtime.storage = Storage(settings.storage_quota * GIB)
    runtime.egress = EgressPool(settings.inner_networks, settings.mail)
    if settings.redis:
        runtime.redis = RedisPublisher(redis_connection.parse(settings.redis), clock)
        db.write_blocking(job_publishing.start_at_end)
    runtime.router = Router(routes.ROUTES, routes.PAGES)
    runtime.reserved = runtime.router.reserved
    runtime.assets = assets.load(assets.STATIC)
    runtime.docs = docs_site.load(docs_site.FOLDER)
    runtime.agents = AgentRegistry(settings.base_url, keys)
    runtime.feed = EventFeed(db, signals)
    runtime.credentials = CredentialCache(db, keys)
    per_address = settings.connections_per_address
    runtime.watchdog = Watchdog(clock)
    runtime.connections = Connections(per_address, capacity(), is_proxy=runtime.proxies.covers)
    signals.subscribe(ACCESS_CHANGED, runtime.credentials.clear)
    runtime.agents.follow(signals)
    db.before_commit = runtime.agents.claim_for_signalled_hosts
    db.on_signals = signals.emit
    _add_feature_services(runtime)
    return runtime


def _add_feature_services(runtime: ServerRuntime) -> None:
    runtime.add(Metrics(runtime))
    runtime.add(TraceExporter(runtime.settings.otlp_url))
    runtime.add(Examination(runtime))
    runtime.add(updates.UpdatePace())
    runtime.add(PageCache(runtime.clock))
    runtime.add(SubscriptionLimits(runtime.clock))
    runtime.add(SyntaxChecks())
    runtime.add(ScheduleServices(TARGETS))
    runtime.add(runtime.agents.ended_jobs)
    runtime.add(
        JobServices(
            runtime.agents.create,
            poll,
            lambda request: runtime.credentials.is_current(
                token_of_request(request), request.actor, runtime.clock()
            ),
        )
    )
    runtime.add(JobReaders(lambda: consumers.job_readers(has_redis=runtime.redis is not None)))
    runtime.add(ReportServices(check_reports.report))
    runtime.add(
        LegacyServices(
            check_rate=lambda key: runtime.handshakes.check_rate(key),
            waiting=lambda host_id: runtime.handshakes.waiting(host_id),
            note_contact=runtime.agents.record,
            base_url=lambda: runtime.agents.base_url,
            take_storage=lambda customer_id, size: runtime.storage.take(customer_id, size),
            admits_agents=lambda: runtime.admits_agents,
        )
    )


def connect_notifier(runtime: ServerRuntime) -> "PostgresNotifier | None":
    """Several servers on one PostgreSQL send each other their signals."""
    if not runtime.db.dialect.is_shared:
        return None
    from belvedere.db.postgres.database import Postgres
    from belvedere.db.postgres.notify import PostgresNotifier

    assert isinstance(runtime.db, Postgres)
    loop = asyncio.get_running_loop()

    def receive(signals: set[Signal]) -> None:
        loop.call_soon_threadsafe(act_on, signals)

    def act_on(signals: set[Signal]) -> None:
        if any(topic is Topic.HOST and runtime.agents.for_host(key) for topic, key in signals):
            # Its caller may wait for a job of our agent, which ends before a request arrives.
            notifier.note_requests((Topic.JOB,))
        receive_signals(runtime, signals)

    notifier = PostgresNotifier(runtime.db, receive, runtime.signals.requested_topics)
    runtime.signals.on_request = notifier.announce

    def emit(signals: set[Signal]) -> None:
        notifier.notify(signals_for_others(runtime.agents, signals))
        runtime.signals.emit(signals)

    runtime.db.on_signals = emit

    def failed_over() -> None:
        loop.call_soon_threadsafe(_failed_over, runtime)

    runtime.db.on_failover = failed_over
    notifier.start()
    return notifier


def signals_for_others(agents: AgentRegistry, signals: set[Signal]) -> set[Signal]:
    """Those that other servers act on. Jobs of a host whose agent is connected here are claimed
    here, and events are consumed here; the streams of other servers need to know only that there
    are new events. Other servers also poll, in case this one stops."""
    others = {
        signal
        for signal in signals
        if signal.topic is not Topic.EVENTS
        and (signal.topic is not Topic.HOST or agents.for_host(signal.key) is None)
    }
    if any(signal.topic is Topic.EVENTS for signal in signals):
        others.add(ANY_EVENT)
    return others


def _failed_over(runtime: ServerRuntime) -> None:
    """The database lost its last commits: agents compare their journals with it, streams start
    again, and caches are cleared."""
    from belvedere.db.postgres.database import Postgres

    assert isinstance(runtime.db, Postgres)
    for connection in runtime.agents.connections():
        connection.close(4503, "Another database server took over; connect again.")
    runtime.credentials.clear()
    runtime.feed.start_over()
    runtime.db.resume()
    restored.recover(runtime)


def receive_signals(runtime: ServerRuntime, signals: set[Signal]) -> None:
    """Signals of another server: its new jobs may be for agents that are connected here."""
    runtime.signals.emit(signals)
    for topic, host_id in signals:
        if topic is Topic.HOST and runtime.agents.for_host(host_id) is not None:
            runtime.db.write_batched(claim.signal_hosts, host_id)
