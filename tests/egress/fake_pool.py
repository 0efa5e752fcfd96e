"""An egress pool that sends nothing: it records requests and returns the results of the test."""

from dataclasses import dataclass, field

from belvedere.egress.messages import EgressRequest, EgressResult
from belvedere.egress.pool import EgressPool


@dataclass(slots=True)
class FakeEgressPool(EgressPool):
    sent: list[EgressRequest] = field(default_factory=list)
    # One for each request; after the last one, every request succeeds.
    results: list[EgressResult] = field(default_factory=list)

    async def send(self, request: EgressRequest) -> EgressResult:
        if request.only_check:
            scheme = request.url.partition(":")[0]
            if scheme == "nonsense":
                return EgressResult("This is not the URL of a known service.")
            service = "Webhook" if scheme in ("http", "https") else scheme.capitalize()
            return EgressResult(service=service, scheme=scheme)
        self.sent.append(request)
        return self.results.pop(0) if self.results else EgressResult()
