"""How a workflow run goes on: visits, decisions, step jobs, admission."""
