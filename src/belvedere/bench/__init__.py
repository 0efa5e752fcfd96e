"""Measures an installation: `belvedere bench`.

Read `run` first: it starts or finds a server (`environment`), measures it (`measure`) and returns a
`results.Result`, which the command line prints. Every figure is compared with the bare cost of
starting a script on the same machine. Only `cli` imports this package.
"""
