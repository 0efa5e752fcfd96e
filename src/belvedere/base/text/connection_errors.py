"""Sentences for failed connections, in place of the texts of Python and the operating system."""

import errno
import re
import socket
import ssl

_SENTENCES = {
    errno.ECONNREFUSED: "Connection refused{place}: nothing accepts connections there.",
    errno.ECONNRESET: "The connection{place} was closed by the other side.",
    errno.ECONNABORTED: "The connection{place} was closed by the other side.",
    errno.EPIPE: "The connection{place} was closed by the other side.",
    errno.ETIMEDOUT: "No response in time{place}.",
    errno.EHOSTUNREACH: "The host cannot be reached{place}: no route to it.",
    errno.ENETUNREACH: "The network cannot be reached{place}: no route to it.",
    errno.EADDRNOTAVAIL: "The address cannot be used for connections{place}.",
    errno.EACCES: "The operating system does not permit the connection{place}.",
    errno.EPERM: "The operating system does not permit the connection{place}.",
}
# asyncio joins the failures of several addresses into one text without an error number.
_JOINED_ERRNO = re.compile(r"\[Errno (\d+)\]")
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE")


def describe(fault: BaseException, place: str = "") -> str | None:
    """What is wrong with the connection, or None if it is another kind of error."""
    if not isinstance(fault, OSError):
        return None
    # urllib wraps the error of the connection.
    reason = getattr(fault, "reason", None)
    cause = reason if isinstance(reason, BaseException) else fault
    at = f" at {place}" if place else ""
    if isinstance(cause, ssl.SSLError):
        return _tls_sentence(cause)
    if isinstance(cause, socket.gaierror):
        return _name_sentence(cause, place)
    if isinstance(cause, TimeoutError):
        return _SENTENCES[errno.ETIMEDOUT].format(place=at)
    sentence = _SENTENCES.get(_number(cause))
    return None if sentence is None else sentence.format(place=at)


def _number(fault: BaseException) -> int:
    if not isinstance(fault, OSError):
        return 0
    joined = _JOINED_ERRNO.search(str(fault)) if fault.errno is None else None
    return int(joined[1]) if joined else fault.errno or 0


def _name_sentence(fault: socket.gaierror, place: str) -> str:
    name = f"The name {place}" if place else "The host name"
    if fault.errno == socket.EAI_AGAIN:
        return f"{name} cannot be resolved at the moment: the DNS server does not respond."
    return f"{name} cannot be resolved: it is unknown."


def _tls_sentence(fault: ssl.SSLError) -> str:
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"The certificate is not valid: {fault.verify_message.rstrip('.')}."
    reason = getattr(fault, "reason", None) or ""
    if reason in _NO_TLS:
        return "The TLS handshake failed: the other side does not use TLS on this port."
    return f"The TLS handshake failed ({reason.replace('_', ' ').lower() or 'unknown reason'})."
