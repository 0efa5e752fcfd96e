-- Whether members sign in through a provider of the organization only, and passwords are off.
alter table customers add column providers_only bigint not null default 0;
