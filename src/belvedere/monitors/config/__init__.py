"""Configuration of monitors: types, validation, bodies, maintenance windows."""
