"""Export and import of workflows and tasks as recipes, those of TheEye and our own.

`format` reads a recipe (pure), `importer` creates what it contains, `export` writes one.
"""
