-- Findings: sample.drawn_findings has one row a finding, and findings one row for each award that a finding concerns.

create table sample.drawn_findings as (
with counted as (
  select
    submissions.*,
    auditees.entity_type,
    auditees.short_name,
    pinned.findings is not null as is_pinned,
    coalesce(pinned.has_material_weakness, false) as has_material_weakness,
    first_award.awards,
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
  counted.id,
  number,
  counted.report_id, counted.auditee_uei, counted.audit_year, counted.fac_accepted_date,
  finding.key,
  year,
  short_name,
  entity_type,
  is_migrated,
  year || '-' || lpad((number - 1 + case when is_pinned then 1 else sample.whole(counted.key, 'first', 1, 3) end)::text,
    3, '0') as reference,
  case when is_pinned then number - 1 else sample.whole(finding.key, 'award', 0, awards - 1) end as first_award,
  least(awards, case when is_pinned then 2 else
    greatest(1, floor(sample.skewed(sample.draw(finding.key, 'awards'), 2, 0.75))) end)::int as affected_awards,
  awards,
  sample.choose(array['F', 'F', 'AB', 'AB', 'P', 'B', 'L', 'C', 'N', 'E', 'I', 'M', 'H', 'G', 'J', 'BE', 'IL', 'ABC',
    'ABCEFGHIJLMNP', 'ABEGLMN'], sample.draw(finding.key, 'requirement')) as requirement,
  has_material_weakness and number = 1 or sample.draw(finding.key, 'weakness') < 0.35 as is_material_weakness,
  case when sample.draw(finding.key, 'prior') < 0.68 then 'N/A' else concat_ws(', ',
    year - 1 || '-00' || sample.whole(finding.key, 'prior', 1, 6),
    case when sample.draw(finding.key, 'second prior') < 0.2 then year - 1 || '-007' end) end as prior_references
from counted
cross join lateral generate_series(1, findings) as number
cross join lateral (select sample.child(counted.key, 3000000000 + number) as key) as finding
order by id, number
);

analyze sample.drawn_findings;

create table sample.findings as
select
  drawn.id,
  drawn.number,
  award.number as award_number,
  drawn.report_id, drawn.auditee_uei, drawn.audit_year, drawn.fac_accepted_date,
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
) as flag
order by drawn.id, drawn.number, place;
