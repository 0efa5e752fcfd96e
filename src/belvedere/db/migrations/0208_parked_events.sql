-- A person does what the consumer could not do, perhaps after the event was deleted.
alter table parked add column kind text not null default '';
alter table parked add column object_id text not null default '';
alter table parked add column data text not null default '{}';
