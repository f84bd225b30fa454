-- Embedding, as in federal_awards?select=*,general(auditee_name).
--
-- PostgREST finds relationships in foreign keys, and sees none here: the views read a union of
-- public and suppressed rows. These functions are what it calls computed relationships: the
-- argument is the table one starts from, the name is what one embeds. `rows 1` makes it an object
-- instead of an array. Arguments have no name, so that PostgREST does not also offer the functions
-- under /rpc.
--
-- Each must stay inlinable, so that an embedded table costs a join and not a call for each row:
-- language sql with a string body, stable, neither strict nor security definer, and no `set`.
-- They run with the rights of the caller, like the views. Execute is granted one by one, because
-- default privileges in this database withhold it from public.
--
-- An embedded table is a join, and the planner may read either side of it first. So the rows of a
-- request that embeds come in no particular order: to page through them, a client must send order=.
--
-- Apply after all views: each function names two of them.

-- A report and everything that belongs to it: by report_id, both ways.

create function api_v1_1_0.general(api_v1_1_0.federal_awards)
returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.federal_awards) is 'Report that lists an award.';
grant execute on function api_v1_1_0.general(api_v1_1_0.federal_awards)
  to api_public, api_tribal;

create function api_v1_1_0.federal_awards(api_v1_1_0.general)
returns setof api_v1_1_0.federal_awards
language sql stable
as $$
  select federal_awards.* from api_v1_1_0.federal_awards
  where federal_awards.report_id = $1.report_id
$$;
comment on function api_v1_1_0.federal_awards(api_v1_1_0.general) is 'Awards of a report.';
grant execute on function api_v1_1_0.federal_awards(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.findings) returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.findings) is 'Report that has a finding.';
grant execute on function api_v1_1_0.general(api_v1_1_0.findings)
  to api_public, api_tribal;

create function api_v1_1_0.findings(api_v1_1_0.general) returns setof api_v1_1_0.findings
language sql stable
as $$ select findings.* from api_v1_1_0.findings where findings.report_id = $1.report_id $$;
comment on function api_v1_1_0.findings(api_v1_1_0.general) is
  'Findings of a report, one row for each award concerned.';
grant execute on function api_v1_1_0.findings(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.findings_text) returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.findings_text) is
  'Report that a finding narrative belongs to.';
grant execute on function api_v1_1_0.general(api_v1_1_0.findings_text)
  to api_public, api_tribal;

create function api_v1_1_0.findings_text(api_v1_1_0.general) returns setof api_v1_1_0.findings_text
language sql stable
as $$
  select findings_text.* from api_v1_1_0.findings_text
  where findings_text.report_id = $1.report_id
$$;
comment on function api_v1_1_0.findings_text(api_v1_1_0.general) is
  'Finding narratives of a report.';
grant execute on function api_v1_1_0.findings_text(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.corrective_action_plans)
returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.corrective_action_plans) is
  'Report that a corrective action plan belongs to.';
grant execute on function api_v1_1_0.general(api_v1_1_0.corrective_action_plans)
  to api_public, api_tribal;

create function api_v1_1_0.corrective_action_plans(api_v1_1_0.general)
returns setof api_v1_1_0.corrective_action_plans
language sql stable
as $$
  select corrective_action_plans.* from api_v1_1_0.corrective_action_plans
  where corrective_action_plans.report_id = $1.report_id
$$;
comment on function api_v1_1_0.corrective_action_plans(api_v1_1_0.general) is
  'Corrective action plans of a report.';
grant execute on function api_v1_1_0.corrective_action_plans(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.notes_to_sefa) returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.notes_to_sefa) is
  'Report that a note to the SEFA belongs to.';
grant execute on function api_v1_1_0.general(api_v1_1_0.notes_to_sefa)
  to api_public, api_tribal;

create function api_v1_1_0.notes_to_sefa(api_v1_1_0.general) returns setof api_v1_1_0.notes_to_sefa
language sql stable
as $$
  select notes_to_sefa.* from api_v1_1_0.notes_to_sefa
  where notes_to_sefa.report_id = $1.report_id
$$;
comment on function api_v1_1_0.notes_to_sefa(api_v1_1_0.general) is
  'Notes to the SEFA of a report.';
