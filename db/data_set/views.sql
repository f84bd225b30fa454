-- What the API schemas read: public and suppressed rows as one table each. Whoever reads gets the branches
-- that row-level security leaves to their role, and the planner drops the others.
-- Part of the transaction that publishes: the next generation becomes live by being renamed, so the views are bound to it first.
-- data_set comes first: request.authorize() reads it first, so a request sees one data set from start to end.

create or replace view dissemination.data_set with (security_invoker = true) as
table disclosed_next.data_set;

create or replace view dissemination.general with (security_invoker = true) as
table disclosed_next.general
union all
table suppressed_next.general
union all
table disclosed_next.general_stubs;

create or replace view dissemination.federal_awards with (security_invoker = true) as
table disclosed_next.federal_awards
union all
table suppressed_next.federal_awards;

create or replace view dissemination.findings with (security_invoker = true) as
table disclosed_next.findings
union all
table suppressed_next.findings;

create or replace view dissemination.findings_text with (security_invoker = true) as
table disclosed_next.findings_text
union all
table suppressed_next.findings_text;

create or replace view dissemination.corrective_action_plans with (security_invoker = true) as
table disclosed_next.corrective_action_plans
union all
table suppressed_next.corrective_action_plans;

create or replace view dissemination.notes_to_sefa with (security_invoker = true) as
table disclosed_next.notes_to_sefa
union all
table suppressed_next.notes_to_sefa;

create or replace view dissemination.passthrough with (security_invoker = true) as
table disclosed_next.passthrough
union all
table suppressed_next.passthrough;

create or replace view dissemination.secondary_auditors with (security_invoker = true) as
table disclosed_next.secondary_auditors
union all
table suppressed_next.secondary_auditors;

create or replace view dissemination.additional_ueis with (security_invoker = true) as
table disclosed_next.additional_ueis
union all
table suppressed_next.additional_ueis;

create or replace view dissemination.additional_eins with (security_invoker = true) as
table disclosed_next.additional_eins
union all
table suppressed_next.additional_eins;

create or replace view dissemination.resubmission with (security_invoker = true) as
table disclosed_next.resubmission
union all
table suppressed_next.resubmission;

grant select on all tables in schema dissemination to api_public, api_tribal;
