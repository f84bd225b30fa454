-- Awards, with everything that federal_awards has except the count of findings, which are drawn from awards.

create table sample.programs as
select program.*, count(*) over (partition by agency) as siblings, agencies.weight, agencies.research_weight
from sample.vocabulary
cross join lateral jsonb_to_recordset(value) as program (agency text, extension text, name text, cluster text)
join (
  select agency.*
  from sample.vocabulary,
    jsonb_to_recordset(value) as agency (prefix text, weight double precision, research_weight double precision)
  where key = 'agencies'
) as agencies on agencies.prefix = program.agency
where vocabulary.key = 'programs';

-- Each program has as many of the numbers from 0 to 4999 as it is often chosen.
create table sample.program_slots as (
with shares as (
  select kind, agency, extension, name, cluster,
    5000 * (sum(weight) over earlier - weight) / sum(weight) over (partition by kind) as slot_from,
    5000 * sum(weight) over earlier / sum(weight) over (partition by kind) as slot_to
  from (
    select 'any' as kind, agency, extension, name, cluster, weight / siblings as weight from sample.programs
    union all
    select 'research', agency, extension, name, 'RESEARCH AND DEVELOPMENT', research_weight / siblings
    from sample.programs
  ) as weighted
  window earlier as (partition by kind order by agency, extension, name)
)
select shares.*, slot
from shares, generate_series(0, 4999) as slot
where slot + 0.5 >= slot_from and slot + 0.5 < slot_to
union all
select '', agency, extension, name, cluster, 0, 0, row_number() over (partition by agency, extension order by name) - 1
from sample.programs
);

