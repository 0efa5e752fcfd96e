-- Which event starts which task or workflow: one relation, seen from both sides.
create table triggers (
  customer_id text not null,
  -- webhook, task, workflow, monitor or indicator, and the name of what happened to it
  source text not null,
  source_id text not null,
  event_name text not null,
  -- task or workflow
  target text not null,
  target_id text not null,
  created_at bigint not null,
  primary key (source, source_id, event_name, target, target_id)
);
create index triggers_of_target on triggers (target, target_id);
