-- The text index of jobs (db/postgres/text_index.py): trigrams of name, id, starter, arguments and
-- result, and the scopes of the job.
create table job_search (id text primary key, lexemes tsvector not null);
-- A short list of pending entries: every search reads it.
create index job_search_lexemes on job_search using gin (lexemes) with (gin_pending_list_limit = 512);
-- One row: jobs from this id on are in the index, empty for all; without it nothing is.
create table job_search_progress (reached text not null);
