"""What happens to a job: create, claim, finish, resync, time-outs."""
