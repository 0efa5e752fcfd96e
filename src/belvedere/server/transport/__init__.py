"""HTTP and WebSocket connections below the application: the only package that uses uvicorn.

Read `interface.py` first: what a transport is. `listener.py` is our own, with `http_protocol.py`
(limits while a request arrives), `connections.py` (limits of all connections), `direct_response.py`
(a response in one write), `agent_websocket.py` and its handshake (`upgrade.py`). `plain.py` is the
library path. `proxies.py` determines the address of a client.
"""
