-- Indexes for what real clients filter and sort by. Each index's comment is a request that needs it, and the line above it is
-- the time it adds to a load of a million rows, measured with 64 MB of maintenance_work_mem. Suppressed rows have none,
-- because a scan of so few rows costs less.

-- 1.1 s
create index general_fac_accepted_date on disclosed_next.general (fac_accepted_date);
comment on index disclosed_next.general_fac_accepted_date is
  'New reports: general?fac_accepted_date=gte.2024-03-01; newest first: order=fac_accepted_date.desc';
-- 0.6 s
create index general_auditee_uei on disclosed_next.general (auditee_uei);
comment on index disclosed_next.general_auditee_uei is 'Finds an auditee''s reports: general?auditee_uei=eq.…';
-- 0.8 s
create index general_auditee_ein on disclosed_next.general (auditee_ein);
comment on index disclosed_next.general_auditee_ein is 'Finds an auditee''s reports: general?auditee_ein=eq.… or in.(…)';
-- 1.0 s
create index general_auditor_ein on disclosed_next.general (auditor_ein);
comment on index disclosed_next.general_auditor_ein is 'Finds an auditor''s reports: general?auditor_ein=eq.…';
-- 1.5 s
create index general_audit_year_auditee_state on disclosed_next.general (audit_year, auditee_state);
comment on index disclosed_next.general_audit_year_auditee_state is
  'general?audit_year=eq.2023&auditee_state=eq.CA, and either alone: PostgreSQL 18 skips over the years';
-- 1.2 s
create index general_total_amount_expended on disclosed_next.general (total_amount_expended desc nulls last);
comment on index disclosed_next.general_total_amount_expended is
  'Largest reports: general?order=total_amount_expended.desc.nullslast';
-- 6.0 s
create index general_auditee_name on disclosed_next.general
using gin (auditee_name extensions.gin_trgm_ops);
comment on index disclosed_next.general_auditee_name is 'Finds auditees by part of a name: general?auditee_name=ilike.*county*';
-- Words of names, without regard to case, accents and punctuation (extensions.name_words).
create index general_auditee_name_words on disclosed_next.general using gin (extensions.name_words(auditee_name));
comment on index disclosed_next.general_auditee_name_words is
  'Finds auditees by words of a name: general?words=plfts(names).anasco, and the search of the pages';
create index general_auditor_firm_name_words on disclosed_next.general using gin (extensions.name_words(auditor_firm_name));
comment on index disclosed_next.general_auditor_firm_name_words is
  'Finds auditors by words of a name: general?auditor_words=plfts(names).smith, and the search of the pages';
-- 1.2 s
create index federal_awards_assistance_listing on disclosed_next.federal_awards
(federal_agency_prefix, federal_award_extension);
comment on index disclosed_next.federal_awards_assistance_listing is
  'Finds a program''s awards: federal_awards?federal_agency_prefix=eq.93&federal_award_extension=eq.778';
-- The files are ordered by year, so a scan would read all earlier years first. 1.2 s
create index federal_awards_audit_year_agency on disclosed_next.federal_awards
(audit_year, federal_agency_prefix);
comment on index disclosed_next.federal_awards_audit_year_agency is
  'federal_awards?audit_year=eq.2023, with or without federal_agency_prefix=eq.93';
-- 0.6 s
create index federal_awards_fac_accepted_date on disclosed_next.federal_awards (fac_accepted_date);
comment on index disclosed_next.federal_awards_fac_accepted_date is
  'New awards, for copies: federal_awards?fac_accepted_date=gte.2024-03-01; newest first: order=fac_accepted_date.desc';
-- 0.6 s
create index federal_awards_amount_expended on disclosed_next.federal_awards (amount_expended);
comment on index disclosed_next.federal_awards_amount_expended is
  'Largest awards: federal_awards?order=amount_expended.desc';
-- 0.8 s, where a scan of 700,000 rows takes 0.4 s
create index federal_awards_auditee_uei on disclosed_next.federal_awards (auditee_uei);
comment on index disclosed_next.federal_awards_auditee_uei is
  'Finds an auditee''s awards: federal_awards?auditee_uei=eq.…';
-- 0.5 s
create index findings_reference_number on disclosed_next.findings (reference_number);
comment on index disclosed_next.findings_reference_number is 'findings?reference_number=eq.2023-001';

-- Parts of names and of texts, with like, ilike, match, imatch, and full-text search. finding_text and content have no such
-- index, because a refresh would then take too long (bench/RESULTS.md).
-- 8 s
create index federal_awards_federal_program_name on disclosed_next.federal_awards
using gin (federal_program_name extensions.gin_trgm_ops);
comment on index disclosed_next.federal_awards_federal_program_name is
  'Finds programs by part of a name: federal_awards?federal_program_name=ilike.*head start*';
-- 6 s
create index passthrough_passthrough_name on disclosed_next.passthrough
using gin (passthrough_name extensions.gin_trgm_ops);
comment on index disclosed_next.passthrough_passthrough_name is
  'Finds pass-through entities by part of a name: passthrough?passthrough_name=ilike.*department of*';
-- 21 s for 213,000 texts
create index corrective_action_plans_planned_action on disclosed_next.corrective_action_plans
using gin (planned_action extensions.gin_trgm_ops);
comment on index disclosed_next.corrective_action_plans_planned_action is
  'Finds plans by words: corrective_action_plans?planned_action=ilike.*casino*';

-- ANALYZE alone estimates a tenth of the reports that a large table has, so PostgreSQL expects ten times as many rows for a
-- list of reports. The share of reports with rows is that of some thousand reports, which are chosen by a hash.
do $$
declare
  child record;
  reports float;
begin
  for child in
    select pg_class.oid::regclass as name
    from pg_catalog.pg_class
    join pg_catalog.pg_constraint on pg_constraint.conrelid = pg_class.oid and pg_constraint.contype = 'f'
    where pg_class.relnamespace = 'disclosed_next'::regnamespace
  loop
    execute format(
      'select avg(exists (select from %s as child where child.report_id = sample.report_id)::int) * (select count(*) from disclosed_next.general)'
      ' from (select general.report_id from disclosed_next.general order by hashtext(general.report_id) limit 4000) as sample',
      child.name
    ) into reports;
    execute format('alter table %s alter column report_id set (n_distinct = %s)', child.name, greatest(round(reports), 1));
  end loop;
end
$$;
