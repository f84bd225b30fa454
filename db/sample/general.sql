-- One row a submission.

create view sample.general as (
with totals as (
  select id, sum(amount_expended)::bigint as total, string_agg(distinct federal_agency_prefix, ',')
      filter (where number <= 3) as first_agencies,
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
    submissions.*,
    1 as number,

    totals.total,
    totals.agency,
    found.id is not null as has_findings,
    found.has_weakness,
    case when sample.draw(key, 'prior agencies') < case when found.id is null then 0.06 else 0.5 end
      then first_agencies else '00' end as prior_agencies,
    coalesce(pinned.prior_agencies, '') as pinned_agencies,
    case when pinned.has_first_firm or sample.draw(key, 'first firm') < 0.004 then 0
      else sample.whole(key, 'firm', 1, 159) end as firm_number,
    sample.draw(key, 'foreign') < 0.002 as is_foreign,
    (array['unmodified_opinion,qualified_opinion', 'qualified_opinion', 'qualified_opinion', 'not_gaap', 'not_gaap',
      'adverse_opinion', 'disclaimer_of_opinion', 'unmodified_opinion,not_gaap'])[sample.whole(key, 'opinion', 1, 80)]
      as opinions,
    fac_accepted_date - case when is_migrated then sample.whole(key, 'submitted', 0, 4) else 0 end::int as submitted,
    sample.whole(key, 'auditee certified', 0, 2)::int as auditee_days,
    sample.whole(key, 'auditor certified', 0, 9)::int as auditor_days,
    sample.whole(key, 'ready', 0, 7)::int as ready_days
  from sample.submissions
  join totals using (id)
  left join found using (id)
  left join sample.pinned_submissions as pinned on pinned.index = submissions.index
)
select
  facts.id, facts.number, report_id, auditee_uei, audit_year, fac_accepted_date,
  sample.person(auditees.certifier) as auditee_certify_name,
  sample.pick('auditee titles', auditees.certifier) as auditee_certify_title,
  sample.person(auditees.contact) as auditee_contact_name,
  sample.email(auditees.contact, auditees.name) as auditee_email,
  auditees.name as auditee_name,
  sample.phone(auditees.contact) as auditee_phone,
  case when is_migrated then 'GSA_MIGRATION' else sample.pick('auditee titles', auditees.contact) end
    as auditee_contact_title,
  auditees.address as auditee_address_line_1,
  auditees.city as auditee_city,
  auditees.state as auditee_state,
  auditees.ein as auditee_ein,
  auditees.zip as auditee_zip,
  sample.person(firms.certifier) as auditor_certify_name,
  sample.pick('auditor titles', firms.certifier) as auditor_certify_title,
  sample.phone(firms.contact) as auditor_phone,
  case when is_foreign then '' else firms.state end as auditor_state,
  case when is_foreign then '' else firms.city end as auditor_city,
  case when is_migrated then 'GSA_MIGRATION' else sample.pick('auditor titles', firms.contact) end as auditor_contact_title,
  case when is_foreign then '' else firms.address end as auditor_address_line_1,
  case when is_foreign then '' else firms.zip end as auditor_zip,
  case when is_foreign then 'Non-USA' else 'USA' end as auditor_country,
  sample.person(firms.contact) as auditor_contact_name,
  sample.email(firms.contact, firms.firm) as auditor_email,
  firms.firm as auditor_firm_name,
  case when is_foreign then firms.address || E'\nLondon, England' else '' end as auditor_foreign_address,
  firms.ein as auditor_ein,
  case when total > 50000000 then agency else '' end as cognizant_agency,
  case when total > 50000000 then '' else agency end as oversight_agency,
  case when not is_migrated then
    submitted - auditee_days - auditor_days - ready_days - sample.whole(facts.key, 'created', 0, 70)::int end as date_created,
  case when not is_migrated then submitted - auditee_days - auditor_days - ready_days end as ready_for_certification_date,
  submitted - auditee_days - auditor_days as auditor_certified_date,
  submitted - auditee_days as auditee_certified_date,
  submitted as submitted_date,
  fy_end_date,
  fy_start_date,
  case when sample.draw(facts.key, 'type') < 0.985 then 'single-audit' else 'program-specific' end as audit_type,
  coalesce(opinions, 'unmodified_opinion') as gaap_results,
  case when opinions like '%not_gaap' then sample.choose(
    array['cash_basis', 'tax_basis', 'regulatory_basis', 'contractual_basis', 'other_basis'],
    sample.draw(facts.key, 'basis')) else '' end as sp_framework_basis,
  case when opinions like '%not_gaap' then sample.yes_no(sample.draw(facts.key, 'framework') < 0.5) else '' end
    as is_sp_framework_required,
  case when opinions like '%not_gaap' then 'unmodified_opinion' else '' end as sp_framework_opinions,
  sample.yes_no(sample.draw(facts.key, 'going concern') < 0.015) as is_going_concern_included,
  sample.yes_no(has_findings or sample.draw(facts.key, 'deficiency') < 0.1) as is_internal_control_deficiency_disclosed,
  sample.yes_no(coalesce(has_weakness, false) or sample.draw(facts.key, 'weakness') < 0.04)
    as is_internal_control_material_weakness_disclosed,
  sample.yes_no(has_findings and sample.draw(facts.key, 'noncompliance') < 0.15) as is_material_noncompliance_disclosed,
  -- Of programs of type A, 2 CFR 200.518.
  case
    when is_migrated and sample.draw(facts.key, 'threshold') < 0.02 then -999999999
    when total <= 25000000 then 750000
    when total <= 100000000 then round(total * 0.03)
    when total <= 1000000000 then 3000000
    when total <= 10000000000 then round(total * 0.003)
    else 30000000
  end::bigint as dollar_threshold,
  sample.yes_no(not has_findings and sample.draw(facts.key, 'low risk') < 0.75) as is_low_risk_auditee,
  coalesce(nullif(pinned_agencies, ''), prior_agencies) as agencies_with_prior_findings,
  auditees.entity_type,
  case when months in (12, 24) then '' else months::text end as number_months,
  case months when 12 then 'annual' when 24 then 'biennial' else 'other' end as audit_period_covered,
  total as total_amount_expended,
  'UG' as type_audit_code,
  is_public,
  case when is_migrated then 'CENSUS' else 'GSAFAC' end as data_source,
  case when is_migrated then 'GSA_MIGRATION' else sample.yes_no(sample.draw(facts.key, 'guide') < 0.05) end
    as is_aicpa_audit_guide_included,
  case when auditee_uei = 'GSA_MIGRATION' then auditee_uei
    else sample.yes_no(facts.id in (select id from sample.additional_ueis)) end as is_additional_ueis,
  coalesce(version, 0) as resubmission_version,
  sample.describe_version(version, next_report_id) as resubmission_status,
  sample.yes_no(facts.id in (select id from sample.additional_eins)) as is_multiple_eins,
  sample.yes_no(facts.id in (select id from sample.secondary_auditors)) as is_secondary_auditors
from facts
join sample.auditees on auditees.number = facts.auditee
join sample.auditors as firms on firms.number = facts.firm_number
);
