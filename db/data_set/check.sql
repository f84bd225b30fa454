-- Finds what is wrong with the rows of the staging tables, and where it stands, and takes those rows out. Whether
-- the rest is published then depends on how many the loader tolerates. COPY has taken out values of a wrong type.

create unlogged table staging.faults (
  source_file smallint not null,
  source_line integer not null,
  table_name text not null,
  column_name text not null,
  value text,
  problem text not null,
  -- Where the same value stands already.
  other_file smallint,
  other_line integer,
  -- Whether it is only the report's row in general that is wrong.
  is_consequence boolean not null default false
);

-- Of a report that a file holds twice, the first row is the one that counts.
insert into staging.faults
  (source_file, source_line, table_name, column_name, value, problem, other_file, other_line)
select
  ranked.source_file, ranked.source_line, 'general', 'report_id', ranked.report_id, 'stands there twice',
  ranked.first_file, ranked.first_line
from (
  select
    general.source_file,
    general.source_line,
    general.report_id,
    row_number() over by_place as place,
    first_value(general.source_file) over by_place as first_file,
    first_value(general.source_line) over by_place as first_line
  from staging.general
  where general.report_id in (
    select same.report_id from staging.general as same
    group by same.report_id, same.source_file having count(*) > 1
  )
  window by_place as (partition by general.report_id, general.source_file order by general.source_line)
) as ranked
where ranked.place > 1;

-- Files of one table may overlap. What a later file says of a report is dropped when it says the same as the first file
-- with that report, row for row in whatever order; when it says anything else, nobody knows which is right.
create unlogged table staging.shared_reports (
  table_name text not null,
  report_id text not null,
  source_file smallint not null,
  is_repetition boolean not null,
  rows bigint not null,
  first_file smallint not null,
  first_line integer not null
);

do $$
declare
  source_table text;
  columns text;
  has_several_files boolean;
