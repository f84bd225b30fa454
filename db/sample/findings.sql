-- Findings: sample.drawn_findings has one row per finding, and findings has one row for each award that a finding concerns.

create table sample.drawn_findings as
select
  submissions.id, finding, finding_key as key, year, is_migrated, awards, first_award, entity_type, short_name, program,
  year || '-' || lpad(finding::text, 3, '0') as reference,
  least(awards, case when has_pinned_findings then 2 else
    greatest(1, floor(sample.skewed(sample.draw(finding_key, 'awards'), 2, 0.75))) end)::int as affected_awards,
  has_material_weakness and finding = 1 or sample.draw(finding_key, 'weakness') < 0.35 as is_weakness,
  sample.pick('requirement types', finding_key) as type_requirement,
  federal_agency_prefix || '.' || federal_award_extension as listing
from sample.submissions
join sample.auditees using (auditee)
cross join lateral generate_series(1, findings) as finding
cross join lateral sample.child(submissions.key, 3000000000 + finding) as finding_key
cross join lateral (
  select case when has_pinned_findings then (finding - 1) % awards else sample.whole(finding_key, 'award', 0, awards - 1) end
    as first_award
) as drawn
join sample.awards as award on award.id = submissions.id and award.number = first_award + 1;

analyze sample.drawn_findings;

create table sample.findings as
select
  drawn.id,
  1000 * finding + place as number,
  award.number as award_number,
  -- Some older reports number awards with 5 digits here and with 4 in federal_awards.
  case when is_migrated and sample.draw(drawn.id, 'wide') < 0.05 then replace(award_reference, '-', '-0')
    else award_reference end as award_reference,
  reference as reference_number,
  case when is_weakness then 'Y' else no end as is_material_weakness,
  case when is_weakness and sample.draw(key, 'modified') < 0.4 then 'Y' else no end as is_modified_opinion,
  case when sample.draw(key, 'other findings') < 0.06 then 'Y' else no end as is_other_findings,
  case when sample.draw(key, 'other matters') < 0.47 then 'Y' else no end as is_other_matters,
  case when is_repeated then year - 1 || '-00' || sample.whole(key, 'prior', 1, 6) else 'N/A' end
    as prior_finding_ref_numbers,
  case when sample.draw(key, 'questioned costs') < 0.15 then 'Y' else no end as is_questioned_costs,
  case when is_repeated then 'Y' else no end as is_repeat_finding,
  case when not is_weakness and sample.draw(key, 'deficiency') < 0.75 then 'Y' else no end as is_significant_deficiency,
  type_requirement
from sample.drawn_findings as drawn
cross join lateral generate_series(0, affected_awards - 1) as place
join sample.awards as award on award.id = drawn.id and award.number = 1 + (first_award + place) % awards
cross join lateral (
  select
    sample.draw(key, 'repeated') < 0.32 as is_repeated,
    case when is_migrated and sample.draw(drawn.id, 'blank') < 0.06 then '' else 'N' end as no
) as flag;
