-- Awards, with all columns of federal_awards except the number of findings, because findings are drawn from awards.

create table sample.awards as (
with priced as (
  select
    id, key, fac_accepted_date, number, award_key, agency, extension, name, cluster,
    case cluster when 'N/A' then program else cluster end as audited_unit,
    coalesce(split_part(fixed, ' ', 2), case when sample.draw(award_key, 'direct') < 0.45 then 'Y' else 'N' end)
      as is_direct,
    case
      when fixed is null and sample.draw(award_key, 'negative') < 0.035 then -sample.whole(award_key, 'refund', 100, 250000)
      else greatest(50, floor(sample.skewed(0.998 * sample.draw(award_key, 'amount'), 131000, 1.55)))::bigint
    end
      -- The later submission corrected an amount.
      - case when number = 1 then superseded * 1000 else 0 end as drawn_amount
  from sample.submissions
  cross join lateral generate_series(1, awards) as number
  cross join lateral sample.child(key, number) as award_key
  -- Such as "93.045 N": a program, and whether the award is direct.
  cross join lateral (select programs[number] as fixed) as drawn
  join sample.programs on program = coalesce(split_part(fixed, ' ', 1), sample.pick('programs', award_key))
),
audited as (
  select
    priced.*,
    -- Auditees that spend less than the threshold need no Single Audit.
    drawn_amount + case number when 1 then greatest(0, 750000 + sample.whole(award_key, 'rest', 0, 1000000)
      - sum(drawn_amount) over (partition by id)) else 0 end::bigint as amount_expended,
    -- The program of the first award is audited as major, and some others.
    audited_unit = first_value(audited_unit) over (partition by id order by number)
      or sample.draw(sample.child(key, hashtext(audited_unit)), 'major') < 0.13 as is_major,
    sample.draw(award_key, 'covid') < 0.05 as is_covid,
    extension = '268' or sample.draw(award_key, 'loan') < 0.01 as is_loan
  from priced
)
select
  id, number, award_key, is_direct, amount_expended,
  name as program,
  agency as federal_agency_prefix,
  extension as federal_award_extension,
  cluster as cluster_name,
  '' as other_cluster_name,
  '' as state_cluster_name,
  -- A few reports have more than 9,999 awards.
  'AWARD-' || lpad(number::text, case when fac_accepted_date >= '2024-07-01' or number > 9999 then 5 else 4 end, '0')
    as award_reference,
  case when is_covid then 'COVID-19' else sample.pick('award identifications', award_key) end
    as additional_award_identification,
  case when is_covid and name not like 'COVID%' then 'COVID-19 - ' else '' end || name as federal_program_name,
  case cluster when 'N/A' then 0 else sum(amount_expended) over (partition by id, audited_unit) end::bigint as cluster_total,
  sum(amount_expended) over (partition by id, audited_unit, agency, extension)::bigint as federal_program_total,
  case when is_major then 'Y' else 'N' end as is_major,
  case when is_loan then 'Y' else 'N' end as is_loan,
  case when is_loan then sample.digits(award_key, 'balance', 7) else '' end as loan_balance,
  case when not is_major then ''
    when sample.draw(sample.child(key, hashtext(audited_unit)), 'opinion') < 0.1 then 'Q' else 'U' end as audit_report_type,
  case when sample.draw(award_key, 'passes down') < 0.12 and amount_expended > 0
    then amount_expended * sample.whole(award_key, 'passed down', 5, 95) / 100 end as passthrough_amount
from audited
);

analyze sample.awards;
