"""The server: builds all features into one process and connects it to the outside.

Start with `main` (the program), `wiring` (opens the databases and connects the features) and
`routes` (the table of all routes). `transport` and `http` process requests, `agents` the
connections of agents, `background` runs loops and event consumers. `ports` connects functions that
lower packages declare. No other package except `bench` and `cli` imports this one.
"""
