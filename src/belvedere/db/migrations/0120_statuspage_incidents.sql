-- Incidents that people post on a status page.
create table statuspage_incidents (
  id text primary key,
  customer_id text not null references customers (id),
  statuspage_id text not null references statuspages (id),
  title text not null,
  impact text not null,
  state text not null,
  -- JSON: time, state and text of each update, oldest first.
  updates text not null,
  started_at bigint not null,
  ended_at bigint,
  updated_at bigint not null
);
create index incidents_of_statuspage on statuspage_incidents (statuspage_id, id);

-- The logo of a status page: base64 of an image that was checked.
create table statuspage_logos (
  statuspage_id text primary key references statuspages (id),
  customer_id text not null references customers (id),
  media_type text not null,
  sha256 text not null,
  content text not null
);

-- People who get a mail when an incident is posted; confirmed_at is null until they confirm.
create table statuspage_subscribers (
  id text primary key,
  customer_id text not null references customers (id),
  statuspage_id text not null references statuspages (id),
  email text not null,
  created_at bigint not null,
  confirmed_at bigint,
  unique (statuspage_id, email)
);

-- Mails about an incident that are not queued for every subscriber yet.
create table statuspage_mailings (
  id text primary key,
  customer_id text not null references customers (id),
  statuspage_id text not null references statuspages (id),
  title text not null,
  body text not null,
  -- The last subscriber who has a mail.
  position text not null
);
