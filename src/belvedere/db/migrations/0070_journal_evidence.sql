-- What the server knows of an agent's journal beside its number: the highest fence that it has
-- certainly accepted, and when a hello showed that it may have been rolled back.
alter table hosts add column accepted_fence bigint not null default 0;
alter table hosts add column doubted_at bigint;
