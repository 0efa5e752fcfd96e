"""Values of indicators by type: charts, HTML."""
