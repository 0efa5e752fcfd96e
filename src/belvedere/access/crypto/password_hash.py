"""Passwords: which are accepted, and how they are stored (Argon2id, deliberately slow)."""

import gzip
import unicodedata
from collections.abc import Iterable
from importlib import resources

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from belvedere.base.errors import Fault, Invalid

MIN_LENGTH, MAX_LENGTH = 12, 128
# A shorter name is part of too many good passwords.
MIN_NAME = 3
_PADDING = "0123456789 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
# Characters before normalization, which makes at most one character of four.
MAX_RAW = 4 * MAX_LENGTH
# Passwords that attackers try first; source and licence are in the NOTICE beside it.
_COMMON_FILE = "common_passwords.txt.gz"
_MEMORY_KIB, _ROUNDS, _LANES = 19_456, 2, 1

# The hash of a password that no account has: a check against it costs as much as a real one.
_DUMMY = (
    "$argon2id$v=19$m=19456,t=2,p=1"
    "$TZZzi0HFVGNrUeVZGRsvcg$gbx4GaU8gNfUlaPId+4/Jiv/58AU+w2JfP0WVjwlNFo"
)

# What people type when twelve characters are required. Digits and signs around these words do not
# help: they are removed before the look-up.
_COMMON = frozenset(
    """
    abcdefghijkl abcdefghijklm administrator adminadminadmin asdfghjklasdf belvedere changeme
    changemeplease changemenow charlie computer correcthorsebatterystaple default dragon football
    hello iloveyou iloveyousomuch kubernetes letmein letmeinletmein letmeinplease login master
    monkey mypassword mysecretpassword newpassword nopassword password passwordpassword
    pleasechangeme princess qazwsxedcrfv qwerty qwertyqwerty qwertyuiop qwertyuiopasdf root
    rootroot secret secretpassword secretsecret shadow sunshine superman superuser supersecret
    supersecretpassword temporary test testpassword testtest thisisapassword thisismypassword
    trustno trustnoone unknown user welcome welcomehome welcometo yourpassword zxcvbnm
    zxcvbnmasdfg
    """.split()  # noqa: SIM905 (a list literal would fill a page)
)
_RUNS = (
    "0123456789" * 4,
    "9876543210" * 4,
    "qwertyuiopasdfghjklzxcvbnm",
    "1q2w3e4r5t6y7u8i9o0p",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik",
    "zaq12wsxcde34rfvbgt56yhnmju78ik",
)


def _hasher() -> PasswordHasher:
    return PasswordHasher(time_cost=_ROUNDS, memory_cost=_MEMORY_KIB, parallelism=_LANES)


def check(password: str, names: Iterable[str] = ()) -> None:
    """Refuse what is too short, too long, or what attackers try first. `names` are those of the
    person and of the organization, which attackers try too."""
    text = _normalize(password)
    if len(text) < MIN_LENGTH:
        raise _invalid_password(f"A password must have at least {MIN_LENGTH} characters.")
    if _is_too_long(password, text):
        raise _invalid_password(f"A password can have at most {MAX_LENGTH} characters.")
    folded = text.casefold()
    if _is_name(folded, names):
        raise _invalid_password(
            "This password is your name or that of the organization. Choose another one."
        )
    if _is_common(folded):
        raise _invalid_password("This password is too common. Choose another one.")


def new_digest(password: str, names: Iterable[str] = ()) -> str:
    """The hash of a new password; Invalid when it is not acceptable."""
    check(password, names)
    return digest(password)


def digest(password: str) -> str:
    """The hash that is stored."""
    return _hasher().hash(_normalize(password))


def matches(password_hash: str | None, password: str) -> bool:
    """Whether the password belongs to the hash. Takes the same time when there is no user or no
    hash."""
    text = _normalize(password)
    # Hashing a password of a megabyte would take correspondingly long.
    is_candidate = password_hash is not None and not _is_too_long(password, text)
    try:
        _hasher().verify(
            password_hash if is_candidate and password_hash else _DUMMY, text[:MAX_LENGTH]
        )
    except (VerificationError, InvalidHashError):
        return False
    return is_candidate


def needs_rehash(password_hash: str) -> bool:
    """Whether the hash was made with other parameters than the current ones."""
    return _hasher().check_needs_rehash(password_hash)


def _normalize(password: str) -> str:
    # The same letters typed on another keyboard must give the same bytes. Cut first: normalization
    # takes quadratic time, during which no other thread runs.
    text = password[: MAX_RAW + 1].encode("utf-8", "replace").decode()
    return unicodedata.normalize("NFKC", text)


def _is_too_long(password: str, text: str) -> bool:
    return len(password) > MAX_RAW or len(text) > MAX_LENGTH


def _is_common(text: str) -> bool:
    core = text.strip(_PADDING)
    is_repeated = any(text == (text[:n] * len(text))[: len(text)] for n in range(1, 5))
    if is_repeated or text in _COMMON or core in _COMMON or any(text in run for run in _RUNS):
        return True
    return is_listed(_spellings(text))


def is_listed(texts: Iterable[str]) -> bool:
    """Whether one of these texts, in lower case, is in the packaged list. The file is read line by
    line and not cached: passwords are chosen rarely, and on a thread."""
    candidates = {text.encode() for text in texts if text}
    with resources.files("belvedere.access").joinpath(_COMMON_FILE).open("rb") as file:
        return any(line.rstrip(b"\n") in candidates for line in gzip.open(file))


def _spellings(text: str) -> set[str]:
    """The text, without what people append to satisfy a rule, and without its repetition."""
    spellings = {text, text.rstrip("0123456789!"), text.strip(_PADDING)}
    return spellings | {
        spelling[: len(spelling) // 2]
        for spelling in spellings
        if spelling == spelling[: len(spelling) // 2] * 2
    }


def _is_name(text: str, names: Iterable[str]) -> bool:
    spellings = {_letters(spelling) for spelling in _spellings(text)}
    parts = {_letters(part) for name in names for part in _parts(name.casefold())}
    return not spellings.isdisjoint(part for part in parts if len(part) >= MIN_NAME)


def _parts(name: str) -> tuple[str, ...]:
    """The name; of an e-mail address also the parts before and after the @."""
    local, _, domain = name.partition("@")
    return name, local, domain, domain.partition(".")[0]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _invalid_password(message: str) -> Invalid:
    return Invalid(message, code="bad_password", faults=(Fault("password", message),))
