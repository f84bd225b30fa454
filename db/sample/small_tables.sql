-- What few submissions have, or each has once: further auditors, UEIs and EINs, and the links of resubmissions.

create view sample.extra_counts as
select
  submissions.*,
  coalesce(pinned.has_extras, false) as has_extras,
  least(120, floor(sample.skewed(sample.draw(submissions.key, 'extra ueis'), 2, 0.8)) + 1) as ueis,
  least(120, floor(sample.skewed(sample.draw(submissions.key, 'extra eins'), 2, 0.8)) + 1) as eins
from sample.submissions
left join sample.pinned_submissions as pinned on pinned.index = submissions.index;

create view sample.additional_ueis as
select id, number, report_id, auditee_uei, audit_year, fac_accepted_date,
  sample.uei(sample.child(key, 5000000000 + number)) as additional_uei
from sample.extra_counts
cross join lateral generate_series(1,
  case when has_extras then 3 when sample.draw(key, 'has ueis') < 0.06 then ueis else 0 end::int) as number;

create view sample.additional_eins as
select id, number, report_id, auditee_uei, audit_year, fac_accepted_date,
  sample.digits(sample.child(key, 6000000000 + number), 'ein', 9) as additional_ein
from sample.extra_counts
cross join lateral generate_series(1,
  case when has_extras then 3 when sample.draw(key, 'has eins') < 0.07 then eins else 0 end::int) as number;

create view sample.secondary_auditors as
select
  id, drawn.number, report_id, auditee_uei, audit_year, fac_accepted_date,
  ein as auditor_ein,
  firm as auditor_name,
  sample.person(contact) as contact_name,
  sample.pick('auditor titles', contact) as contact_title,
  sample.email(contact, firm) as contact_email,
  sample.phone(contact) as contact_phone,
  address as address_street,
  city as address_city,
  state as address_state,
  zip as address_zipcode
from sample.extra_counts
cross join lateral generate_series(1, case
  when has_extras then 2
  when sample.draw(key, 'has auditors') < 0.002 then 4
  when sample.draw(key, 'has auditors') < 0.008 then 2
  when sample.draw(key, 'has auditors') < 0.04 then 1
  else 0
end) as drawn (number)
join sample.auditors on auditors.number = sample.whole(sample.child(key, drawn.number), 'auditor', 1, 159);

create function sample.describe_version(version int, next_report_id text) returns text
language sql immutable parallel safe
return case
  when version = 0 then 'unknown_resubmission_status'
  when next_report_id is not null then 'deprecated_via_resubmission'
  when version is not null then 'most_recent'
end;

create view sample.resubmission as
select id, 1 as number, report_id, auditee_uei, audit_year, fac_accepted_date,
  version,
  sample.describe_version(version, next_report_id) as status,
  previous_report_id,
  next_report_id,
  first_accepted as original_submission_date
from sample.submissions
where version is not null;
