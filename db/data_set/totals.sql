-- Totals of the public rows by year, computed once. publication.find_leaks() compares them with the public rows.

-- Both together take 1.6 s for a million awards.
create table disclosed_next.totals_by_state as
with awards as (
  select federal_awards.report_id, count(*) as awards, sum(federal_awards.amount_expended) as amount_expended
  from disclosed_next.federal_awards
  group by federal_awards.report_id
), findings as (
  select
    findings.report_id,
    count(distinct findings.reference_number) as findings,
    count(distinct findings.reference_number) filter (where findings.is_material_weakness = 'Y') as material_weaknesses
  from disclosed_next.findings
  group by findings.report_id
)
select
  general.audit_year,
  general.auditee_state,
  count(*) as submissions,
  coalesce(sum(awards.awards), 0)::bigint as awards,
  coalesce(sum(awards.amount_expended), 0)::bigint as amount_expended,
  coalesce(sum(findings.findings), 0)::bigint as findings,
  coalesce(sum(findings.material_weaknesses), 0)::bigint as material_weaknesses
from disclosed_next.general
left join awards on awards.report_id = general.report_id
left join findings on findings.report_id = general.report_id
group by general.audit_year, general.auditee_state
order by general.audit_year, general.auditee_state;

create table disclosed_next.totals_by_agency as
with counted as (
  select
    federal_awards.audit_year,
    federal_awards.federal_agency_prefix,
    1 as submissions,
    count(*) as awards,
    sum(federal_awards.amount_expended) as amount_expended,
    0 as findings,
    0 as material_weaknesses
  from disclosed_next.federal_awards
  group by federal_awards.report_id, federal_awards.audit_year, federal_awards.federal_agency_prefix
  union all
  select
    federal_awards.audit_year,
    federal_awards.federal_agency_prefix,
    0, 0, 0,
    count(distinct findings.reference_number),
    count(distinct findings.reference_number) filter (where findings.is_material_weakness = 'Y')
  from disclosed_next.findings
  join disclosed_next.federal_awards on federal_awards.report_id = findings.report_id
    and federal_awards.award_reference = findings.award_reference
  group by findings.report_id, federal_awards.audit_year, federal_awards.federal_agency_prefix
)
select
  counted.audit_year,
  counted.federal_agency_prefix,
  sum(counted.submissions)::bigint as submissions,
  sum(counted.awards)::bigint as awards,
  coalesce(sum(counted.amount_expended), 0)::bigint as amount_expended,
  sum(counted.findings)::bigint as findings,
  sum(counted.material_weaknesses)::bigint as material_weaknesses
from counted
group by counted.audit_year, counted.federal_agency_prefix
order by counted.audit_year, counted.federal_agency_prefix;

create view staging.awards_of_programs as
select
  federal_awards.*,
  general.auditee_state,
  -- Null if a part is missing. A period in the first part would make the text ambiguous.
  case when federal_awards.federal_agency_prefix not like '%.%'
    then nullif(federal_awards.federal_agency_prefix, '') || '.' || nullif(federal_awards.federal_award_extension, '')
  end as aln
from disclosed_next.federal_awards
left join disclosed_next.general on general.report_id = federal_awards.report_id;

create table disclosed_next.totals_by_program_and_state as
with counted as (
  select
    awards.audit_year,
    awards.aln,
    awards.auditee_state,
    count(*) as awards,
    sum(awards.amount_expended) as amount_expended,
    0 as findings,
    0 as material_weaknesses
  from staging.awards_of_programs as awards
  group by awards.audit_year, awards.aln, awards.auditee_state
  union all
  select
    awards.audit_year,
    awards.aln,
    awards.auditee_state,
    0, 0,
    count(distinct findings.reference_number),
    count(distinct findings.reference_number) filter (where findings.is_material_weakness = 'Y')
  from disclosed_next.findings
  join staging.awards_of_programs as awards
    on awards.report_id = findings.report_id and awards.award_reference = findings.award_reference
  group by findings.report_id, awards.audit_year, awards.aln, awards.auditee_state
)
select
  counted.audit_year,
  counted.aln,
  counted.auditee_state,
  sum(counted.awards)::bigint as awards,
  coalesce(sum(counted.amount_expended), 0)::bigint as amount_expended,
  sum(counted.findings)::bigint as findings,
  sum(counted.material_weaknesses)::bigint as material_weaknesses
