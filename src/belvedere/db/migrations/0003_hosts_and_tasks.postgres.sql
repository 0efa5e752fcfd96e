create table blobs (sha256 text primary key, size bigint not null, content bytea not null);
