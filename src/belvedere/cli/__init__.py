"""The command line `belvedere`.

`main` has the table of command groups and imports only the module of the group that was called. A
module has a table `COMMANDS` with rows of `framework.command.Command`; `framework.dispatch` parses
the words, runs the command and prints its result. The modules are sorted by subject: `automation`,
`jobs`, `monitoring`, `access` and `server`. `completion` writes the scripts for shells from the
same tables, as `tools/pages/commands.py` writes the page of the documentation.
"""
