-- Submissions: the current ones, and before each those that it supersedes. Submissions 0 to 39 are the public, current
-- reports 2023-06-GSAFAC-0000000002 to 2023-06-GSAFAC-0000000041.

create table sample.pinned_submissions as
select *
from jsonb_to_recordset(sample.read('pinned_submissions')) as pinned
  (index bigint, programs text[], awards int, findings int, superseded int, is_public boolean[],
   has_first_firm boolean, has_material_weakness boolean, has_extras boolean, prior_agencies text);

create table sample.submissions as (
with drawn as (
  select
    index,
    sample.child(sample.setting('seed'), index) as key,
    case when index < 40 then index else 40 + (index - 40) / 3 end as auditee,
    case when index < 40 then 0 else (index - 40) % 3 end as year_number
  from generate_series(0, sample.setting('submissions') - 1) as index
),
dated as (
  select
    drawn.*,
    pinned.is_public as pinned_is_public,
    pinned.superseded as pinned_superseded,
    drawn.index < 40 or pinned.index is not null as is_pinned,
    auditees.entity_type = 'tribal' and drawn.index >= 40 as is_tribal,
    auditees.uei,
    year,
    (make_date(year, case when drawn.index < 40 then 6 else year_end_month end, 1) + interval '1 month - 1 day')::date
      as fy_end_date,
    sample.draw(drawn.key, 'days') as days
  from drawn
  join sample.auditees on auditees.number = drawn.auditee
  left join sample.pinned_submissions as pinned on pinned.index = drawn.index
  cross join lateral (
    select case when drawn.index < 40 then 2023 else auditees.last_year - 2 + drawn.year_number end::int as year
  ) as audit
),
accepted as (
  -- Most reports come shortly before nine months have passed, and few much later. GSA took submissions from 2023-10-01 on;
  -- the Census Bureau's older ones were migrated.
  select
    dated.*,
    greatest(on_time, case when is_pinned then date '2023-10-01' + 3 end) as first_accepted,
    on_time < '2023-10-01' and not is_pinned as is_migrated
  from dated
  cross join lateral (
    select fy_end_date + (262 + case when days < 0.5 then -187 * (1 - 2 * days) ^ 2 else 378 * (2 * days - 1) ^ 10 end)::int
      as on_time
  ) as submitted
),
filed as (
  select
    accepted.*,
    chain,
    superseded,
    to_char(fy_end_date, 'YYYY-MM') || case when is_migrated then '-CENSUS-' else '-GSAFAC-' end || lpad(case
      when index >= 40 then 4 * index + 3 - superseded
      when superseded = 0 then index + 2
      else 2 * (index + 40) - superseded
    end::text, 10, '0') as report_id
  from accepted
  cross join lateral (
    select coalesce(pinned_superseded,
      case when is_migrated or sample.draw(key, 'chain') < 0.965 then 0 else sample.whole(key, 'chain length', 1, 2) end)::int
      as chain
  ) as chained
  cross join lateral generate_series(chain, 0, -1) as superseded
)
select
  4 * index + 3 - superseded as id,
  key,
  index,
  superseded,
  auditee,
  report_id,
  case when is_migrated and year < 2022 and sample.draw(key, 'uei') < 0.5 then 'GSA_MIGRATION' else uei end as auditee_uei,
  year::text as audit_year,
  first_accepted + ((chain - superseded) * sample.whole(key, 'gap', 40, 200))::int as fac_accepted_date,
  year,
  is_migrated,
  -- A Tribe decides anew with each submission. Some leave it open, which counts as suppressed.
  case
    when pinned_is_public is not null then pinned_is_public[chain - superseded + 1]
    when is_tribal and superseded > 0 then sample.draw(key, 'earlier' || superseded) < 0.5
    when is_tribal and year_number = 0 and sample.draw(key, 'undecided') < 0.2 then null
    else not (is_tribal and (year_number = 0 or sample.draw(key, 'suppressed') < 0.55))
  end as is_public,
  fy_end_date,
  -- What became of a submission is recorded for chains, and for a few others without saying what.
  case when chain > 0 then chain - superseded + 1 when index >= 40 and sample.draw(key, 'unknown') < 0.01 then 0 end
    as version,
  lag(report_id) over chain as previous_report_id,
  lead(report_id) over chain as next_report_id,
  first_accepted
from filed
window chain as (partition by index order by superseded desc)
);

analyze sample.submissions;
