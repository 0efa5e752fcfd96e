"""Couriers that go nowhere: what they were given, and the outcomes that a test wants."""

from dataclasses import dataclass, field

from belvedere.egress.messages import Outcome, Parcel
from belvedere.egress.pool import EgressPool


@dataclass(slots=True)
class FakeCouriers(EgressPool):
    carried: list[Parcel] = field(default_factory=list)
    # One for each parcel; then everything is taken.
    outcomes: list[Outcome] = field(default_factory=list)

    async def carry(self, parcel: Parcel) -> Outcome:
        if parcel.only_check:
            scheme = parcel.url.partition(":")[0]
            if scheme == "nonsense":
                return Outcome("No service has such an address.")
            service = "Webhook" if scheme in ("http", "https") else scheme.capitalize()
            return Outcome(service=service, scheme=scheme)
        self.carried.append(parcel)
        return self.outcomes.pop(0) if self.outcomes else Outcome()
