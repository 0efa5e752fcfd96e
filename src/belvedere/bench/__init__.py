"""Measuring an installation: what `belvedere bench` does."""
