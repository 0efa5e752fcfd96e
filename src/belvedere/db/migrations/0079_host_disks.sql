-- Since when an agent's disk cannot take work, and what it lacks.
alter table hosts add column disk_full_at bigint;
alter table hosts add column disk_message text not null default '';
