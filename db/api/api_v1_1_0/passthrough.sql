-- The entities through which an award reached the auditee.
-- One row is one pass-through entity that a report lists for an award.
create view api_v1_1_0.passthrough
with (security_invoker = true) as
select
  passthrough.report_id,
  passthrough.auditee_uei,
  passthrough.audit_year,
  passthrough.fac_accepted_date,
  passthrough.award_reference,
  passthrough.passthrough_id,
  passthrough.passthrough_name,
  passthrough.row_number
from dissemination.passthrough;

comment on view api_v1_1_0.passthrough is
  'Pass-through entities

One row per entry on form SF-SAC: an entity from which the auditee, as a subrecipient, received the Federal
money of an award (2 CFR 200.510(b)(2)). A report may list an entity several times for an award, with different
numbers. These entities gave money to the auditee. For money that the auditee passed on, see passthrough_amount in
federal_awards.

Join to `federal_awards` by report_id and award_reference, which are not unique here: an award may come
through several entities. Awards with is_direct = "N" normally have rows here. report_id joins to `general`. To
embed these rows, request federal_awards?select=*,passthrough(*).';
comment on column api_v1_1_0.passthrough.award_reference is
  E'Award reference\n'
  'Award that came through this entity, for example "AWARD-0001"; with report_id, joins to '
  'federal_awards.';
comment on column api_v1_1_0.passthrough.passthrough_id is
  E'Pass-through identifying number\n'
  'Number that the pass-through entity assigned to the award; free text, and may be empty or a '
  'phrase that says there is none.';
comment on column api_v1_1_0.passthrough.passthrough_name is
  E'Pass-through entity\n'
  'Name of the pass-through entity; free text, so spelling varies. ilike.*NAME* ignores case.';

grant select on api_v1_1_0.passthrough to api_public, api_tribal;

select request.embed_in_general('api_v1_1_0.passthrough', '250 + 680');

select request.embed(
  'api_v1_1_0.passthrough', 'api_v1_1_0.federal_awards', '{report_id,award_reference}', '250 + 680',
  'Pass-through entities of an award.'
);
select request.embed(
  'api_v1_1_0.federal_awards', 'api_v1_1_0.passthrough', '{report_id,award_reference}', null,
  'The award that came through a pass-through entity.'
);
