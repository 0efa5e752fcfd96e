"""Reading jobs: records, details, pages, and which index a list uses."""
