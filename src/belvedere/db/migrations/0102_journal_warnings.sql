-- Since when the server refuses the agent's journal, and why.
alter table hosts add column journal_refused_at bigint;
alter table hosts add column journal_message text not null default '';
-- When a hello was refused because its number was not above the last one.
alter table hosts add column stale_hello_at bigint;
-- When the agent's journal was last found to be older than before.
alter table hosts add column rolled_back_at bigint;
