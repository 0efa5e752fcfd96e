"""The page of an approval link: it shows what will run and asks for confirmation."""

from html import escape

from belvedere.base.clock import iso
from belvedere.base.text import json_text
from belvedere.jobs.approvals.links import ApprovalQuestion
from belvedere.jobs.approvals.plan import Plan, PlannedTask

# The page loads nothing, cannot be framed, and its button posts to this server only.
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


def render_question(question: ApprovalQuestion) -> str:
    """The page before the vote."""
    if not question.is_open:
        return _page(question, f"<p>{_outcome(question)}</p>")
    verb = question.verb.capitalize()
    until = iso(question.expires_at)[:16].replace("T", " ")
    return _page(
        question,
        f"<p>{_starter(question)} asks for your approval, {escape(question.approver)}.</p>"
        f"{_task_list(question.will_run)}"
        f"<form method='post'><button class='{question.verb}'>{verb}</button></form>"
        f"<p><small>This link works once, until {until} UTC.</small></p>",
    )


def render_outcome(question: ApprovalQuestion) -> str:
    """The page after the vote."""
    return _page(question, f"<p>{_outcome(question)}</p>")


def _page(question: ApprovalQuestion, inner: str) -> str:
    name = escape(question.job.name)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{name}</title><style>{_STYLE}</style></head><body>"
        f"<small>{escape(question.customer_name)}</small><h1>{name}</h1>{inner}</body></html>"
    )


def _starter(question: ApprovalQuestion) -> str:
    job = question.job
    return escape(job.email or job.username) if job.user_id else "No person (started automatically)"


def _outcome(question: ApprovalQuestion) -> str:
    state = question.job.state
    text = {"success": "It is approved.", "failure": "It is rejected."}.get(state)
    return text or escape(f"This approval has ended: {question.job.reason or state}")


def _task_list(plan: Plan) -> str:
    if not plan:
        return "<p>Nothing else runs when you approve.</p>"
    return f"<p>When you approve, this runs:</p><ol>{''.join(map(_task_item, plan))}</ol>"


def _task_item(task: PlannedTask) -> str:
    return (
        "<li>"
        + "<br>".join([f"<b>{escape(task.name)}</b>", *map(_code, describe_task(task))])
        + "</li>"
    )


def _code(line: tuple[str, str]) -> str:
    return f"{line[0]} <code>{escape(line[1])}</code>"


def describe_task(task: PlannedTask) -> list[tuple[str, str]]:
    """What an approver must know about one task, as (label, value)."""
    script = f"{task.script_filename} (sha256 {task.script_sha256})" if task.script_sha256 else ""
    lines = [
        ("on the host", task.hostname or ""),
        ("the script", script),
        ("the address", task.url),
        ("run as", " ".join(filter(None, (task.os_user, task.script_runas)))),
    ]
    if task.arguments is not None:
        lines.append(
            ("with the arguments", json_text.compact(task.arguments) if task.arguments else "")
        )
    else:
        lines.append(("with the arguments", "that come from what runs before it"))
    return [(word, value) for word, value in lines if value]
