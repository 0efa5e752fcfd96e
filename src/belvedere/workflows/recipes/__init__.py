"""Export and import of workflows and tasks as recipes, in TheEye's format.

`format` reads a recipe (pure), `importer` creates what it contains, `export` writes one.
"""
