"""From samples to states: transitions, changes, roll-ups, watchdog."""
