"""One file per kind of check, loaded on demand."""
