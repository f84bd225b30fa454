-- Other Employer Identification Numbers (EINs) that an audit covers.
-- One row is one EIN that a report lists.
create view api_v1_1_0.additional_eins
with (security_invoker = true) as
select
  additional_eins.report_id,
  additional_eins.auditee_uei,
  additional_eins.audit_year,
  additional_eins.fac_accepted_date,
  additional_eins.additional_ein,
  additional_eins.row_number
from dissemination.additional_eins;

comment on view api_v1_1_0.additional_eins is
  'Additional EINs

One row per entry on form SF-SAC: Employer Identification Numbers that the audit covers besides
general.auditee_ein. A report may list a number twice. Most reports have none; general.is_multiple_eins
says which have some.

Join to `general` by report_id, which is not unique here. To find the reports that cover an entity, look
for its EIN both here and in general.auditee_ein. To embed these rows, request
general?select=*,additional_eins(additional_ein).';
comment on column api_v1_1_0.additional_eins.additional_ein is
  E'Additional EIN\n'
  'EIN that the audit also covers: nine digits without a dash, as text because leading zeros '
  'count.';

grant select on api_v1_1_0.additional_eins to api_public, api_tribal;

select request.embed_in_general('api_v1_1_0.additional_eins', '160');
