-- An account is the person's own (empty scope) or belongs to one organization (its id): then nothing
-- that was proved there reaches another organization.
alter table users add column scope text not null default '';
-- What shows that the password is the address owner's: mail, operator; empty: nothing does.
alter table users add column proof text not null default '';
alter table users drop constraint users_email_key;
alter table users drop constraint users_username_key;
alter table users add constraint users_email_in_scope unique (email, scope);
alter table users add constraint users_username_in_scope unique (username, scope);