from counted
group by counted.audit_year, counted.aln, counted.auditee_state
order by counted.aln, counted.audit_year, counted.auditee_state;

-- Reports name the same program differently. The most frequent name in all years is chosen; of equally frequent names, the one
-- whose characters sort first.
create table disclosed_next.totals_by_program as
with names_used as materialized (
  select awards.aln, awards.federal_program_name, count(*) as awards
  from staging.awards_of_programs as awards
  where awards.federal_program_name <> ''
  group by awards.aln, awards.federal_program_name
), names as (
  select distinct on (names_used.aln) names_used.aln, names_used.federal_program_name
  from names_used
  order by names_used.aln, names_used.awards desc, names_used.federal_program_name collate "C"
), frequent_names as (
  -- Names that fewer than one in a hundred of a program's awards have are often mistakes.
  select used.aln, string_agg(left(used.federal_program_name, 200), '; ') as names
  from (
    select names_used.*, sum(names_used.awards) over (partition by names_used.aln) as awards_of_program
    from names_used
  ) as used
  where used.awards * 100 >= used.awards_of_program
  group by used.aln
), totals as (
  select
    programs.audit_year,
    programs.aln,
    sum(programs.awards)::bigint as awards,
    sum(programs.amount_expended)::bigint as amount_expended,
    sum(programs.findings)::bigint as findings,
    sum(programs.material_weaknesses)::bigint as material_weaknesses
  from disclosed_next.totals_by_program_and_state as programs
  group by programs.audit_year, programs.aln
)
select
  totals.audit_year,
  totals.aln,
  names.federal_program_name,
  totals.awards,
  totals.amount_expended,
  totals.findings,
  totals.material_weaknesses,
  -- Only for publication.search_programs(); the API does not serve it.
  frequent_names.names
from totals
-- Awards without a number do not belong to the same program, so their row has no name.
left join names on names.aln = totals.aln
left join frequent_names on frequent_names.aln = totals.aln
order by totals.audit_year, totals.aln;

-- Groups of auditees of the same kind and size, the same kind (expended_from is null), or the same size (entity_type is null). Groups of
-- fewer than 20 reports would compare an auditee with too few others.
create table disclosed_next.totals_by_peer_groups as
with findings as (
  select findings.report_id, count(distinct findings.reference_number) as findings
  from disclosed_next.findings
  group by findings.report_id
), reports as materialized (
  select
    general.audit_year,
    case when general.entity_type in ('state', 'local', 'tribal', 'higher-ed', 'non-profit') then general.entity_type end as entity_type,
    sizes.expended_from,
    sizes.expended_to,
    coalesce(findings.findings, 0) as findings
  from disclosed_next.general
  left join publication.list_sizes() as sizes
    on general.total_amount_expended >= sizes.expended_from
    and (general.total_amount_expended < sizes.expended_to or sizes.expended_to is null)
  left join findings on findings.report_id = general.report_id
), members as (
  select * from reports where reports.entity_type is not null and reports.expended_from is not null
  union all
  select reports.audit_year, reports.entity_type, null, null, reports.findings from reports where reports.entity_type is not null
  union all
  select reports.audit_year, null, reports.expended_from, reports.expended_to, reports.findings
  from reports where reports.expended_from is not null
), counted as (
  select
    members.*,
    count(*) as submissions,
    sum(count(*)) over (partition by members.audit_year, members.entity_type, members.expended_from) as submissions_of_group
  from members
  group by members.audit_year, members.entity_type, members.expended_from, members.expended_to, members.findings
), added as (
  select
    counted.*,
    sum(counted.submissions) over (
      partition by counted.audit_year, counted.entity_type, counted.expended_from order by counted.findings
    ) as submissions_so_far
  from counted
  where counted.submissions_of_group >= 20
)
select
  added.audit_year,
  added.entity_type,
  added.expended_from,
  added.expended_to,
  added.findings,
  added.submissions,
  min(added.findings) filter (where 2 * added.submissions_so_far >= added.submissions_of_group) over (
    partition by added.audit_year, added.entity_type, added.expended_from
  ) as median_findings
from added;

create table disclosed_next.totals_by_peers as
select * from disclosed_next.totals_by_peer_groups as peers
where peers.entity_type is not null and peers.expended_from is not null
order by peers.audit_year, peers.entity_type, peers.expended_from, peers.findings;

select data_set.complete_table('disclosed_next', tables.name) from data_set.tables where tables.name like 'totals%';
