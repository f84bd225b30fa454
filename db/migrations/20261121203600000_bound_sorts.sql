-- Memory for each sort and each hash table of a request. A page of 20,000 sorted rows fits into it, so PostgreSQL keeps only
-- these rows instead of writing the whole table to disk. docs/operations.md (Memory) counts it for each connection.
-- Lock level: none on tables.

-- In kilobytes, because PostgREST 12.0.2 turns role settings into lower case, and PostgreSQL refuses '64mb'.
alter role gateway set work_mem = 65536;
-- By default, a hash table may take twice as much.
alter role gateway set hash_mem_multiplier = 1;
