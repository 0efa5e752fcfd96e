-- The server merges the parts of the index in small steps. FTS5 itself would do so inside the write
-- that adds a part, for hundreds of milliseconds.
insert into job_search (job_search, rank) values ('automerge', 0)
;;
-- A part is rewritten without its deleted rows once they are 40 % of it, instead of 10 %.
insert into job_search (job_search, rank) values ('deletemerge', 40)
;;
