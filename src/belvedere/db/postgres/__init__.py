"""PostgreSQL behind the interface of `db`.

Start with `database` (threads with connections that run operations) and `transaction` (the SQL in
which it differs). `connection` replaces the cursors of the driver, `row_batches` combines
statements, `deadlines` limits every wait, `timeline` detects a restored or promoted server.
`notify` sends signals between servers. Outside of `db` only `server.wiring` and `bench` import this
package.
"""
