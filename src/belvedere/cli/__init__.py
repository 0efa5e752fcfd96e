"""The `belvedere` command: one file per noun, each a client of the public interface."""
