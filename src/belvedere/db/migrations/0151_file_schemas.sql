-- A description of the content of a file, as JSON, that clients of TheEye store with it.
create table file_schemas (
  file_id text not null references files (id) on delete cascade,
  schema text not null,
  primary key (file_id)
);
