"""Whether a certificate is valid, and for how many more days."""

import ssl
import time
from typing import Any

from belvedere.agent.checks.connect import connect
from belvedere.agent.checks.http_client import trust
from belvedere.agent.checks.outcome import Outcome, explain

DAY_S = 86_400


async def check(config: dict[str, Any], memory: dict[str, Any]) -> Outcome:
    target: str = config["target"]
    try:
        _, writer = await connect(config, target, config["port"], trust())
    except ssl.SSLCertVerificationError as fault:
        message = f"The certificate is not valid: {fault.verify_message}."
        return Outcome("failure", "tls:invalid", message)
    except OSError as fault:
        return Outcome("failure", "tls:error", explain(fault, f"{target} port {config['port']}"))
    certificate = writer.get_extra_info("peercert")
    writer.transport.abort()
    return evaluate(certificate, config["days"], time.time())


def evaluate(certificate: dict[str, Any], days: int, now: float) -> Outcome:
    days_left = (ssl.cert_time_to_seconds(certificate["notAfter"]) - now) / DAY_S
    data = {"expires": certificate["notAfter"], "days": round(days_left, 1)}
    message = f"valid for {days_left:.0f} days"
    if days_left < days:
        message = f"{message}, expected at least {days}"
        return Outcome("failure", "tls:expires", message, data, {"days": days_left})
    return Outcome("normal", "success", message, data, {"days": days_left})
