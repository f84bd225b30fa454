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
  -- Whether the fault is not in this row, but in the report's row in general.
  is_consequence boolean not null default false
);

-- If a file has a report twice, the first row counts.
insert into staging.faults
  (source_file, source_row, table_name, column_name, value, problem, other_file, other_row)
select
  ranked.source_file, ranked.source_row, 'general', 'report_id', ranked.report_id, 'is a duplicate',
  ranked.first_file, ranked.first_row
from (
  select
    general.source_file,
    general.source_row,
    general.report_id,
    row_number() over by_place as place,
    first_value(general.source_file) over by_place as first_file,
    first_value(general.source_row) over by_place as first_row
  from staging.general
  where general.report_id in (
    select same.report_id from staging.general as same
    group by same.report_id, same.source_file having count(*) > 1
  )
  window by_place as (partition by general.report_id, general.source_file order by general.source_row)
) as ranked
where ranked.place > 1;

-- Files of one table may overlap. If a later file has the same rows of a report as the first file with that report, in any
-- order, its rows are deleted. If it has other rows, they are faults: nobody knows which file is right.
create unlogged table staging.shared_reports (
  table_name text not null,
  report_id text not null,
  source_file smallint not null,
  is_repetition boolean not null,
  rows bigint not null,
  first_file smallint not null,
  first_row integer not null
);

create function staging.has_several_files(source_table text)
returns boolean
language plpgsql stable
as $$
declare
  answer boolean;
begin
  execute format(
    'select exists (select from staging.%1$I where source_file <> (select one.source_file from staging.%1$I as one limit 1))',
    source_table
  ) into answer;
  return answer;
end
$$;

-- Finds the reports that a later file of a table has, too. The content of a report in a file is the hash of its rows' hashes.
create function staging.find_shared_reports(source_table text)
returns void
language plpgsql volatile
as $$
declare
  columns text;
begin
  select string_agg(format('source.%I', attname), ', ' order by attnum)
  into strict columns
  from pg_catalog.pg_attribute
  where attrelid = format('staging.%I', source_table)::regclass and attnum > 0 and not attisdropped
    and attname not in ('source_file', 'source_row');
  execute format(
    $sql$
      insert into staging.shared_reports
      with digested as (
        select source.report_id, source.source_file, source.source_row, sha256(convert_to(row(%2$s)::text, 'UTF8')) as digest
        from staging.%1$I as source
        where source.report_id in (
          select report_id from staging.%1$I group by report_id having min(source_file) <> max(source_file)
        )
        and not exists (
          select from staging.faults
          where faults.table_name = %1$L
            and faults.source_file = source.source_file and faults.source_row = source.source_row
        )
      ), by_report as (
        select
          report_id, source_file, count(*) as rows, min(source_row) as first_row,
          sha256(string_agg(digest, '' order by digest)) as content
        from digested
        group by report_id, source_file
      ), compared as (
        select
          report_id, source_file, content = first_value(content) over by_file as is_repetition, rows,
          first_value(source_file) over by_file as first_file, first_value(first_row) over by_file as first_row
        from by_report
        window by_file as (partition by report_id order by source_file)
      )
      select %1$L, compared.* from compared where source_file <> first_file
    $sql$,
    source_table, columns
  );
end
$$;

-- The rows of a report in a later file that has other rows than the first file.
create function staging.reject_contradictions(source_table text)
returns void
language plpgsql volatile
as $$
begin
  execute format(
    $sql$
      insert into staging.faults
        (source_file, source_row, table_name, column_name, value, problem, other_file, other_row)
      select
        source.source_file, source.source_row, %1$L, 'report_id', source.report_id, 'has other content in another file',
        shared_reports.first_file, shared_reports.first_row
      from staging.%1$I as source
      join staging.shared_reports on shared_reports.table_name = %1$L and shared_reports.report_id = source.report_id
        and shared_reports.source_file = source.source_file and not shared_reports.is_repetition
      where not exists (
        select from staging.faults
        where faults.table_name = %1$L
          and faults.source_file = source.source_file and faults.source_row = source.source_row
      )
    $sql$,
    source_table
  );
end
$$;

