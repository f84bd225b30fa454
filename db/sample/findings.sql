-- Findings: sample.drawn_findings has one row a finding, and findings one row for each award that a finding concerns. The
-- awards with the number of their findings come last.

create table sample.drawn_findings as (
with counted as (
  select
    first_award.*,
    year,
    is_migrated,
    entity_type,
    short_name,
    pinned.findings is not null as is_pinned,
    coalesce(pinned.has_material_weakness, false) as has_material_weakness,
    coalesce(pinned.findings, case when sample.draw(submissions.key, 'has findings') < case entity_type
      when 'state' then 0.7 when 'tribal' then 0.45 when 'higher-ed' then 0.24 when 'non-profit' then 0.16 else 0.2 end
      then 1 + least(92, floor(sample.skewed(sample.draw(submissions.key, 'findings'), 0.8, 0.65))) else 0 end)::int
      as findings
  from sample.submissions
  join sample.auditees on auditees.number = submissions.auditee
  join sample.awards as first_award on first_award.id = submissions.id and first_award.number = 1
  left join sample.pinned_submissions as pinned on pinned.index = submissions.index
)
select
  id, finding as number, year, is_migrated, entity_type, short_name, awards, finding_key as key,
  year || '-' || lpad(finding::text, 3, '0') as reference,
  case when is_pinned then finding - 1 else sample.whole(finding_key, 'award', 0, awards - 1) end as first_award,
  least(awards, case when is_pinned then 2 else
    greatest(1, floor(sample.skewed(sample.draw(finding_key, 'awards'), 2, 0.75))) end)::int as affected_awards,
  sample.pick('requirement types', finding_key) as requirement,
  has_material_weakness and finding = 1 or sample.draw(finding_key, 'weakness') < 0.35 as is_material_weakness,
  case when sample.draw(finding_key, 'prior') < 0.68 then 'N/A'
    else year - 1 || '-00' || sample.whole(finding_key, 'prior', 1, 6) end as prior_references
from counted
cross join lateral generate_series(1, findings) as finding
cross join lateral sample.child(key, 3000000000 + finding) as finding_key
);

analyze sample.drawn_findings;

create table sample.findings as
select
  drawn.id,
  1000 * drawn.number + place as number,
  award.number as award_number,
  -- Some older reports number awards with 5 digits here and with 4 in federal_awards.
  case when is_migrated and sample.draw(drawn.id, 'wide') < 0.05 then replace(award_reference, '-', '-0')
    else award_reference end as award_reference,
  reference as reference_number,
  case when is_material_weakness then 'Y' else no end as is_material_weakness,
  case when is_material_weakness and sample.draw(drawn.key, 'modified') < 0.4 then 'Y' else no end as is_modified_opinion,
  case when sample.draw(drawn.key, 'other findings') < 0.06 then 'Y' else no end as is_other_findings,
  case when sample.draw(drawn.key, 'other matters') < 0.47 then 'Y' else no end as is_other_matters,
  prior_references as prior_finding_ref_numbers,
  case when sample.draw(drawn.key, 'questioned costs') < 0.15 then 'Y' else no end as is_questioned_costs,
  case when prior_references <> 'N/A' then 'Y' else no end as is_repeat_finding,
  case when not is_material_weakness and sample.draw(drawn.key, 'deficiency') < 0.75 then 'Y' else no end
    as is_significant_deficiency,
  requirement as type_requirement
from sample.drawn_findings as drawn
cross join lateral generate_series(0, affected_awards - 1) as place
join sample.awards as award on award.id = drawn.id and award.number = 1 + (drawn.first_award + place) % drawn.awards
cross join lateral (
  select case when is_migrated and sample.draw(drawn.id, 'blank') < 0.06 then '' else 'N' end as no
) as flag;

create view sample.federal_awards as
select
  awards.*,
  coalesce(findings, 0)::int as findings_count,
  case when passthrough_amount is null then 'N' else 'Y' end as is_passthrough_award
from sample.awards
left join (
  select id, award_number as number, count(*) as findings from sample.findings group by id, award_number
) as counted using (id, number);
