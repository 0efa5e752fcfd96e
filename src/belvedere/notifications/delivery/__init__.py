"""Messages on their way: texts, outbox, dispatcher."""
