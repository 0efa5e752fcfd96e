"""Updates of the agent by its server: offer, transfer, the programs on disk and the rollback."""
