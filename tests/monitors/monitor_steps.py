"""A host of acme with its agent connected, and short methods for its monitors."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

import run_timeouts
from belvedere import hosts
from belvedere.access.credentials.enrolment import create_enrolment
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from belvedere.events import Event
from belvedere.hosts.service import enrol
from belvedere.monitors import agent_config, housekeeping, service
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.evaluation import host_samples, samples, watchdog
from belvedere.monitors.store import MonitorView
from belvedere.protocol import Hello, MonitorConfig, Sample, Samples
from manual_clock import ManualClock
from people import ADDRESS, Actors

SCRAPER = {"type": "scraper", "name": "shop", "url": "http://shop.test/", "status_code": "200"}


@dataclass
class MonitorSteps:
    db: Database
    keys: Keyring
    actors: Actors
    clock: ManualClock
    host_id: str = ""
    session: int = 0
    stream: str = "s1"
    batch: int = 0
    versions: dict[str, int] = field(default_factory=dict)

    def build(self, hostname: str = "web-1") -> "MonitorSteps":
        _, text = self.db.write_blocking(create_enrolment, self.keys, self.actors.ada)
        enrolment = self.db.write_blocking(
            enrol, self.keys, text, hostname, f"m-{hostname}", ADDRESS
        )
        self.host_id = enrolment.host_id
        self.connect()
        return self

    def connect(self) -> None:
        hello = Hello("web-1", "0.1", "m-web-1", "j", "b", 16, [])
        self.session = self.db.write_blocking(hosts.connect, self.host_id, hello, ADDRESS)
        self.db.write_blocking(housekeeping.on_host_connected, self.actors.acme.id, self.host_id)

    def leave(self) -> None:
        self.db.write_blocking(hosts.end_session, self.host_id, self.session)

    def beat(self) -> None:
        self.db.write_blocking(
            hosts.record_heartbeats, [(self.host_id, self.session, self.clock())]
        )

    def make(self, **fields: Any) -> str:
        body = msgspec.convert({**SCRAPER, **fields}, MonitorBody, strict=False)
        ada = self.actors.ada
        row, *_ = self.db.write_blocking(service.create, self.keys, ada, body, self.host_id)
        return row.id

    def edit(self, monitor_id: str, **fields: Any) -> MonitorView:
        body = msgspec.convert(fields, MonitorBody, strict=False)
        ada = self.actors.ada
        return self.db.write_blocking(service.change, ada, monitor_id, body, None, replaces=False)[
            0
        ]

    def show(self, monitor_id: str) -> MonitorView:
        return self.db.write_blocking(service.show, self.actors.vic, monitor_id)[0]

    def state(self, monitor_id: str) -> str:
        return self.show(monitor_id).state

    def host_monitor(self) -> str:
        text: str = self.db.write_blocking(
            lambda tx: tx.value(
                "select id from monitors where type = 'host' and host_id = ?", self.host_id
            )
        )
        return text

    def watch(self) -> MonitorConfig:
        return self.db.write_blocking(agent_config.full_list, self.host_id, self.keys)

    def sample(self, monitor_id: str, *states: str, **more: Any) -> None:
        """One batch."""
        version = self.show(monitor_id).config_version
        new_samples = [Sample(monitor_id, version, 0, state, **more) for state in states]  # type: ignore[arg-type]
        self.batch += 1
        self.send(Samples(self.stream, self.batch, new_samples))

    def send(self, *batches: Samples) -> int:
        return self.db.write_blocking(samples.record_batches, self.host_id, list(batches))

    def turn(self, seconds: float = 0, *, beats: bool = True) -> None:
        """Time passes, the agent sends a heartbeat or not, the watchdog runs."""
        self.clock.move(seconds)
        if beats:
            self.beat()
        else:
            run_timeouts.mark_silent(self.db)
        if self.db.write_blocking(watchdog.has_work):
            while self.db.write_blocking(watchdog.run):
                pass
        self.db.write_blocking(host_samples.record, "")

    def event_list(self, *kinds: str) -> list[tuple[str, str]]:
        """(kind, object) of the events so far; without `monitor.` and the events of creation."""
        rows = self.db.write_blocking(
            lambda tx: tx.rows(
                "select kind, object_id from events where object = 'monitor' order by id"
            )
        )
        quiet = {"monitor.created", "monitor.state", "monitor.edited"}
        return [
            (kind.removeprefix("monitor."), object_id)
            for kind, object_id in rows
            if (kind in kinds if kinds else kind not in quiet)
        ]

    def list_events(self) -> list[Event]:
        from belvedere.db import columns

        return self.db.write_blocking(
            lambda tx: tx.all(
                Event, f"select {columns(Event)} from events where kind = 'trigger.fired'"
            )
        )
