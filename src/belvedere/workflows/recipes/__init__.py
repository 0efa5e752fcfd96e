"""Export and import of workflows and tasks as recipes."""
