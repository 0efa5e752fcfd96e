"""Couriers that ask a provider in this very process."""

import json
from dataclasses import dataclass, field

from belvedere.egress.messages import Outcome, Parcel
from egress.fake_pool import FakeCouriers
from providers.openid import Provider


@dataclass(slots=True)
class Errands(FakeCouriers):
    provider: Provider | None = None
    # A fault for every question from now on.
    fault: str = ""
    seen: list[Parcel] = field(default_factory=list)

    async def carry(self, parcel: Parcel) -> Outcome:
        assert self.provider is not None and parcel.method
        self.seen.append(parcel)
        if self.fault or not parcel.url.startswith(self.provider.issuer):
            return Outcome(self.fault or "The name of the receiver cannot be resolved.")
        headers = {name.lower(): value for name, value in parcel.headers.items()}
        answer = self.provider.answer(parcel.method, parcel.url, headers, parcel.payload)
        return Outcome(status=answer.status, text=json.dumps(answer.body))
