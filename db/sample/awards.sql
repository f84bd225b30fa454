-- Awards, with everything that federal_awards has except the count of findings, which are drawn from awards.

-- A program has as many of the slots 0 to 999 as its share of all awards, and a slot under its number.
create table sample.program_slots as
select
  kind,
  row_number() over (partition by kind order by number, slot) - 1 as slot,
  split_part(number, '.', 1) as agency,
  split_part(number, '.', 2) as extension,
  name,
  cluster
from jsonb_to_recordset(sample.read('programs')) as program (number text, name text, cluster text, slots int)
cross join lateral (values ('any', slots), (number, 1)) as choices (kind, count)
cross join lateral generate_series(1, count) as slot;

analyze sample.program_slots;

create table sample.awards as (
with counted as (
  select
    id,
    submissions.key,
    submissions.superseded,
    fac_accepted_date,
    entity_type,
    pinned.programs,
    coalesce(pinned.awards, greatest(1, floor((0.85 + 0.3 * sample.draw(submissions.key, 'awards')) * least(16292,
      sample.skewed(1 - (1 - auditees.size) * case entity_type
        when 'state' then 0.36 when 'higher-ed' then 0.6 when 'tribal' then 0.6 else 1 end, 6, 0.72))))::int) as awards
  from sample.submissions
  join sample.auditees on auditees.number = submissions.auditee
  left join sample.pinned_submissions as pinned on pinned.index = submissions.index
),
listed as (
  select
    counted.*,
    number,
    award_key,
    sample.draw(award_key, 'amount') as amount,
    -- Such as "93.045 N": a program, and whether the award is direct.
    coalesce(programs[number], case entity_type when 'higher-ed' then
      (array['84.063 Y', '84.268 Y', '84.033 Y', '84.007 Y'])[number] end) as fixed
  from counted
  cross join lateral generate_series(1, awards) as number
  cross join lateral (select sample.child(counted.key, number) as award_key) as keys
),
priced as (
  select
    id, key, fac_accepted_date, awards, number, award_key,
    slots.agency,
    slots.extension,
    slots.name,
    cluster as cluster_name,
    coalesce(split_part(fixed, ' ', 2), case when sample.draw(award_key, 'direct') < 0.45 then 'Y' else 'N' end) as is_direct,
    case
      when fixed is null and sample.draw(award_key, 'negative') < 0.035 then -sample.whole(award_key, 'refund', 100, 250000)
      -- A report with few awards has few large ones.
      else greatest(50, floor(sample.skewed(
        0.998 * case when awards < 20 and amount > 0.9 then amount - 0.35 else amount end, 131000, 1.55)))::bigint
    end
      -- The later submission put an amount right.
      - case when number = 1 then superseded * 1000 else 0 end as drawn_amount
  from listed
  join sample.program_slots as slots
    on slots.kind = coalesce(split_part(fixed, ' ', 1), 'any')
    and slots.slot = case when fixed is null then sample.whole(award_key, 'program', 0, 999) else 0 end
),
ranked as (
  select
    priced.*,
    case cluster_name when 'N/A' then agency || '.' || extension else cluster_name end as audited_unit,
    row_number() over (partition by id order by drawn_amount desc, number) = 1 as is_largest,
    sum(drawn_amount) over (partition by id) as drawn_total
  from priced
),
topped as (
  select
    ranked.*,
    -- Auditees that spend less than the threshold need no Single Audit.
    drawn_amount + case when is_largest and drawn_total < 750000
      then 750000 - drawn_total + sample.whole(award_key, 'rest', 0, 1500000) else 0 end::bigint as amount_expended
  from ranked
),
audited as (
  select
    topped.*,
    sum(amount_expended) over (partition by id, audited_unit) as unit_total,
    sum(amount_expended) over (partition by id, audited_unit, agency, extension) as program_total,
    -- The largest program is audited as major, and some others.
    bool_or(is_largest) over (partition by id, audited_unit)
      or sample.draw(sample.child(key, hashtext(audited_unit)), 'major') < 0.13 as is_major,
    sample.draw(award_key, 'covid') < 0.05 as is_covid,
    extension = '268' or sample.draw(award_key, 'loan') < 0.01 as is_loan
  from topped
)
select
  id, number, award_key, key, awards, name as program,
  'AWARD-' || lpad(number::text, case when fac_accepted_date >= '2024-07-01' then 5 else 4 end, '0') as award_reference,
  agency as federal_agency_prefix,
  extension as federal_award_extension,
  case
    when is_covid then 'COVID-19'
    when sample.draw(award_key, 'identification') < 0.35 then ''
    when sample.draw(award_key, 'identification') < 0.45
      then sample.pick('award id prefixes', award_key) || sample.digits(award_key, 'id', 6)
  end as additional_award_identification,
  case when is_covid and name not like 'COVID%' then 'COVID-19 - ' else '' end || name as federal_program_name,
  amount_expended,
  cluster_name,
  case cluster_name when 'N/A' then 0 else unit_total end::bigint as cluster_total,
  program_total::bigint as federal_program_total,
  case when is_major then 'Y' else 'N' end as is_major,
  case when is_loan then 'Y' else 'N' end as is_loan,
  case when is_loan then sample.digits(award_key, 'balance', 7) else '' end as loan_balance,
  is_direct,
  case when not is_major then ''
    when sample.draw(sample.child(key, hashtext(audited_unit)), 'opinion') < 0.1 then 'Q' else 'U' end as audit_report_type,
  case when sample.draw(award_key, 'passes down') < 0.12 and amount_expended > 0
    then amount_expended * sample.whole(award_key, 'passed down', 5, 95) / 100 end as passthrough_amount
from audited
);

analyze sample.awards;
