"""Variables and secret values for scripts: sealed at rest, in the environment, hidden in output."""
