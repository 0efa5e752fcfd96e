"""Reading jobs: records, details, pages, choice of an index."""
