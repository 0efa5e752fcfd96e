"""A web page for the checks that are measured, answered by a thread of the bench.

If the measured server answered them, its response to a new connection would count as the cost of a
check, and is three times as expensive as the check itself.
"""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
# An agent that connects and sends nothing must not block the others.
REQUEST_TIMEOUT_S = 5.0


@contextmanager
def web_page() -> Iterator[str]:
    """Its URL."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        thread = threading.Thread(target=_serve, args=(listener,), name="web page")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            # Ends the accept of the thread, which a close alone would not.
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket) -> None:
    # OSError: the listener was shut down.
    with contextlib.suppress(OSError):
        while True:
            peer, _ = listener.accept()
            with peer, contextlib.suppress(OSError):
                peer.settimeout(REQUEST_TIMEOUT_S)
                peer.recv(65_536)
                peer.sendall(RESPONSE)