begin
  for source_table in select name from staging.source_tables loop
    execute format(
      'select exists (select from staging.%1$I '
      'where source_file <> (select one.source_file from staging.%1$I as one limit 1))',
      source_table
    ) into has_several_files;
    continue when not has_several_files;

    select string_agg(format('source.%I', attname), ', ' order by attnum)
    into strict columns
    from pg_catalog.pg_attribute
    where attrelid = format('staging.%I', source_table)::regclass and attnum > 0 and not attisdropped
      and attname not in ('source_file', 'source_line');
    execute format(
      'insert into staging.shared_reports '
      'select %1$L, compared.* from ('
      '  select report_id, source_file, content = first_value(content) over by_file, rows, '
      '    first_value(source_file) over by_file as first_file, first_value(line) over by_file '
      '  from ('
      '    select report_id, source_file, count(*) as rows, min(source_line) as line, '
      '      sha256(string_agg(digest, '''' order by digest)) as content '
      '    from ('
      '      select source.report_id, source.source_file, source.source_line, '
      '        sha256(convert_to(row(%2$s)::text, ''UTF8'')) as digest '
      '      from staging.%1$I as source '
      '      where source.report_id in ('
      '        select report_id from staging.%1$I group by report_id having min(source_file) <> max(source_file)'
      '      ) and not exists ('
      '        select from staging.faults where faults.table_name = %1$L '
      '          and faults.source_file = source.source_file and faults.source_line = source.source_line'
      '      )'
      '    ) as digested '
      '    group by report_id, source_file'
      '  ) as by_report '
      '  window by_file as (partition by report_id order by source_file)'
      ') as compared where source_file <> first_file',
      source_table, columns
    );
    execute format(
      'insert into staging.faults '
      '  (source_file, source_line, table_name, column_name, value, problem, other_file, other_line) '
      'select source.source_file, source.source_line, %1$L, ''report_id'', source.report_id, '
      '  ''stands in another file with other content'', shared_reports.first_file, shared_reports.first_line '
      'from staging.%1$I as source '
      'join staging.shared_reports on shared_reports.table_name = %1$L and shared_reports.report_id = source.report_id '
      '  and shared_reports.source_file = source.source_file and not shared_reports.is_repetition '
      'where not exists ('
      '  select from staging.faults where faults.table_name = %1$L '
      '    and faults.source_file = source.source_file and faults.source_line = source.source_line'
      ')',
      source_table
    );
    execute format(
      'delete from staging.%1$I as source using staging.shared_reports '
      'where shared_reports.table_name = %1$L and shared_reports.report_id = source.report_id '
      '  and shared_reports.source_file = source.source_file and shared_reports.is_repetition',
      source_table
    );
  end loop;
end
$$;

insert into staging.faults (source_file, source_line, table_name, column_name, value, problem)
select
  general.source_file, general.source_line, 'general', 'report_id', general.report_id,
  case when general.report_id is null then 'is missing' else 'has not the form 2023-06-GSAFAC-0000000001' end
from staging.general
where general.report_id is null or general.report_id !~ '^[0-9]{4}-[0-9]{2}-(GSAFAC|CENSUS)-[0-9]{10}$';

-- A report whose row COPY has refused in one file does not come back by another.
insert into staging.faults (source_file, source_line, table_name, column_name, value, problem, is_consequence)
select
  general.source_file, general.source_line, 'general', 'report_id', general.report_id,
  'belongs to a report that is rejected', true
from staging.general
where general.report_id in (select rejected.report_id from staging.rejected_reports as rejected)
  and not exists (
    select from staging.faults
    where faults.source_file = general.source_file and faults.source_line = general.source_line
  );

-- One row a report: what decides where its rows go.
create unlogged table staging.reports as
select
  general.report_id,
  general.auditee_uei,
  general.audit_year,
  general.fac_accepted_date,
  -- What nobody has called public is not shown to the public, nor what is public in one of two rows.
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
  where faults.source_file = general.source_file and faults.source_line = general.source_line
);

alter table staging.reports add constraint reports_report_id_is_unique unique (report_id);

-- A report that was suppressed once stays suppressed until someone releases it, whatever these files call it.
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
select faults.value from staging.faults where faults.value is not null and faults.other_line is null;

do $$
declare
  child text;
begin
  -- A row whose report is unknown could be suppressed: a fault, never a guess.
  for child in select name from staging.source_tables where name <> 'general' loop
    execute format(
      'insert into staging.faults '
      '  (source_file, source_line, table_name, column_name, value, problem, is_consequence) '
      'select source.source_file, source.source_line, %1$L, ''report_id'', source.report_id, case '
      '    when source.report_id is null then ''is missing'' '
      '    when rejected.report_id is not null then ''belongs to a report that is rejected'' '
      '    when source.report_id !~ ''^[0-9]{4}-[0-9]{2}-(GSAFAC|CENSUS)-[0-9]{10}$'' '
      '      then ''has not the form 2023-06-GSAFAC-0000000001'' '
      '    else ''is of no report in general'' end, '
      '  rejected.report_id is not null '
      'from staging.%1$I as source '
      'left join (select distinct report_id from staging.rejected_reports) as rejected '
      '  on rejected.report_id = source.report_id '
      'where not exists (select from staging.reports where reports.report_id = source.report_id)',
      child
    );
  end loop;

  -- Totals and bulk files go by the year of the award.
  insert into staging.faults (source_file, source_line, table_name, column_name, value, problem)
  select
    source.source_file, source.source_line, 'federal_awards', 'audit_year', source.audit_year,
    'is not the audit year that general has for its report'
  from staging.federal_awards as source
  join staging.reports on reports.report_id = source.report_id
  where source.audit_year <> reports.audit_year
    and not exists (
      select from staging.faults
      where faults.source_file = source.source_file and faults.source_line = source.source_line
    );

  for child in select distinct table_name from staging.faults loop
    execute format(
      'delete from staging.%1$I as source using staging.faults '
      'where faults.table_name = %1$L '
      '  and faults.source_file = source.source_file and faults.source_line = source.source_line',
      child
    );
  end loop;
end
$$;
