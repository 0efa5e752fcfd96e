-- The list of an organization's hosts.
create index hosts_of_customer on hosts (customer_id, id) where deleted_at is null;
