-- Finds faults that only the whole data set shows, and deletes the rows that have them. The loader decides whether the rest
-- is published, by the number of faults that it tolerates. It has already left out rows with values of the wrong type.

create unlogged table staging.faults (
  source_file smallint not null,
  source_row integer not null,
  table_name text not null,
  column_name text not null,
  value text,
  problem text not null,
  -- The first row that has the value.
  other_file smallint,
  other_row integer,
  -- The report that is left out because of this fault.
  rejected_report text,
  -- Whether the fault is not in this row, but in another row of its report.
  is_consequence boolean not null default false
);

-- Runs a rule for a table: %1$I is its name, %2$s its columns, and %3$s the columns of its unique key.
create function staging.check_table(source_table text, rule text)
returns void
language plpgsql volatile
as $$
begin
  execute format(
    rule, source_table,
    (
      select string_agg(quote_ident(attname), ', ' order by attnum)
      from pg_catalog.pg_attribute
      where attrelid = format('staging.%I', source_table)::regclass and attnum > 0 and not attisdropped
        and attname not in ('source_file', 'source_row', 'row_number')
    ),
    (
      select string_agg(quote_ident(key_column), ', ')
      from data_set.tables
      cross join lateral unnest(tables.key_columns) as key_column
      where tables.name = source_table
    )
  );
end
$$;

create function staging.find_report_id_fault(report_id text)
returns text
language sql immutable
return case
  when report_id is null then 'is missing'
  when report_id !~ '^[0-9]{4}-[0-9]{2}-(GSAFAC|CENSUS)-[0-9]{10}$'
    then 'is not a valid report ID (example: 2023-06-GSAFAC-0000000001)'
end;

-- A report is remembered as suppressed if any of its rows in general does not mark it as public, even if the row or the report is
-- left out. Null means not public.
create unlogged table staging.marked_suppressed as
select marked.report_id
from (
  select general.report_id, general.is_public from staging.general
  union all
  select
    rejected.report_id,
    case when pg_input_is_valid(rejected.is_public, 'boolean') then rejected.is_public::boolean end
  from staging.rejected_reports as rejected
) as marked
where marked.is_public is not true and staging.find_report_id_fault(marked.report_id) is null
group by marked.report_id;

-- general: every row has a report ID and, because the other tables take it from here, a UEI.
with rejected as (
  delete from staging.general
  where staging.find_report_id_fault(general.report_id) is not null or general.auditee_uei is null
  returning general.*, staging.find_report_id_fault(general.report_id) as report_id_fault
)
insert into staging.faults (source_file, source_row, table_name, column_name, value, problem, rejected_report)
select
  rejected.source_file, rejected.source_row, 'general',
  case when rejected.report_id_fault is null then 'auditee_uei' else 'report_id' end,
  case when rejected.report_id_fault is not null then rejected.report_id end,
  coalesce(rejected.report_id_fault, 'is missing'),
  rejected.report_id
from rejected;

-- Rows of a file with the same key. Of copies, the first counts. If the rows differ, nobody knows which is right, so the whole
-- report is left out. Null counts as a value, as in the constraints.
select staging.check_table(tables.name, $rule$
  with repeated as (
    select report_id from staging.%1$I group by source_file, %3$s having count(*) > 1
  ), compared as (
    select
      source_row,
      first_value(source_row) over same_key as first_row,
      row(%2$s)::text = first_value(row(%2$s)::text) over same_key as is_copy
    from staging.%1$I
    where report_id in (select repeated.report_id from repeated)
    window same_key as (partition by source_file, %3$s order by source_row)
  ), rejected as (
    delete from staging.%1$I as source
    using compared
    where source.source_row = compared.source_row and compared.first_row < compared.source_row
    returning source.*, compared.first_row, compared.is_copy
  )
  insert into staging.faults
    (source_file, source_row, table_name, column_name, value, problem, other_file, other_row, rejected_report)
  select
    source_file, source_row, %1$L, %3$L, array_to_string(array[%3$s], ', ', 'null'),
    case when is_copy then 'is a duplicate' else 'is a duplicate with other values' end,
    source_file, first_row, case when not is_copy then report_id end
  from rejected
$rule$)
from data_set.tables where tables.is_source and tables.key_columns is not null;

-- Files of one table may overlap. If a later file has the same rows of a report as the first file with that report, in any
-- order, its rows are deleted. If it has other rows, they are faults, and the whole report is left out.
create unlogged table staging.shared_reports (
  table_name text not null,
  report_id text not null,
  source_file smallint not null,
  is_repetition boolean not null,
  rows bigint not null,
  first_file smallint not null,
  first_row integer not null
);

