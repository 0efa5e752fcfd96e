"""Output of scripts: capture, spool, upload."""
