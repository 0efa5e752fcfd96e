-- The workflows that the newest version of a workflow runs as its nodes: they cannot be deleted.
create table workflow_parts (
  workflow_id text not null,
  part_id text not null,
  primary key (workflow_id, part_id)
);
create index workflow_parts_of_part on workflow_parts (part_id);
