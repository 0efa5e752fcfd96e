-- When a piece of output reached the server; older pieces do not know.
alter table log_chunks add column written_at bigint;
