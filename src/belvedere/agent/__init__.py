"""The agent: the program on a host that runs jobs and checks for a server.

`main` is the program. `connection` talks to the server, `keeper_client` to the keeper, a separate
process (`keeper`) that starts the scripts (`processes`, `workdir`), captures their `output` and
writes the `journal`. `monitoring` schedules `checks`. `setup` enrols and installs. The agent
imports only `base` and `protocol` of this project. The `__init__` files that the keeper loads
import nothing, to keep its memory small.
"""