grant execute on function api_v1_1_0.notes_to_sefa(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.passthrough) returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.passthrough) is
  'Report in which a pass-through entity is named.';
grant execute on function api_v1_1_0.general(api_v1_1_0.passthrough)
  to api_public, api_tribal;

create function api_v1_1_0.passthrough(api_v1_1_0.general) returns setof api_v1_1_0.passthrough
language sql stable
as $$
  select passthrough.* from api_v1_1_0.passthrough
  where passthrough.report_id = $1.report_id
$$;
comment on function api_v1_1_0.passthrough(api_v1_1_0.general) is
  'Pass-through entities of all awards of a report.';
grant execute on function api_v1_1_0.passthrough(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.secondary_auditors)
returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.secondary_auditors) is
  'Report that a secondary auditor worked on.';
grant execute on function api_v1_1_0.general(api_v1_1_0.secondary_auditors)
  to api_public, api_tribal;

create function api_v1_1_0.secondary_auditors(api_v1_1_0.general)
returns setof api_v1_1_0.secondary_auditors
language sql stable
as $$
  select secondary_auditors.* from api_v1_1_0.secondary_auditors
  where secondary_auditors.report_id = $1.report_id
$$;
comment on function api_v1_1_0.secondary_auditors(api_v1_1_0.general) is
  'Secondary auditors of a report.';
grant execute on function api_v1_1_0.secondary_auditors(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.additional_ueis)
returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.additional_ueis) is
  'Report that covers an additional UEI.';
grant execute on function api_v1_1_0.general(api_v1_1_0.additional_ueis)
  to api_public, api_tribal;

create function api_v1_1_0.additional_ueis(api_v1_1_0.general)
returns setof api_v1_1_0.additional_ueis
language sql stable
as $$
  select additional_ueis.* from api_v1_1_0.additional_ueis
  where additional_ueis.report_id = $1.report_id
$$;
comment on function api_v1_1_0.additional_ueis(api_v1_1_0.general) is
  'Additional UEIs of a report.';
grant execute on function api_v1_1_0.additional_ueis(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.additional_eins)
returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.additional_eins) is
  'Report that covers an additional EIN.';
grant execute on function api_v1_1_0.general(api_v1_1_0.additional_eins)
  to api_public, api_tribal;

create function api_v1_1_0.additional_eins(api_v1_1_0.general)
returns setof api_v1_1_0.additional_eins
language sql stable
as $$
  select additional_eins.* from api_v1_1_0.additional_eins
  where additional_eins.report_id = $1.report_id
$$;
comment on function api_v1_1_0.additional_eins(api_v1_1_0.general) is
  'Additional EINs of a report.';
grant execute on function api_v1_1_0.additional_eins(api_v1_1_0.general)
  to api_public, api_tribal;

create function api_v1_1_0.general(api_v1_1_0.resubmission) returns setof api_v1_1_0.general rows 1
language sql stable
as $$ select general.* from api_v1_1_0.general where general.report_id = $1.report_id $$;
comment on function api_v1_1_0.general(api_v1_1_0.resubmission) is
  'Report in general; null where it is superseded.';
grant execute on function api_v1_1_0.general(api_v1_1_0.resubmission)
  to api_public, api_tribal;

create function api_v1_1_0.resubmission(api_v1_1_0.general) returns setof api_v1_1_0.resubmission
language sql stable
as $$
  select resubmission.* from api_v1_1_0.resubmission
  where resubmission.report_id = $1.report_id
$$;
comment on function api_v1_1_0.resubmission(api_v1_1_0.general) is
  'Place of a report in its chain of resubmissions: one row or none, as an array.';
grant execute on function api_v1_1_0.resubmission(api_v1_1_0.general)
  to api_public, api_tribal;

-- An award, its findings and its pass-through entities: by report_id and award_reference, both
-- ways.

create function api_v1_1_0.findings(api_v1_1_0.federal_awards) returns setof api_v1_1_0.findings
language sql stable
as $$
  select findings.* from api_v1_1_0.findings
  where findings.report_id = $1.report_id
    and findings.award_reference = $1.award_reference
$$;
comment on function api_v1_1_0.findings(api_v1_1_0.federal_awards) is 'Findings on an award.';
grant execute on function api_v1_1_0.findings(api_v1_1_0.federal_awards)
  to api_public, api_tribal;

