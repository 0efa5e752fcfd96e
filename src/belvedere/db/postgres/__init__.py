"""PostgreSQL: threads with connections, deadlines, row batches, LISTEN and NOTIFY."""
