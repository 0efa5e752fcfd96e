-- Where messages go.
create table channels (
  id text primary key,
  customer_id text not null references customers (id),
  name text not null,
  -- What kind of receiver it is (Webhook, Slack, E-Mail, …), and as much of its address as may be seen.
  service text not null,
  shown text not null,
  -- The address, sealed: whoever has it can write there.
  box text not null,
  enabled bigint not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index channels_of_customer on channels (customer_id, id);

-- What is told, through which channels. Lists are JSON; an empty one excludes nothing.
create table rules (
  id text primary key,
  customer_id text not null references customers (id),
  name text not null,
  enabled bigint not null,
  channels text not null,
  kinds text not null,
  objects text not null,
  states text not null,
  tags text not null,
  -- LOW, HIGH or CRITICAL: the least that is told.
  severity text not null,
  -- {} or from, to, zone and but_critical.
  quiet text not null,
  -- So many milliseconds of events become one message.
  window_ms bigint not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index rules_of_customer on rules (customer_id, id);
create index rules_enabled on rules (customer_id) where enabled = 1;

-- What is on its way, went out, or could not. One row is sent until somebody took it: the same id
-- at every try.
create table messages (
  id text primary key,
  customer_id text not null,
  -- null: a test, or a mail of the installation to `recipient`.
  rule_id text,
  channel_id text,
  recipient text not null,
  -- waiting, sent or dead
  state text not null,
  severity text not null,
  title text not null,
  -- What happened, oldest first, as JSON; `more` were too many to keep.
  notices text not null,
  more bigint not null,
  -- The sealed text of a mail that holds a link; wiped when it is sent.
  box text,
  due_at bigint not null,
  -- A number that only grows; whoever reports must have the current one.
  attempts bigint not null,
  -- Where the count stood when somebody asked for more tries.
  counted_from bigint not null,
  -- A server has it until then; one that died does not come back to it.
  claimed_until bigint,
  tries text not null,
  sent_at bigint,
  created_at bigint not null
);
create index messages_due on messages (due_at) where state = 'waiting';
create index messages_gathering on messages (rule_id, channel_id) where state = 'waiting';
create index messages_of_channel on messages (channel_id);
create index messages_of_customer on messages (customer_id, id);
create index messages_over on messages (created_at) where state <> 'waiting';

-- Everybody's inbox.
create table notifications (
  id text primary key,
  customer_id text not null,
  user_id text not null,
  kind text not null,
  object text not null,
  object_id text not null,
  severity text not null,
  title text not null,
  body text not null,
  read_at bigint,
  created_at bigint not null
);
create index notifications_of_user on notifications (user_id, customer_id, id);
create index notifications_by_age on notifications (created_at);
create index notifications_unread on notifications (user_id, customer_id) where read_at is null;
