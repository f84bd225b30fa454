-- One row per submission. Columns that are missing here come from sample.submissions, or are drawn from words.csv.

create view sample.general as (
with totals as (
  select
    id,
    sum(amount_expended)::bigint as total,
    -- The agency of the largest direct award, or of the largest award if none is direct.
    (array_agg(federal_agency_prefix order by is_direct desc, amount_expended desc))[1] as agency
  from sample.awards
  group by id
)
select
  id,
  1 as number,
  auditee_name, auditee_city, auditee_state, auditee_ein, auditee_zip,
  auditor_state, auditor_city, auditor_zip, auditor_firm_name, auditor_ein,
  '' as auditor_foreign_address,
  '' as number_months,
  case when total > 50000000 then agency else '' end as cognizant_agency,
  case when total > 50000000 then '' else agency end as oversight_agency,
  (fy_end_date + interval '1 day' - interval '1 year')::date as fy_start_date,
  case gaap_results when 'not_gaap' then 'cash_basis' else '' end as sp_framework_basis,
  case gaap_results when 'not_gaap' then 'Yes' else '' end as is_sp_framework_required,
  case gaap_results when 'not_gaap' then 'unmodified_opinion' else '' end as sp_framework_opinions,
  sample.yes_no(findings > 0) as is_internal_control_deficiency_disclosed,
  sample.yes_no(id in (select id from sample.drawn_findings where is_weakness))
    as is_internal_control_material_weakness_disclosed,
  sample.yes_no(findings > 0 and sample.draw(key, 'noncompliance') < 0.15) as is_material_noncompliance_disclosed,
  -- The threshold for type A programs, 2 CFR 200.518.
  case
    when is_migrated and sample.draw(key, 'threshold') < 0.02 then -999999999
    when total <= 25000000 then 750000
    when total <= 100000000 then (total * 0.03)::bigint
    else 3000000
  end as dollar_threshold,
  sample.yes_no(findings = 0 and sample.draw(key, 'low risk') < 0.75) as is_low_risk_auditee,
  coalesce(prior_agencies, case when sample.draw(key, 'prior agencies') < 0.1 then agency else '00' end)
    as agencies_with_prior_findings,
  entity_type,
  total as total_amount_expended,
  case when is_migrated then 'CENSUS' else 'GSAFAC' end as data_source,
  case submissions.auditee_uei when 'GSA_MIGRATION' then 'GSA_MIGRATION' else sample.yes_no(ueis > 0) end
    as is_additional_ueis,
  coalesce(version, 0) as resubmission_version,
  status as resubmission_status,
  sample.yes_no(eins > 0) as is_multiple_eins,
  sample.yes_no(secondary_auditors > 0) as is_secondary_auditors
from sample.submissions
join totals using (id)
join sample.auditees using (auditee)
join sample.auditors using (firm)
);
