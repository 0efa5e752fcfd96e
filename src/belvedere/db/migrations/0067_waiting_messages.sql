-- Messages are claimed in turn by organization, mails of the installation apart from the rest.
create index messages_waiting on messages (customer_id, due_at, id) where state = 'waiting';
create index messages_waiting_mails on messages (customer_id, due_at, id)
  where state = 'waiting' and channel_id is null;
-- Whether a receiver is being called now is asked without reading its history.
create index messages_claimed on messages (channel_id) where claimed_until is not null;
