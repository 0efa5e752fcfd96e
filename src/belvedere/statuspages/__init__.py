"""What an organization shows to everybody: public names, states, uptime; nothing else."""
