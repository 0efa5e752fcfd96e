-- Whether monitors may check loopback and inner addresses, as agents normally shall.
alter table customers add column inner_checks bigint not null default 1;
