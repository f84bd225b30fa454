-- What the API schemas read: public and suppressed rows as one table each. Whoever reads gets the branches
-- that row-level security leaves to their role, and the planner drops the others.
-- The last part of the transaction that publishes, since readers wait from here on: publish.sql has given the next
-- generation its names, and the views still read the one before.
-- data_set comes first: request.authorize() reads it first, so a request sees one data set from start to end.

create or replace view dissemination.data_set with (security_invoker = true) as
table disclosed.data_set;

create or replace view dissemination.general with (security_invoker = true) as
table disclosed.general
union all
table suppressed.general
union all
table disclosed.general_stubs;

create or replace view dissemination.federal_awards with (security_invoker = true) as
table disclosed.federal_awards
union all
table suppressed.federal_awards;

create or replace view dissemination.findings with (security_invoker = true) as
table disclosed.findings
union all
table suppressed.findings;

create or replace view dissemination.findings_text with (security_invoker = true) as
table disclosed.findings_text
union all
table suppressed.findings_text;

create or replace view dissemination.corrective_action_plans with (security_invoker = true) as
table disclosed.corrective_action_plans
union all
table suppressed.corrective_action_plans;

create or replace view dissemination.notes_to_sefa with (security_invoker = true) as
table disclosed.notes_to_sefa
union all
table suppressed.notes_to_sefa;

create or replace view dissemination.passthrough with (security_invoker = true) as
table disclosed.passthrough
union all
table suppressed.passthrough;

create or replace view dissemination.secondary_auditors with (security_invoker = true) as
table disclosed.secondary_auditors
union all
table suppressed.secondary_auditors;

create or replace view dissemination.additional_ueis with (security_invoker = true) as
table disclosed.additional_ueis
union all
table suppressed.additional_ueis;

create or replace view dissemination.additional_eins with (security_invoker = true) as
table disclosed.additional_eins
union all
table suppressed.additional_eins;

create or replace view dissemination.resubmission with (security_invoker = true) as
table disclosed.resubmission
union all
table suppressed.resubmission;

grant select on all tables in schema dissemination to api_public, api_tribal;
