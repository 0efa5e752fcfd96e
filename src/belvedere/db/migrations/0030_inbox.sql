-- What a member does not want to find in the inbox: kinds of events, as JSON. No row: everything comes.
create table inboxes (
  customer_id text not null references customers (id),
  user_id text not null,
  muted text not null,
  updated_at bigint not null,
  primary key (user_id, customer_id)
);
