-- Notifications that the inbox shows as one group: the task or workflow of a job, else the object.
-- Empty in older rows.
alter table notifications add column group_id text not null default '';
