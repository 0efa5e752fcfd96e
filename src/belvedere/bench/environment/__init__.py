"""What is measured: temporary servers, databases and agents, and the memory and CPU they use."""
