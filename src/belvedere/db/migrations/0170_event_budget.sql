-- How many events an organization has of each object, besides those of jobs, which are deleted with
-- their job; and the newest one that was deleted. Filled in small steps in the background.
create table event_counts (
  customer_id text not null,
  object text not null,
  events bigint not null,
  deleted_at bigint not null default 0,
  deleted_xid bigint,
  deleted_id bigint,
  primary key (customer_id, object)
);
create index event_counts_by_size on event_counts (events);
create index events_of_customer on events (customer_id, object, id) where object <> 'job';
