"""Whether a port accepts connections."""

import time
from typing import Any

from belvedere.agent.checks.connect import connect
from belvedere.agent.checks.outcome import Outcome, explain


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    began = time.monotonic()
    try:
        _, writer = await connect(config, config["target"], config["port"])
    except OSError as fault:
        place = f"{config['target']} port {config['port']}"
        return Outcome("failure", "tcp:error", explain(fault, place))
    writer.transport.abort()
    took_ms = (time.monotonic() - began) * 1_000
    data = {"ms": round(took_ms, 1)}
    return Outcome("normal", "success", f"open in {took_ms:.0f} ms", data, {"ms": took_ms})
