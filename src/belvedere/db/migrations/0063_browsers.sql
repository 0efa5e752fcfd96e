-- Browsers that a person signed in with before: the digest of a cookie that grants nothing by itself.
alter table sessions add column browser text not null default '';
create index sessions_of_browser on sessions (browser) where browser <> '';
-- The browser that gave the password; only it can give the code.
alter table tickets add column browser text not null default '';
-- Wrong codes from such browsers, counted apart from those of strangers.
alter table second_factors add column known_wrong_codes bigint not null default 0;
alter table second_factors add column known_wrong_since bigint not null default 0;
