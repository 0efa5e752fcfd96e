"""`/-/metrics`: metrics of this server and its database, for Prometheus.

What this process does is counted where it happens (`base.counters`, `jobs.tallies`, histograms of
the databases and the event loop). What the database knows is counted when the metrics are read,
with bounded work, and kept for some seconds.
"""
