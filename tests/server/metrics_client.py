"""Reads `/-/metrics` as Prometheus does: with the token, through its own parser."""

from prometheus_client.parser import text_string_to_metric_families

from belvedere.server.metrics.collect import Metrics
from contract.client import Client
from contract.world import World

TOKEN = "a-token-for-prometheus"
Sample = tuple[str, tuple[tuple[str, str], ...]]


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def parse(text: str) -> dict[Sample, float]:
    """Every sample by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class Figures(dict[Sample, float]):
    def of(self, name: str, **labels: str) -> float:
        return self.get((name, tuple(sorted(labels.items()))), 0.0)


async def read_figures(world: World, client: Client) -> Figures:
    world.runtime.settings.metrics_token = TOKEN
    world.runtime.of(Metrics).expire()
    response = await client.get("/-/metrics", headers=bearer(TOKEN))
    assert response.status == 200, response.body
    return Figures(parse(response.text))
