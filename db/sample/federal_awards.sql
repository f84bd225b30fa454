-- The awards with the number of their findings.

create view sample.federal_awards as
select
  awards.*,
  coalesce(findings, 0)::int as findings_count,
  case when passthrough_amount is null then 'N' else 'Y' end as is_passthrough_award
from sample.awards
left join (
  select id, award_number as number, count(*) as findings from sample.findings group by id, award_number
) as counted using (id, number);
