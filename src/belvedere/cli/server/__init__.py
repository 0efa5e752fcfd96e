"""Commands for the machine of the server: up, server, agent, bench, doctor, key."""
