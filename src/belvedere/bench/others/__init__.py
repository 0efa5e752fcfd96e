"""Other job queues with the same workload: `measure` installs them in a temporary environment and
runs the programs `huey_program` and `procrastinate_program` there."""
