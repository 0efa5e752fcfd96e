"""The documentation site: the Markdown of docs/ as HTML, with navigation and a search index."""
