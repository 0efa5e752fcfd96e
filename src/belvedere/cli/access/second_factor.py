"""`belvedere second-factor`: one-time codes in addition to the password."""

from belvedere.cli.framework import rendering, terminal, time_words
from belvedere.cli.framework.command import Args, Command, Record
from belvedere.cli.framework.profile import connect

PATH = "/api/auth/second-factor"


def show(args: Args) -> object:
    return connect(args).get(PATH)


def enable(args: Args) -> object:
    client = connect(args)
    show_secret(client.post(PATH, _password()))
    return client.put(PATH, {"code": prompt_code()})


def disable(args: Args) -> object:
    return connect(args).post(f"{PATH}/disable", _password())


def recovery_codes(args: Args) -> object:
    return connect(args).post(f"{PATH}/recovery-codes", _password())


def show_secret(setup: Record) -> None:
    """For typing into an app; the console shows a QR code."""
    rendering.note("enter this secret into your app (time-based, 6 digits, SHA-1, 30 s):")
    rendering.note(f"  {setup['secret']}")
    rendering.note(f"  {setup['uri']}")


def prompt_code() -> str:
    """Without echo: a code that is read from the screen is valid for half a minute."""
    return terminal.secret("Code from your app: ")


def show_status(status: Record) -> None:
    rendering.fields(
        (
            ("second factor", "on" if status["enabled"] else "off"),
            ("since", time_words.age(status["since"])),
            ("recovery codes", status["recovery_codes"]),
            ("required", "yes" if status["required"] else "no"),
        )
    )


def show_codes(result: Record) -> None:
    rendering.note("recovery codes, shown only once; each signs you in once without the app:")
    print("\n".join(result["recovery_codes"]))


def _password() -> dict[str, str]:
    return {"password": terminal.secret("Password: ")}


COMMANDS = (
    Command(
        "show",
        show,
        "Show whether your second factor is on, and how many recovery codes are left.",
        "belvedere second-factor show",
        show_status,
    ),
    Command(
        "enable",
        enable,
        "Set up a second factor; prompts for your password and for a code from the app.",
        "belvedere second-factor enable",
        show_codes,
    ),
    Command(
        "recovery-codes",
        recovery_codes,
        "Print new recovery codes once; the old ones stop working.",
        "belvedere second-factor recovery-codes",
        show_codes,
    ),
    Command(
        "disable",
        disable,
        "Turn off the second factor.",
        "belvedere second-factor disable",
        lambda result: print(result["message"]),
    ),
)
