-- The entities that passed awards down, further auditors, UEIs and EINs, and the links of resubmissions.

create view sample.passthrough as
select
  awards.id, 10 * awards.number + entity as number,
  award_reference,
  case
    when is_migrated and sample.draw(row_key, 'migrated') < 0.02 then 'GSA_MIGRATION'
    when sample.draw(row_key, 'no id') < 0.15 then sample.pick('passthrough ids', row_key)
    else sample.pick('passthrough id prefixes', row_key) || sample.digits(row_key, 'id', 6)
  end as passthrough_id,
  replace(replace(replace(sample.pick('passthrough entities', row_key),
    '{STATE}', upper(auditees.state_name)),
    '{state}', auditees.state_name),
    '{word}', sample.pick('words', row_key)) as passthrough_name
from sample.awards
join sample.submissions using (id)
join sample.auditees on auditees.number = submissions.auditee
cross join lateral generate_series(1, case when sample.draw(award_key, 'entities') < 0.03 then 2 else 1 end) as entity
cross join lateral sample.child(award_key, entity) as row_key
where is_direct = 'N';

create view sample.extras as
select
  submissions.*,
  case when has_extras then 3 when sample.draw(key, 'ueis') < 0.06 then most else 0 end as ueis,
  case when has_extras then 3 when sample.draw(key, 'eins') < 0.07 then most else 0 end as eins,
  case when has_extras then 2 when sample.draw(key, 'auditors') < 0.04 then sample.whole(key, 'auditors', 1, 2) else 0 end
    as auditors
from sample.submissions
left join (select index, has_extras from sample.pinned_submissions) as pinned using (index)
cross join lateral (
  select least(120, 1 + floor(sample.skewed(sample.draw(key, 'extras'), 1, 0.9)))::int as most
) as drawn;

create view sample.additional_ueis as
select id, number, sample.uei(sample.child(key, 5000000000 + number)) as additional_uei
from sample.extras
cross join lateral generate_series(1, ueis) as number;

create view sample.additional_eins as
select id, number, sample.digits(sample.child(key, 6000000000 + number), 'ein', 9) as additional_ein
from sample.extras
cross join lateral generate_series(1, eins) as number;

create view sample.secondary_auditors as
select id, place as number, ein as auditor_ein, firm as auditor_name, city as address_city, state as address_state,
  zip as address_zipcode
from sample.extras
cross join lateral generate_series(1, auditors) as place
join sample.auditors on number = sample.whole(key, 'secondary ' || place, 1, 159);

create view sample.resubmission as
select id, 1 as number, version,
  case when version = 0 then 'unknown_resubmission_status' when next_report_id is null then 'most_recent'
    else 'deprecated_via_resubmission' end as status,
  previous_report_id,
  next_report_id,
  first_accepted as original_submission_date
from sample.submissions
where version is not null;
