"""The files that the server serves to browsers: the console at `/ui/` and the
documentation at `/-/docs/`. Both are built beforehand; `static` and `docs` contain the result.
"""
