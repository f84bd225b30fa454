-- Other Unique Entity Identifiers (UEIs) that an audit covers.
-- One row is one UEI that a report lists.
create view api_v1_1_0.additional_ueis
with (security_invoker = true) as
select
  additional_ueis.report_id,
  additional_ueis.auditee_uei,
  additional_ueis.audit_year,
  additional_ueis.fac_accepted_date,
  additional_ueis.additional_uei,
  additional_ueis.row_number
from dissemination.additional_ueis;

comment on view api_v1_1_0.additional_ueis is
  'Additional UEIs

One row per entry on form SF-SAC: entities that the audit covers besides the auditee
(general.auditee_uei). A report may list an entity twice. Most reports have none; general.is_additional_ueis
says which have some.

Join to `general` by report_id, which is not unique here. To find the reports that cover an entity, look
for its UEI both here and in general.auditee_uei. To embed these rows, request
general?select=*,additional_ueis(additional_uei).';
comment on column api_v1_1_0.additional_ueis.auditee_uei is
  E'Auditee UEI\n'
  'Unique Entity Identifier (UEI) of the auditee: 12 characters, or "GSA_MIGRATION" on migrated '
  'records that are older than UEIs. Same value as general.auditee_uei. For the additional UEI, see '
  'additional_uei.';
comment on column api_v1_1_0.additional_ueis.additional_uei is
  E'Additional UEI\n'
  'UEI that the audit also covers: 12 characters as text.';

grant select on api_v1_1_0.additional_ueis to api_public, api_tribal;

select request.embed_in_general('api_v1_1_0.additional_ueis', '160');
