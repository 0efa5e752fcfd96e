"""Files and output between server and agents."""
