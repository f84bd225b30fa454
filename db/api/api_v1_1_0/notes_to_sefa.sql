-- The notes to the schedule of expenditures of Federal awards (SEFA).
-- One row is one note of a report.
create view api_v1_1_0.notes_to_sefa
with (security_invoker = true) as
select
  notes_to_sefa.report_id,
  notes_to_sefa.auditee_uei,
  notes_to_sefa.audit_year,
  notes_to_sefa.fac_accepted_date,
  notes_to_sefa.title,
  notes_to_sefa.accounting_policies,
  notes_to_sefa.is_minimis_rate_used,
  notes_to_sefa.rate_explained,
  notes_to_sefa.content,
  notes_to_sefa.contains_chart_or_table,
  notes_to_sefa.row_number
from dissemination.notes_to_sefa;

comment on view api_v1_1_0.notes_to_sefa is
  'Notes to the schedule of expenditures (SEFA)

One row per note: the notes to the schedule of expenditures of Federal awards (SEFA), which describe
the significant accounting policies and say whether the de minimis indirect cost rate was elected
(2 CFR 200.510(b)(6)), as entered on form SF-SAC.

report_id joins to `general`. row_number holds the order of the notes.
accounting_policies, is_minimis_rate_used and rate_explained belong to the report and repeat on each of its
rows; title and content belong to the note. To embed these rows, request general?select=*,notes_to_sefa(*).';
comment on column api_v1_1_0.notes_to_sefa.title is
  E'Title of the note\n'
  'Title of the note; may be empty.';
comment on column api_v1_1_0.notes_to_sefa.accounting_policies is
  E'Accounting policies\n'
  'Significant accounting policies used in preparing the SEFA (2 CFR 200.510(b)(6)). Long text '
  'that belongs to the report and repeats on each of its notes.';
comment on column api_v1_1_0.notes_to_sefa.is_minimis_rate_used is
  E'De minimis rate used\n'
  'Whether the auditee elected the de minimis indirect cost rate (2 CFR 200.414(f)): "Y", "N", '
  '"Both" (only for some awards), or "GSA_MIGRATION" on migrated records. Repeats on each note of a report.';
comment on column api_v1_1_0.notes_to_sefa.rate_explained is
  E'Indirect cost rate explanation\n'
  'The auditee''s explanation of is_minimis_rate_used. Repeats on each note of a report. '
  '"GSA_MIGRATION" if a migrated record has none.';
comment on column api_v1_1_0.notes_to_sefa.content is
  E'Text of the note\n'
  'Text of the note; may have thousands of characters, or be empty if a report has only '
  'accounting policies.';

grant select on api_v1_1_0.notes_to_sefa to api_public, api_tribal;

select request.embed_in_general(
  'api_v1_1_0.notes_to_sefa',
  '300'
  ' + coalesce(octet_length(notes_to_sefa.accounting_policies), 0)'
  ' + coalesce(octet_length(notes_to_sefa.rate_explained), 0)'
  ' + coalesce(octet_length(notes_to_sefa.content), 0)'
);
