"""Starting, finding, grouping and ending processes."""
