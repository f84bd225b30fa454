-- Submissions: the current ones, and before each, the ones it supersedes. Submissions 0 to 39 are the public, current
-- reports 2023-06-GSAFAC-0000000002 to 2023-06-GSAFAC-0000000041.

create table sample.submissions as
select
  4 * index + 3 - superseded as id,
  key, superseded, auditee, year, is_migrated, version, prior_agencies, report_id, fac_accepted_date, fy_end_date,
  case when is_migrated and year < 2022 and sample.draw(key, 'uei') < 0.5 then 'GSA_MIGRATION' else auditee_uei end
    as auditee_uei,
  year::text as audit_year,
  fac_accepted_date - case when is_migrated then sample.whole(key, 'submitted', 0, 4)::int else 0 end as submitted_date,
  -- A Tribe decides again for each submission. Some do not decide, which counts as suppressed.
  case
    when is_public is not null then is_public[chain - superseded + 1]
    when is_tribal and superseded > 0 then sample.draw(key, 'earlier' || superseded) < 0.5
    when is_tribal and year_number = 0 and sample.draw(key, 'undecided') < 0.2 then null
    else not (is_tribal and (year_number = 0 or sample.draw(key, 'suppressed') < 0.55))
  end as is_public,
  case when version = 0 then 'unknown_resubmission_status' when superseded > 0 then 'deprecated_via_resubmission'
    when version > 0 then 'most_recent' end as status,
  lag(report_id) over chain as previous_report_id,
  lead(report_id) over chain as next_report_id,
  first_accepted as original_submission_date,
  coalesce(pinned.awards, greatest(1, floor((0.85 + 0.3 * sample.draw(key, 'awards'))
    * least(16292, sample.skewed(1 - (1 - auditees.size) * entity_types.size, 6, 0.72)))))::int as awards,
  coalesce(pinned.programs, entity_types.programs) as programs,
  coalesce(pinned.findings, case when sample.draw(key, 'has findings') < with_findings
    then 1 + least(92, floor(sample.skewed(sample.draw(key, 'findings'), 0.8, 0.65))) else 0 end)::int as findings,
  pinned.findings is not null as has_pinned_findings,
  coalesce(has_material_weakness, false) as has_material_weakness,
  sample.pick('opinions', key) as gaap_results,
  case when has_first_firm then 0 else sample.whole(key, 'firm', 0, 159) end as firm,
  case when has_extras then 3 when sample.draw(key, 'ueis') < 0.06 then extras else 0 end as ueis,
  case when has_extras then 3 when sample.draw(key, 'eins') < 0.07 then extras else 0 end as eins,
  case when has_extras then 2 when sample.draw(key, 'auditors') < 0.04 then sample.whole(key, 'auditors', 1, 2) else 0 end
    as secondary_auditors
from generate_series(0, sample.setting('submissions') - 1) as index
left join sample.pinned_submissions as pinned using (index)
cross join lateral (
  select
    sample.child(sample.setting('seed'), index) as key,
    case when index < 40 then index else 40 + (index - 40) / 3 end as auditee,
    case when index >= 40 then (index - 40) % 3 end as year_number,
    index < 40 or pinned.index is not null as is_pinned
) as drawn
join sample.auditees using (auditee)
join sample.entity_types using (entity_type)
cross join lateral (
  select
    entity_type = 'tribal' and index >= 40 as is_tribal,
    coalesce(last_year - 2 + year_number, 2023)::int as year,
    case when index < 40 then 6 else year_end_month end as month,
    sample.draw(key, 'days') as days,
    least(120, 1 + floor(sample.skewed(sample.draw(key, 'extras'), 1, 0.9)))::int as extras
) as audit
cross join lateral date(make_date(year, month, 1) + interval '1 month - 1 day') as fy_end_date
-- Most reports arrive shortly before nine months have passed, and few much later. GSA has taken submissions since
-- 2023-10-01; the Census Bureau's older ones were migrated.
cross join lateral (
  select fy_end_date + (262 + case when days < 0.5 then -187 * (1 - 2 * days) ^ 2 else 378 * (2 * days - 1) ^ 10 end)::int
    as on_time
) as filed
cross join lateral (
  select
    greatest(on_time, case when is_pinned then date '2023-10-01' + 3 end) as first_accepted,
    on_time < '2023-10-01' and not is_pinned as is_migrated
) as accepted
cross join lateral (
  select coalesce(supersedes, case when is_migrated or sample.draw(key, 'chain') < 0.965 then 0
    else sample.whole(key, 'chain length', 1, 2) end)::int as chain
) as chained
cross join lateral generate_series(chain, 0, -1) as superseded
cross join lateral (
  select
    to_char(fy_end_date, 'YYYY-MM') || case when is_migrated then '-CENSUS-' else '-GSAFAC-' end || lpad(case
      when index >= 40 then 4 * index + 3 - superseded
      when superseded = 0 then index + 2
      else 2 * (index + 40) - superseded
    end::text, 10, '0') as report_id,
    first_accepted + ((chain - superseded) * sample.whole(key, 'gap', 40, 200))::int as fac_accepted_date,
    -- Reports in a chain have a version, and a few others have 0 (unknown).
    case when chain > 0 then chain - superseded + 1 when index >= 40 and sample.draw(key, 'unknown') < 0.01 then 0 end
      as version
) as link
window chain as (partition by index order by superseded desc);

analyze sample.submissions;