create function staging.delete_repetitions(source_table text)
returns void
language plpgsql volatile
as $$
begin
  execute format(
    $sql$
      delete from staging.%1$I as source
      using staging.shared_reports
      where shared_reports.table_name = %1$L and shared_reports.report_id = source.report_id
        and shared_reports.source_file = source.source_file and shared_reports.is_repetition
    $sql$,
    source_table
  );
end
$$;

do $$
declare
  source_table text;
begin
  for source_table in select name from staging.source_tables loop
    continue when not staging.has_several_files(source_table);
    perform staging.find_shared_reports(source_table);
    perform staging.reject_contradictions(source_table);
    perform staging.delete_repetitions(source_table);
  end loop;
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

insert into staging.faults (source_file, source_row, table_name, column_name, value, problem)
select
  general.source_file, general.source_row, 'general', 'report_id', general.report_id,
  staging.find_report_id_fault(general.report_id)
from staging.general
where staging.find_report_id_fault(general.report_id) is not null;

-- If the loader left out a report's row in one file, its row in another file is left out, too.
insert into staging.faults (source_file, source_row, table_name, column_name, value, problem, is_consequence)
select
  general.source_file, general.source_row, 'general', 'report_id', general.report_id,
  'belongs to a report that is left out', true
from staging.general
where general.report_id in (select rejected.report_id from staging.rejected_reports as rejected)
  and not exists (
    select from staging.faults
    where faults.source_file = general.source_file and faults.source_row = general.source_row
  );

-- One row for each report: whether its rows are public, suppressed or superseded.
create unlogged table staging.reports as
select
  general.report_id,
  general.auditee_uei,
  general.audit_year,
  general.fac_accepted_date,
  -- A report is public only if all its rows in general say so. Null means not public.
  general.report_id not in (
    select doubtful.report_id from staging.general as doubtful
    where doubtful.is_public is not true and doubtful.report_id is not null
  ) as is_public,
  general.resubmission_status is not distinct from 'deprecated_via_resubmission'
    or general.report_id in (
      select resubmission.report_id
      from staging.resubmission
      where resubmission.status = 'deprecated_via_resubmission'
    ) as is_superseded
from staging.general
where not exists (
  select
  from staging.faults
  where faults.source_file = general.source_file and faults.source_row = general.source_row
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

insert into staging.rejected_reports (report_id)
select faults.value from staging.faults where faults.value is not null and faults.other_row is null;

-- A row without a report is a fault, because the report could be suppressed.
create function staging.reject_rows_without_report(child text)
returns void
language plpgsql volatile
as $$
begin
  execute format(
    $sql$
      insert into staging.faults
        (source_file, source_row, table_name, column_name, value, problem, is_consequence)
      select
        source.source_file, source.source_row, %1$L, 'report_id', source.report_id,
        case
          when rejected.report_id is not null then 'belongs to a report that is left out'
          else coalesce(staging.find_report_id_fault(source.report_id), 'is not a report in general')
        end,
        rejected.report_id is not null
      from staging.%1$I as source
      left join (select distinct report_id from staging.rejected_reports) as rejected
        on rejected.report_id = source.report_id
      where not exists (select from staging.reports where reports.report_id = source.report_id)
    $sql$,
    child
  );
end
$$;

create function staging.delete_faulty_rows(source_table text)
returns void
language plpgsql volatile
as $$
begin
  execute format(
    $sql$
      delete from staging.%1$I as source
      using staging.faults
      where faults.table_name = %1$L
        and faults.source_file = source.source_file and faults.source_row = source.source_row
    $sql$,
    source_table
  );
end
$$;

select staging.reject_rows_without_report(name) from staging.source_tables where name <> 'general';

-- Totals and bulk files use the audit year of the award.
insert into staging.faults (source_file, source_row, table_name, column_name, value, problem)
select
  source.source_file, source.source_row, 'federal_awards', 'audit_year', source.audit_year,
  'is not the audit year of its report in general'
from staging.federal_awards as source
join staging.reports on reports.report_id = source.report_id
where source.audit_year <> reports.audit_year
  and not exists (
    select from staging.faults
    where faults.source_file = source.source_file and faults.source_row = source.source_row
  );

select staging.delete_faulty_rows(table_name) from (select distinct table_name from staging.faults) as faulty;
