"""What a workflow is: specification, graph, nesting, rows and versions."""
