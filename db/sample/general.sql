-- One row a submission. Columns that are missing here are drawn from vocabulary.json.

create view sample.general as (
with totals as (
  select
    id,
    sum(amount_expended)::bigint as total,
    -- The agency of the largest direct award, or of the largest award if none is direct.
    (array_agg(federal_agency_prefix order by is_direct desc, amount_expended desc))[1] as agency
  from sample.awards
  group by id
),
found as (
  select id, bool_or(is_material_weakness) as has_weakness from sample.drawn_findings group by id
),
facts as (
  select
    extras.*,
    total,
    agency,
    found.id is not null as has_findings,
    coalesce(has_weakness, false) as has_weakness,
    case when pinned.has_first_firm then 0 else sample.whole(key, 'firm', 0, 159) end as firm_number,
    coalesce(pinned.prior_agencies, case when sample.draw(key, 'prior agencies') < 0.1 then agency else '00' end)
      as prior_agencies,
    sample.pick('opinions', key) as opinions,
    fac_accepted_date - case when is_migrated then sample.whole(key, 'submitted', 0, 4) else 0 end::int as submitted
  from sample.extras
  join totals using (id)
  left join found using (id)
  left join sample.pinned_submissions as pinned using (index)
)
select
  facts.id,
  1 as number,
  auditees.name as auditee_name,
  auditees.city as auditee_city,
  auditees.state as auditee_state,
  auditees.ein as auditee_ein,
  auditees.zip as auditee_zip,
  firms.state as auditor_state,
  firms.city as auditor_city,
  firms.zip as auditor_zip,
  firms.firm as auditor_firm_name,
  firms.ein as auditor_ein,
  case when total > 50000000 then agency else '' end as cognizant_agency,
  case when total > 50000000 then '' else agency end as oversight_agency,
  case when not is_migrated then submitted - 30 end as date_created,
  case when not is_migrated then submitted - 5 end as ready_for_certification_date,
  submitted - 3 as auditor_certified_date,
  submitted - 1 as auditee_certified_date,
  submitted as submitted_date,
  fy_end_date,
  (fy_end_date + interval '1 day' - interval '1 year')::date as fy_start_date,
  opinions as gaap_results,
  case opinions when 'not_gaap' then 'cash_basis' else '' end as sp_framework_basis,
  case opinions when 'not_gaap' then 'Yes' else '' end as is_sp_framework_required,
  case opinions when 'not_gaap' then 'unmodified_opinion' else '' end as sp_framework_opinions,
  sample.yes_no(has_findings) as is_internal_control_deficiency_disclosed,
  sample.yes_no(has_weakness) as is_internal_control_material_weakness_disclosed,
  sample.yes_no(has_findings and sample.draw(facts.key, 'noncompliance') < 0.15) as is_material_noncompliance_disclosed,
  -- Of programs of type A, 2 CFR 200.518.
  case
    when is_migrated and sample.draw(facts.key, 'threshold') < 0.02 then -999999999
    when total <= 25000000 then 750000
    when total <= 100000000 then (total * 0.03)::bigint
    else 3000000
  end as dollar_threshold,
  sample.yes_no(not has_findings and sample.draw(facts.key, 'low risk') < 0.75) as is_low_risk_auditee,
  prior_agencies as agencies_with_prior_findings,
  entity_type,
  total as total_amount_expended,
  is_public,
  case when is_migrated then 'CENSUS' else 'GSAFAC' end as data_source,
  case auditee_uei when 'GSA_MIGRATION' then auditee_uei else sample.yes_no(ueis > 0) end as is_additional_ueis,
  coalesce(facts.version, 0) as resubmission_version,
  status as resubmission_status,
  sample.yes_no(eins > 0) as is_multiple_eins,
  sample.yes_no(auditors > 0) as is_secondary_auditors
from facts
join sample.auditees on auditees.number = auditee
join sample.auditors as firms on firms.number = firm_number
left join (select id, status from sample.resubmission) as resubmission using (id)
);
