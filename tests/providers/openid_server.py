"""The same provider as a separate process: `python openid_server.py`. It prints its address on
standard output, and ends with its standard input."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from providers.openid import Provider


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}/realm")
    provider.person = json.loads(sys.stdin.readline())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("content-length", "0"))
            body = self.rfile.read(size).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = provider.answer(self.command, self.path, headers, body)
            data = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            if answer.location:
                self.send_header("Location", answer.location)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """No log lines."""

    server.RequestHandlerClass = Handler
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(provider.issuer, flush=True)
    # The other end writes who signs in next, one person per line.
    for line in sys.stdin:
        provider.person = json.loads(line)
        print("done", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
