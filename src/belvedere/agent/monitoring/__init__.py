"""Checks: scheduler, checker process, script checks, samples."""