create function api_v1_1_0.federal_awards(api_v1_1_0.findings)
returns setof api_v1_1_0.federal_awards rows 1
language sql stable
as $$
  select federal_awards.* from api_v1_1_0.federal_awards
  where federal_awards.report_id = $1.report_id
    and federal_awards.award_reference = $1.award_reference
$$;
comment on function api_v1_1_0.federal_awards(api_v1_1_0.findings) is
  'Award that a finding concerns; null where older reports write award_reference differently.';
grant execute on function api_v1_1_0.federal_awards(api_v1_1_0.findings)
  to api_public, api_tribal;

create function api_v1_1_0.passthrough(api_v1_1_0.federal_awards)
returns setof api_v1_1_0.passthrough
language sql stable
as $$
  select passthrough.* from api_v1_1_0.passthrough
  where passthrough.report_id = $1.report_id
    and passthrough.award_reference = $1.award_reference
$$;
comment on function api_v1_1_0.passthrough(api_v1_1_0.federal_awards) is
  'Pass-through entities of an award.';
grant execute on function api_v1_1_0.passthrough(api_v1_1_0.federal_awards)
  to api_public, api_tribal;

create function api_v1_1_0.federal_awards(api_v1_1_0.passthrough)
returns setof api_v1_1_0.federal_awards rows 1
language sql stable
as $$
  select federal_awards.* from api_v1_1_0.federal_awards
  where federal_awards.report_id = $1.report_id
    and federal_awards.award_reference = $1.award_reference
$$;
comment on function api_v1_1_0.federal_awards(api_v1_1_0.passthrough) is
  'Award that came through a pass-through entity.';
grant execute on function api_v1_1_0.federal_awards(api_v1_1_0.passthrough)
  to api_public, api_tribal;

-- A finding, its narrative and its plan: by report_id and reference number, both ways. Always
-- arrays: a finding has a row for each award, and a narrative or plan may be split over rows.

create function api_v1_1_0.findings_text(api_v1_1_0.findings) returns setof api_v1_1_0.findings_text
language sql stable
as $$
  select findings_text.* from api_v1_1_0.findings_text
  where findings_text.report_id = $1.report_id
    and findings_text.finding_ref_number = $1.reference_number
$$;
comment on function api_v1_1_0.findings_text(api_v1_1_0.findings) is
  'Narrative of a finding, in one row or several.';
grant execute on function api_v1_1_0.findings_text(api_v1_1_0.findings)
  to api_public, api_tribal;

create function api_v1_1_0.findings(api_v1_1_0.findings_text) returns setof api_v1_1_0.findings
language sql stable
as $$
  select findings.* from api_v1_1_0.findings
  where findings.report_id = $1.report_id
    and findings.reference_number = $1.finding_ref_number
$$;
comment on function api_v1_1_0.findings(api_v1_1_0.findings_text) is
  'Rows of the finding a narrative describes, one for each award concerned.';
grant execute on function api_v1_1_0.findings(api_v1_1_0.findings_text)
  to api_public, api_tribal;

create function api_v1_1_0.corrective_action_plans(api_v1_1_0.findings)
returns setof api_v1_1_0.corrective_action_plans
language sql stable
as $$
  select corrective_action_plans.* from api_v1_1_0.corrective_action_plans
  where corrective_action_plans.report_id = $1.report_id
    and corrective_action_plans.finding_ref_number = $1.reference_number
$$;
comment on function api_v1_1_0.corrective_action_plans(api_v1_1_0.findings) is
  'Corrective action plan for a finding, in one row or several.';
grant execute on function api_v1_1_0.corrective_action_plans(api_v1_1_0.findings)
  to api_public, api_tribal;

create function api_v1_1_0.findings(api_v1_1_0.corrective_action_plans)
returns setof api_v1_1_0.findings
language sql stable
as $$
  select findings.* from api_v1_1_0.findings
  where findings.report_id = $1.report_id
    and findings.reference_number = $1.finding_ref_number
$$;
comment on function api_v1_1_0.findings(api_v1_1_0.corrective_action_plans) is
  'Rows of the finding a plan answers, one for each award concerned.';
grant execute on function api_v1_1_0.findings(api_v1_1_0.corrective_action_plans)
  to api_public, api_tribal;
