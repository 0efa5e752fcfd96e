"""The ASGI application: from a request to a response.

Start with `app`, which calls the others in order: `routing`, `authentication`, `bodies`, the
handler, then `responses` and `compression`. `openapi` describes the same route table. It knows no
feature: handlers come from `server.routes`. `server.transport`, below, reads and writes the
connection.
"""
