"""The page behind a link: it shows what will run and asks once more. It needs no script."""

from html import escape

from belvedere.base.clock import iso
from belvedere.base.text import json_text
from belvedere.jobs.approvals.links import Asked
from belvedere.jobs.approvals.plan import Plan, Planned

# Nothing is loaded, nobody frames it, and its one button posts to this server only.
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'",
    "x-robots-tag": "noindex",
}
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
li { margin: .5rem 0; overflow-wrap: anywhere; }
code { font: 14px/1.4 ui-monospace, monospace; }
button { font: inherit; padding: .6rem 1.6rem; border: 0; border-radius: .4rem; color: #fff; }
.approve { background: #15803d; }
.reject { background: #b91c1c; }
small { opacity: .75; }
"""


def question(asked: Asked) -> str:
    """Before the answer."""
    if not asked.is_open:
        return _page(asked, f"<p>{_outcome(asked)}</p>")
    verb = asked.verb.capitalize()
    until = iso(asked.expires_at)[:16].replace("T", " ")
    return _page(
        asked,
        f"<p>{_who(asked)} asks for your approval, {escape(asked.approver)}.</p>"
        f"{_runs(asked.will_run)}"
        f"<form method='post'><button class='{asked.verb}'>{verb}</button></form>"
        f"<p><small>This link works once, until {until} UTC.</small></p>",
    )


def answer(asked: Asked) -> str:
    """After it."""
    return _page(asked, f"<p>{_outcome(asked)}</p>")


def _page(asked: Asked, inner: str) -> str:
    name = escape(asked.job.name)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{name}</title><style>{_STYLE}</style></head><body>"
        f"<small>{escape(asked.customer_name)}</small><h1>{name}</h1>{inner}</body></html>"
    )


def _who(asked: Asked) -> str:
    job = asked.job
    return escape(job.email or job.username) if job.user_id else "Nobody in person"


def _outcome(asked: Asked) -> str:
    state = asked.job.state
    said = {"success": "It is approved.", "failure": "It is rejected."}.get(state)
    return said or escape(f"It is over: {asked.job.reason or state}")


def _runs(plan: Plan) -> str:
    if not plan:
        return "<p>Nothing else runs when you approve.</p>"
    return f"<p>When you approve, this runs:</p><ol>{''.join(map(_run, plan))}</ol>"


def _run(one: Planned) -> str:
    return "<li>" + "<br>".join([f"<b>{escape(one.name)}</b>", *map(_code, lines(one))]) + "</li>"


def _code(line: tuple[str, str]) -> str:
    return f"{line[0]} <code>{escape(line[1])}</code>"


def lines(one: Planned) -> list[tuple[str, str]]:
    """What an approver must know of one task, word by word."""
    script = f"{one.script_filename} (sha256 {one.script_sha256})" if one.script_sha256 else ""
    found = [
        ("on the host", one.hostname or ""),
        ("the script", script),
        ("the address", one.url),
        ("run as", " ".join(filter(None, (one.os_user, one.script_runas)))),
    ]
    if one.arguments is not None:
        found.append(
            ("with the arguments", json_text.compact(one.arguments) if one.arguments else "")
        )
    else:
        found.append(("with the arguments", "that come from what runs before it"))
    return [(word, value) for word, value in found if value]
