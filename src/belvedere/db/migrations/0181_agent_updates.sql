-- Since when the agent could not be updated, and why; empty after an update that succeeded.
alter table hosts add column update_failed_at bigint;
alter table hosts add column update_error text not null default '';
