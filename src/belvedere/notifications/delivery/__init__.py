"""How messages reach their receivers: their rows (`messages`), claims and results (`outbox`), the
sending loop (`dispatcher`) and their texts (`message_text`)."""
