"""Egress workers that call a provider in this process."""

import json
from dataclasses import dataclass, field

from belvedere.egress.messages import EgressRequest, EgressResult
from egress.fake_pool import FakeEgressPool
from providers.openid import Provider


@dataclass(slots=True)
class InProcessEgress(FakeEgressPool):
    provider: Provider | None = None
    # An error for every request from now on.
    fault: str = ""
    seen: list[EgressRequest] = field(default_factory=list)

    async def send(self, request: EgressRequest) -> EgressResult:
        assert self.provider is not None and request.method
        self.seen.append(request)
        if self.fault or not request.url.startswith(self.provider.issuer):
            return EgressResult(self.fault or "The name of the receiver cannot be resolved.")
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = self.provider.answer(request.method, request.url, headers, request.payload)
        return EgressResult(status=answer.status, text=json.dumps(answer.body))
