-- The text index of jobs (db/sqlite/text_index.py): name, id, starter, arguments and result. It has no
-- copy of the texts, and of their trigrams only in which rows they are.
create virtual table job_search using fts5 (
  scopes, text, id unindexed,
  tokenize = 'trigram', content = '', contentless_delete = 1, contentless_unindexed = 1, detail = none
)
;;
-- One row: jobs from this id on are in the index, empty for all; without it nothing is.
create table job_search_progress (reached text not null)
;;
