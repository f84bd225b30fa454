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

insert into staging.faults (source_file, source_line, table_name, column_name, value, problem)
select
  general.source_file, general.source_line, 'general', 'report_id', general.report_id,
  case when general.report_id is null then 'is missing' else 'has not the form 2023-06-GSAFAC-0000000001' end
from staging.general
where general.report_id is null or general.report_id !~ '^[0-9]{4}-[0-9]{2}-(GSAFAC|CENSUS)-[0-9]{10}$';

-- Of a report that the files hold twice, the first row is the one that counts.
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
    select same.report_id from staging.general as same group by same.report_id having count(*) > 1
  )
  window by_place as (partition by general.report_id order by general.source_file, general.source_line)
) as ranked
where ranked.place > 1;

-- One row a report: what decides where its rows go.
create unlogged table staging.reports as
select
  general.report_id,
  general.auditee_uei,
  general.audit_year,
  general.fac_accepted_date,
  -- What nobody has called public is not shown to the public.
  coalesce(general.is_public, false) as is_public,
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
analyze staging.reports;

insert into staging.rejected_reports (report_id)
select faults.value from staging.faults where faults.value is not null and faults.other_line is null;

do $$
declare
  child text;
begin
  -- A row whose report is unknown could be suppressed: a fault, never a guess.
  foreach child in array array[
    'federal_awards', 'findings', 'findings_text', 'corrective_action_plans', 'notes_to_sefa',
    'passthrough', 'secondary_auditors', 'additional_ueis', 'additional_eins', 'resubmission'
  ] loop
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
