-- Events that a reaction could not digest: set aside, shown by `belvedere doctor`.
create table parked (
  reaction text not null,
  event_id bigint not null,
  at bigint not null,
  fault text not null,
  primary key (reaction, event_id)
);
