"""Which faults a seed has: each simulation draws some of them and their frequency."""

from dataclasses import dataclass, fields
from random import Random

# How likely each kind of fault is at all in a story; several together find more than each alone.
SHARE = 0.45


@dataclass
class FaultRates:
    """Faults per story, on average; probabilities where the name says so."""

    cuts: float = 0.0
    partitions: float = 0.0
    long_partitions: float = 0.0
    server_kills: float = 0.0
    server_pauses: float = 0.0
    agent_kills: float = 0.0
    agent_pauses: float = 0.0
    keeper_kills: float = 0.0
    keeper_pauses: float = 0.0
    reboots: float = 0.0
    journal_losses: float = 0.0
    journal_damages: float = 0.0
    full_disks: float = 0.0
    clock_jumps: float = 0.0
    cancels: float = 0.0
    long_scripts: float = 0.0
    resolves: float = 0.0
    restarts: float = 0.0
    # Probabilities.
    loss: float = 0.0
    dies_after_commit: float = 0.0
    keeper_crash: float = 0.0
    agent_crash: float = 0.0
    deaf: float = 0.0
    lag: float = 0.0
    drift: float = 0.0
    second_server: float = 0.0
    rollbacks: float = 0.0
    restores: float = 0.0
    upgrades: float = 0.0

    @property
    def stops_servers(self) -> bool:
        """Whether there may be moments in which no server runs."""
        return bool(
            self.server_kills
            + self.server_pauses
            + self.dies_after_commit
            + self.restores
            + self.upgrades
        )


MOST = FaultRates(
    cuts=8,
    partitions=4,
    long_partitions=1,
    server_kills=4,
    server_pauses=2,
    agent_kills=4,
    agent_pauses=3,
    keeper_kills=2,
    keeper_pauses=2,
    reboots=2,
    journal_losses=1,
    journal_damages=1,
    full_disks=2,
    clock_jumps=2,
    cancels=6,
    long_scripts=2,
    resolves=3,
    restarts=2,
    loss=0.2,
    dies_after_commit=0.03,
    keeper_crash=0.01,
    agent_crash=0.05,
    deaf=0.5,
    lag=0.6,
    drift=0.05,
    second_server=1.0,
    rollbacks=2,
    restores=1.5,
    upgrades=1,
)


def draw(random: Random) -> FaultRates:
    swarm = FaultRates()
    for field in fields(FaultRates):
        if random.random() < SHARE:
            setattr(swarm, field.name, getattr(MOST, field.name) * random.random())
    return swarm
