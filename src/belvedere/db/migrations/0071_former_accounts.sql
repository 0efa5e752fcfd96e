-- The accounts that a membership belonged to before the person's own: jobs, schedules and approval
-- tasks of that organization still name them.
create table former_accounts (
  customer_id text not null references customers (id) on delete cascade,
  former_id text not null,
  user_id text not null,
  primary key (customer_id, former_id)
);
create index former_accounts_of_user on former_accounts (user_id, customer_id);
