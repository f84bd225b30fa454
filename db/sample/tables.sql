-- The tables that the CSV files of this folder fill. scripts/sample/write-sample.ts runs and loads the files in one
-- transaction, which it rolls back, so nothing stays in the database.

create schema sample;

-- An item with more slots is drawn more often. A list whose name is a column's, or a pattern such as %phone, has values for
-- columns that nothing else depends on.
create table sample.words (list text, slots int, item text, place int generated always as identity);

create table sample.places (
  state text, state_name text, zip text, slots int, cities text[], counties text[]
);

create table sample.programs (
  program text, slots int, cluster text, name text,
  agency text generated always as (split_part(program, '.', 1)) stored,
  extension text generated always as (split_part(program, '.', 2)) stored
);

create table sample.entity_types (
  entity_type text, slots int, size double precision, with_findings double precision, programs text[]
);

-- Fixed values of a few auditees and submissions, so that examples can name them.
create table sample.pinned_auditees (
  auditee int, entity_type text, auditee_uei text, auditee_ein text, auditee_state text, auditee_zip text,
  auditee_city text, auditee_name text, year_end_month int, last_year int
);

-- A program is such as "93.045 N": its number, and whether the award is direct.
create table sample.pinned_submissions (
  index bigint, awards int, findings int, supersedes int, has_first_firm boolean, has_material_weakness boolean,
  has_extras boolean, prior_agencies text, is_public boolean[], programs text[]
);
