-- Jobs with sealed values, for whoever changes the key: history may hold millions of others.
create index jobs_sealed on jobs (id) where arguments like '%{"$sealed":"%';
