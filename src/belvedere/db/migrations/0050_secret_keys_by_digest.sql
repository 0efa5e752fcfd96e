-- A secret in an address is checked before the body that may name its task is read.
create index secret_keys_by_digest on secret_keys (digest);
create index secret_keys_by_old_digest on secret_keys (old_digest) where old_digest is not null;
