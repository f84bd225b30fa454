-- What deployments record of the data set's tables, for the refreshes that replace them. The functions of this schema
-- (db/functions/data_set) exist before later migrations run, because those migrations call them.
-- Lock level: new tables only.

create schema data_set;
comment on schema data_set is 'The shape of the data set''s tables, and the functions that create and change them.';

create table data_set.tables (
  name text primary key,
  place integer not null generated always as identity,
  is_source boolean not null,
  key_columns text[]
);
comment on table data_set.tables is 'The tables of the data set, recorded by data_set.add_table().';
comment on column data_set.tables.place is 'The order in which they were added, and in which files are read.';
comment on column data_set.tables.is_source is
  'Whether its rows come from source files, and its suppressed rows are in suppressed. The rows of the other tables are computed.';
comment on column data_set.tables.key_columns is 'The columns that are unique together, null included; null if there are none.';

create table data_set.awaited_columns (
  table_name text not null references data_set.tables (name),
  column_name text not null,
  primary key (table_name, column_name)
);
comment on table data_set.awaited_columns is
  'Columns that no published source file has had yet. Source files may lack them; then they are null.';

create table data_set.indexes (
  name text primary key,
  table_name text not null references data_set.tables (name),
  definition text not null,
  purpose text,
  place integer not null,
  hash text not null
);
comment on table data_set.indexes is
  'The indexes of the public tables, recorded by deployments from db/data_set/indexes.sql. Each data set gets them.';
comment on column data_set.indexes.definition is 'What follows the table''s name in CREATE INDEX.';
comment on column data_set.indexes.place is
  'The order in which they are built. Of two indexes that serve a query equally well, PostgreSQL uses the later one.';
comment on column data_set.indexes.hash is
  'The hash of the file and of the functions that indexes may call. Deployments of the same ones keep the record.';
comment on column data_set.indexes.purpose is
  'The index''s comment: a request that needs it, and a hash of the functions that the index calls, if any.';

grant usage on schema data_set to publisher, deployment_planner;
grant select on all tables in schema data_set to publisher;
-- A plan shows which indexes would be built.
grant select on data_set.indexes to deployment_planner;
-- A publication deletes the columns that its files have.
grant delete on data_set.awaited_columns to publisher;