-- The content of a report in a file is the hash of its rows' hashes.
select staging.check_table(tables.name, $rule$
  insert into staging.shared_reports
  with shared as (
    select report_id from staging.%1$I
    -- Evaluated once, and false if there is only one file.
    where exists (select from staging.%1$I where source_file <> (select one.source_file from staging.%1$I as one limit 1))
    group by report_id
    having min(source_file) <> max(source_file)
  ), digested as (
    select report_id, source_file, source_row, sha256(convert_to(row(%2$s)::text, 'UTF8')) as digest
    from staging.%1$I
    where report_id in (select shared.report_id from shared)
  ), by_file as (
    select
      report_id, source_file, count(*) as rows, min(source_row) as first_row,
      sha256(string_agg(digest, '' order by digest)) as content
    from digested
    group by report_id, source_file
  ), compared as (
    select
      report_id, source_file, content = first_value(content) over by_place as is_repetition, rows,
      first_value(source_file) over by_place as first_file, first_value(first_row) over by_place as first_row
    from by_file
    window by_place as (partition by report_id order by source_file)
  )
  select %1$L, compared.* from compared where source_file <> first_file
$rule$)
from data_set.tables where tables.is_source;

select staging.check_table(shared_tables.table_name, $rule$
  with rejected as (
    delete from staging.%1$I as source
    using staging.shared_reports as shared
    where shared.table_name = %1$L and shared.report_id = source.report_id and shared.source_file = source.source_file
    returning shared.*, source.source_row
  )
  insert into staging.faults
    (source_file, source_row, table_name, column_name, value, problem, other_file, other_row, rejected_report)
  select
    source_file, source_row, %1$L, 'report_id', report_id, 'has other content in another file', first_file, first_row,
    report_id
  from rejected
  where not is_repetition
$rule$)
from (select distinct shared_reports.table_name from staging.shared_reports) as shared_tables;

insert into staging.rejected_reports (report_id)
select faults.rejected_report from staging.faults where faults.rejected_report is not null;

-- One row for each report: whether its rows are public, suppressed or superseded.
create unlogged table staging.reports as
select
  general.report_id,
  general.auditee_uei,
  general.audit_year,
  general.fac_accepted_date,
  -- Null means not public.
  general.is_public is true as is_public,
  general.resubmission_status is not distinct from 'deprecated_via_resubmission'
    or general.report_id in (
      select resubmission.report_id
      from staging.resubmission
      where resubmission.status = 'deprecated_via_resubmission'
    ) as is_superseded
from staging.general
where not exists (
  select from staging.rejected_reports as rejected where rejected.report_id = general.report_id
);

alter table staging.reports add constraint reports_report_id_is_unique unique (report_id);

-- A report that was ever suppressed stays suppressed until someone releases it, even if these files call it public.
create unlogged table staging.kept_suppressed as
select reports.report_id
from staging.reports
where reports.is_public and reports.report_id in (
  select suppressed_reports.report_id from publication.suppressed_reports
);
update staging.reports set is_public = false
where reports.report_id in (select kept_suppressed.report_id from staging.kept_suppressed);
analyze staging.reports;

-- Every row belongs to a report in general, because the report could be suppressed, and has its report's UEI, audit year and
-- date. Totals and bulk files use them.
select staging.check_table(tables.name, $rule$
  with rejected as (
    delete from staging.%1$I as source
    where not exists (
      select
      from staging.reports
      where reports.report_id = source.report_id
        and (source.auditee_uei is null or source.auditee_uei = reports.auditee_uei)
        and (source.audit_year is null or source.audit_year = reports.audit_year)
        and (source.fac_accepted_date is null or source.fac_accepted_date = reports.fac_accepted_date)
    )
    returning source.*
  ), explained as (
    select
      rejected.*,
      left_out.report_id is not null as is_left_out,
      reports.report_id is null as has_no_report,
      case
        when reports.report_id is null then 'report_id'
        when rejected.auditee_uei <> reports.auditee_uei then 'auditee_uei'
        when rejected.audit_year <> reports.audit_year then 'audit_year'
        else 'fac_accepted_date'
      end as column_name
    from rejected
    left join staging.reports on reports.report_id = rejected.report_id
    left join (select distinct report_id from staging.rejected_reports) as left_out on left_out.report_id = rejected.report_id
  )
  insert into staging.faults (source_file, source_row, table_name, column_name, value, problem, is_consequence)
  select
    source_file, source_row, %1$L, column_name, to_jsonb(explained) ->> column_name,
    case
      when is_left_out then 'belongs to a report that is left out'
      when has_no_report then coalesce(staging.find_report_id_fault(report_id), 'is not a report in general')
      else 'differs from its report in general'
    end,
    is_left_out
  from explained
$rule$)
from data_set.tables where tables.is_source;
