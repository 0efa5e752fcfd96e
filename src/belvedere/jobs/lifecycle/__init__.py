"""What happens to a job: create, claim, finish, time out."""
