-- Audit firms that did part of the audit, other than the firm that signed.
-- One row is one firm that a report lists.
create view api_v1_1_0.secondary_auditors
with (security_invoker = true) as
select
  secondary_auditors.report_id,
  secondary_auditors.auditee_uei,
  secondary_auditors.audit_year,
  secondary_auditors.fac_accepted_date,
  secondary_auditors.auditor_ein,
  secondary_auditors.auditor_name,
  secondary_auditors.contact_name,
  secondary_auditors.contact_title,
  secondary_auditors.contact_email,
  secondary_auditors.contact_phone,
  secondary_auditors.address_street,
  secondary_auditors.address_city,
  secondary_auditors.address_state,
  secondary_auditors.address_zipcode,
  secondary_auditors.row_number
from dissemination.secondary_auditors;

comment on view api_v1_1_0.secondary_auditors is
  'Secondary auditors

One row per entry on form SF-SAC: firms that did part of the audit, besides the firm that signed the report
(general.auditor_firm_name). A report may list a firm twice. Most reports have none; general.is_secondary_auditors
says which have some.

Join to `general` by report_id, which is not unique here. To embed these rows, request
general?select=*,secondary_auditors(*).';
comment on column api_v1_1_0.secondary_auditors.auditor_ein is
  E'Secondary auditor EIN\n'
  'Employer Identification Number (EIN) of the firm: nine digits without a dash, as text.';
comment on column api_v1_1_0.secondary_auditors.auditor_name is
  E'Secondary audit firm\n'
  'Name of the firm.';
comment on column api_v1_1_0.secondary_auditors.contact_name is
  E'Secondary auditor contact\n'
  'Name of the contact person at the firm.';
comment on column api_v1_1_0.secondary_auditors.contact_title is
  E'Secondary auditor contact’s title\n'
  'Title of the contact person at the firm.';
comment on column api_v1_1_0.secondary_auditors.contact_email is
  E'Secondary auditor contact’s email\n'
  'Email address of the contact person at the firm.';
comment on column api_v1_1_0.secondary_auditors.contact_phone is
  E'Secondary auditor contact’s phone\n'
  'Telephone number of the contact person at the firm, as text.';
comment on column api_v1_1_0.secondary_auditors.address_street is
  E'Secondary auditor street address\n'
  'Street address of the firm.';
comment on column api_v1_1_0.secondary_auditors.address_city is
  E'Secondary auditor city\n'
  'City of the firm.';
comment on column api_v1_1_0.secondary_auditors.address_state is
  E'Secondary auditor state\n'
  'State or territory of the firm, two-letter postal abbreviation.';
comment on column api_v1_1_0.secondary_auditors.address_zipcode is
  E'Secondary auditor ZIP code\n'
  'ZIP code of the firm: five or nine digits without a dash, as text.';

grant select on api_v1_1_0.secondary_auditors to api_public, api_tribal;

select request.embed_in_general('api_v1_1_0.secondary_auditors', '480');
