"""Export of traces by OTLP/HTTP with JSON, off by default (`BELVEDERE_OTLP_URL`)."""
