-- The rows of the source files, one per line, in the order of the files. Each table has the columns of the live table.
-- reject_rows.sql finds faults in the rows, and build.sql builds the published tables from them. The loader does all of it in
-- one transaction, so that COPY keeps the order of the files: it ignores the free space map of a table that the same
-- transaction created.

create schema staging;

-- Columns that a file may leave out: build.sql derives them. It numbers the rows anew even if a file has row_number, as bulk files
-- do.
create unlogged table staging.derived_columns as
select unnest(array[
  'auditee_uei',
  'audit_year',
  'fac_accepted_date',
  'is_multiple_eins',
  'is_secondary_auditors',
  'original_submission_date',
  'row_number',
  'resubmission_version',
  'resubmission_status'
]) as name;

-- Where each row comes from: the number of its file, and the row's number in the table. The published tables lack these
-- columns.
do $$
declare
  table_name text;
begin
  for table_name in select tables.name from data_set.tables where tables.is_source order by tables.place loop
    execute format('create unlogged table staging.%1$I as table disclosed.%1$I with no data', table_name);
    execute format(
      'alter table staging.%I add column source_file smallint not null, '
      'add column source_row integer not null generated always as identity (cache 1000)',
      table_name
    );
  end loop;
end
$$;

-- Reports whose row in general the loader left out: none of their rows is published. is_public is that row's text.
create unlogged table staging.rejected_reports (report_id text, is_public text);