create table sample.awards as (
with counted as (
  select
    submissions.*,
    auditees.entity_type,
    auditees.state_name,
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
    sample.child(counted.key, number) as award_key,
    sample.draw(sample.child(counted.key, number), 'amount') as amount,
    split_part(coalesce(programs[number],
      case when entity_type = 'higher-ed' then (array['84.063', '84.268', '84.033', '84.007'])[number] end, ''), ' ', 1)
      as fixed_program,
    nullif(split_part(programs[number], ' ', 2), '') as fixed_direct,
    entity_type = 'higher-ed' and awards > 25 and sample.draw(sample.child(counted.key, number), 'research') < 0.75
      as is_research
  from counted
  cross join lateral generate_series(1, awards) as number
),
chosen as (
  select
    listed.*,
    slots.agency,
    slots.name,
    case
      when listed.fixed_program <> '' then slots.extension
      when is_research and sample.draw(award_key, 'extension') < 0.15 then 'RD'
      when sample.draw(award_key, 'extension') > case when is_research then 0.98 else 0.994 end
        then 'U' || sample.digits(award_key, 'extension', 2)
      else slots.extension
    end as extension,
    slots.cluster,
    sample.draw(award_key, 'covid') < 0.05 as is_covid,
    slots.agency = '84' and slots.extension = '268' or sample.draw(award_key, 'loan') < 0.01 as is_loan,
    fixed_direct is null and sample.draw(award_key, 'negative') < 0.035 as is_negative,
    coalesce(fixed_direct, case when sample.draw(award_key, 'direct') < case slots.cluster
      when 'STUDENT FINANCIAL ASSISTANCE' then 1 when 'RESEARCH AND DEVELOPMENT' then 0.6 else 0.4 end
      then 'Y' else 'N' end) as is_direct
  from listed
  join sample.program_slots as slots
    on slots.kind = case when listed.fixed_program <> '' then '' when is_research then 'research' else 'any' end
    and slots.slot = case when listed.fixed_program <> '' then 0 else floor(sample.draw(award_key, 'program') * 5000) end
    and (listed.fixed_program = '' or listed.fixed_program = slots.agency || '.' || slots.extension)
),
priced as (
  select
    chosen.*,
    case
      when is_negative then -sample.whole(award_key, 'refund', 100, 250000)
      -- A report with few awards has few large ones.
      else greatest(50, floor(sample.skewed(
        0.998 * case when awards < 20 and amount > 0.9 then amount - 0.35 else amount end, 131000, 1.55)))::bigint
    end
      -- The later submission put an amount right.
      - case when number = 1 then superseded * 1000 else 0 end as drawn_amount,
    case
      when is_migrated and sample.draw(award_key, 'cluster') < 0.01 then 'GSA_MIGRATION'
      when cluster = 'N/A' and sample.draw(award_key, 'cluster') > 0.99 then 'STATE CLUSTER'
      when cluster <> 'N/A' and sample.draw(award_key, 'cluster') > 0.98 then 'OTHER CLUSTER NOT LISTED ABOVE'
      else cluster
    end as cluster_name
  from chosen
),
ranked as (
  select
    priced.*,
    row_number() over (partition by id order by drawn_amount desc, number) = 1 as is_largest,
    sum(drawn_amount) over (partition by id) as drawn_total
  from priced
),
topped as (
  select
    ranked.*,
    case cluster_name when 'OTHER CLUSTER NOT LISTED ABOVE' then replace(cluster, ' CLUSTER', '')
      when 'GSA_MIGRATION' then 'GSA_MIGRATION' else '' end as other_cluster_name,
    case cluster_name when 'STATE CLUSTER' then upper(state_name) || ' BLOCK GRANT CLUSTER' else '' end
      as state_cluster_name,
    case cluster_name when 'N/A' then agency || '.' || extension else cluster_name end as audited_unit,
    -- Auditees that spend less than the threshold need no Single Audit.
    drawn_amount + case when is_largest and drawn_total < 750000
      then 750000 - drawn_total + sample.whole(award_key, 'rest', 0, 1500000) else 0 end::bigint as amount_expended
  from ranked
),
audited as (
  select
    topped.*,
    sum(amount_expended) over (partition by id, agency, extension) as federal_program_total,
    case cluster_name when 'N/A' then 0 else
      sum(amount_expended) over (partition by id, cluster_name, other_cluster_name, state_cluster_name) end as cluster_total,
    -- The largest program is audited as major. Some others are: fewer of the small ones, as clusters have many awards.
    bool_or(is_largest and (awards < 20 or audited_unit <> 'RESEARCH AND DEVELOPMENT'))
      over (partition by id, audited_unit)
      or sample.draw(sample.child(key, hashtext(audited_unit)), 'major') < 0.13 as is_major
  from topped
)
select
  id, number, award_key, report_id, auditee_uei, audit_year, fac_accepted_date, key, awards, is_largest, name as program,
  'AWARD-' || lpad(number::text, case when fac_accepted_date >= '2024-07-01' then 5 else 4 end, '0') as award_reference,
  agency as federal_agency_prefix,
  extension as federal_award_extension,
  case
    when is_covid then 'COVID-19'
    when sample.draw(award_key, 'identification') < 0.35 then ''
    when sample.draw(award_key, 'identification') < 0.45 then
      sample.choose(array['NA', 'H79SM', 'R01AI', 'G-22-', 'S010A', 'ARP 20'], amount) || sample.digits(award_key, 'id', 6)
  end as additional_award_identification,
  case when is_covid and name not like 'COVID%' then 'COVID-19 - ' else '' end || name as federal_program_name,
  amount_expended,
  cluster_name,
  other_cluster_name,
  state_cluster_name,
  cluster_total,
  federal_program_total,
  case when is_major then 'Y' else 'N' end as is_major,
  case when is_loan then 'Y' else 'N' end as is_loan,
  case
    when not is_loan then ''
    when sample.draw(award_key, 'balance') < 0.6 then sample.whole(award_key, 'balance', 1000, 90000000)::text
    when sample.draw(award_key, 'balance') < 0.8 then 'N/A'
    else ''
  end as loan_balance,
  is_direct,
  case when is_major then
    (array['Q', 'Q', 'Q', 'A', 'D'])[sample.whole(sample.child(key, hashtext(audited_unit)), 'opinion', 1, 50)] end
    as opinion,
  case when sample.draw(award_key, 'passes down') < 0.12 and amount_expended > 0
    then amount_expended * sample.whole(award_key, 'passed down', 5, 95) / 100 end as passthrough_amount
from audited
order by id, number
);

analyze sample.awards;
