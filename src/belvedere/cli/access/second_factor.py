"""`belvedere second-factor`: codes of an app beside the password."""

from typing import Any

from belvedere.cli.framework import rendering, terminal, time_words
from belvedere.cli.framework.command import Args, Verb
from belvedere.cli.framework.profile import connect

PATH = "/api/auth/second-factor"


def shown(args: Args) -> Any:
    return connect(args).get(PATH)


def enable(args: Args) -> Any:
    client = connect(args)
    tell_secret(client.post(PATH, _password()))
    return client.put(PATH, {"code": ask_code()})


def disable(args: Args) -> Any:
    return connect(args).post(f"{PATH}/disable", _password())


def recovery_codes(args: Args) -> Any:
    return connect(args).post(f"{PATH}/recovery-codes", _password())


def tell_secret(told: Any) -> None:
    """For an app that is fed by hand; the console shows a picture."""
    rendering.note("enter this secret into your app (time-based, 6 digits, SHA-1, 30 s):")
    rendering.note(f"  {told['secret']}")
    rendering.note(f"  {told['uri']}")


def ask_code() -> str:
    """Asked without an echo: a code that somebody reads on the screen is good for half a minute."""
    return terminal.secret("Code of your app: ")


def show_standing(found: Any) -> None:
    rendering.fields(
        (
            ("second factor", "on" if found["enabled"] else "off"),
            ("since", time_words.age(found["since"])),
            ("recovery codes", found["recovery_codes"]),
            ("required", "yes" if found["required"] else "no"),
        )
    )


def show_codes(answer: Any) -> None:
    rendering.note("recovery codes, shown this once; each signs you in once without the app:")
    print("\n".join(answer["recovery_codes"]))


def _password() -> dict[str, str]:
    return {"password": terminal.secret("Password: ")}


VERBS = (
    Verb(
        "show",
        shown,
        "Say whether your second factor is on, and how many recovery codes are left.",
        "belvedere second-factor show",
        show_standing,
    ),
    Verb(
        "enable",
        enable,
        "Set up a second factor; asks for your password and for a code of the app.",
        "belvedere second-factor enable",
        show_codes,
    ),
    Verb(
        "recovery-codes",
        recovery_codes,
        "Print new recovery codes, once; the old ones are dead.",
        "belvedere second-factor recovery-codes",
        show_codes,
    ),
    Verb(
        "disable",
        disable,
        "Sign in by the password alone again.",
        "belvedere second-factor disable",
        lambda answer: print(answer["message"]),
    ),
)
