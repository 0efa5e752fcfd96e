"""What every command uses: dispatch, rendering, look-up, profile, terminal."""
