"""One definition of a task or monitor for every host with a tag, kept in step."""
