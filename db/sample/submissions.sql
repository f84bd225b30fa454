-- Submissions: the current ones, and before each those that it supersedes. Submissions 0 to 39 are the public, current
-- reports 2023-06-GSAFAC-0000000002 to 2023-06-GSAFAC-0000000041.

create table sample.pinned_submissions as
select pinned.*
from sample.vocabulary,
  jsonb_to_recordset(vocabulary.value) as pinned
    (index bigint, programs text[], awards int, findings int, superseded int, is_public boolean[],
     has_first_firm boolean, has_material_weakness boolean, has_extras boolean, prior_agencies text)
where vocabulary.key = 'pinned_submissions';

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
    auditees.entity_type = 'tribal' as is_tribal,
    auditees.uei,
    year as audit_year,
    (make_date(year, auditees.year_end_month, 1) + interval '1 month - 1 day')::date as fy_end_date,
    sample.draw(drawn.key, 'days') as days,
    case
      when sample.draw(drawn.key, 'period') < 0.988 then 12
      when sample.draw(drawn.key, 'period') < 0.992 then 24
      else (array[6, 9, 15, 18])[sample.whole(drawn.key, 'months', 1, 4)]
    end as months
  from drawn
  join sample.auditees on auditees.number = drawn.auditee
  left join sample.pinned_submissions as pinned on pinned.index = drawn.index
  cross join lateral (
    select case when drawn.index < 40 then 2023 else auditees.last_year - 2 + drawn.year_number end::int as year
  ) as audit
),
accepted as (
  select
    dated.*,
    -- Most reports come shortly before nine months have passed, and few much later.
    fy_end_date + (262 + case when days < 0.5 then -187 * (1 - 2 * days) ^ 2 else 378 * (2 * days - 1) ^ 10 end)::int
      as on_time
  from dated
),
migrated as (
  -- GSA took submissions from 2023-10-01 on; the Census Bureau's older ones were migrated.
  select
    accepted.*,
    case when is_pinned and on_time < '2023-10-01'
      then date '2023-10-01' + sample.whole(key, 'pinned date', 3, 90)::int else on_time end as first_accepted,
    not is_pinned and on_time < '2023-10-01' as is_migrated
  from accepted
),
chained as (
  select
    migrated.*,
    coalesce(pinned_superseded, case
      when is_migrated or sample.draw(key, 'superseded') < 0.965 then 0
      when sample.draw(key, 'superseded') < 0.99 then 1
      else 2
    end) as chain,
    is_tribal and index >= 40 and (year_number = 0 or sample.draw(key, 'suppressed') < 0.55)
      or index >= 40 and sample.draw(key, 'suppressed') < 0.0003 as is_suppressed
  from migrated
),
filed as (
  select
    chained.*,
    superseded,
    chain - superseded as place,
    first_accepted + case when superseded < chain then sample.whole(key, 'first gap', 40, 200) else 0 end::int
      + case when superseded < chain - 1 then sample.whole(key, 'second gap', 40, 200) else 0 end::int as accepted,
    to_char(fy_end_date, 'YYYY-MM') || case when is_migrated then '-CENSUS-' else '-GSAFAC-' end || lpad(case
      when index >= 40 then 4 * index + 3 - superseded
      when superseded = 0 then index + 2
      else 2 * (index + 40) - superseded
    end::text, 10, '0') as report_id
  from chained
  cross join lateral generate_series(chain, 0, -1) as superseded
)
select
  4 * index + 3 - superseded as id,
  key,
  index,
  superseded,
  auditee,
  report_id,
  case when is_migrated and audit_year < 2022 and sample.draw(key, 'uei') < 0.5 then 'GSA_MIGRATION' else uei end
    as auditee_uei,
  audit_year::text as audit_year,
  accepted as fac_accepted_date,
  audit_year as year,
  is_migrated,
  -- A Tribe decides anew with each submission. Some leave it open, which counts as suppressed.
  case
    when pinned_is_public is not null then pinned_is_public[place + 1]
    when is_tribal and superseded > 0 then sample.draw(key, 'suppressed before' || superseded) < 0.5
    when is_suppressed then case when sample.draw(key, 'undecided') < 0.9 then false end
    else true
  end as is_public,
  fy_end_date,
  (fy_end_date + interval '1 day' - make_interval(months => months))::date as fy_start_date,
  months,
  -- What became of a submission is recorded for chains, and for a few others without saying what.
  case when chain > 0 then place + 1
    when index >= 40 and not is_migrated and sample.draw(key, 'unknown') < 0.01 then 0 end as version,
  lag(report_id) over chain as previous_report_id,
  lead(report_id) over chain as next_report_id,
  first_accepted
from filed
window chain as (partition by index order by superseded desc)
order by id
);

analyze sample.submissions;
