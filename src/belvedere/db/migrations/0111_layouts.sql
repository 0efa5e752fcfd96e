-- How the cards of a page are arranged: for one person, or with an empty user for everyone else.
create table layouts (
  customer_id text not null references customers (id),
  user_id text not null,
  page text not null,
  cards text not null,
  updated_at bigint not null,
  primary key (customer_id, user_id, page)
);
