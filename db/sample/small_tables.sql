-- The entities that passed awards down, further auditors, UEIs and EINs, and the links of resubmissions.

create view sample.passthrough as
select
  id,
  10 * number + entity as number,
  award_reference,
  case
    when is_migrated and sample.draw(row_key, 'migrated') < 0.02 then 'GSA_MIGRATION'
    when sample.draw(row_key, 'no id') < 0.15 then sample.pick('passthrough ids', row_key)
    else sample.pick('passthrough id prefixes', row_key) || sample.digits(row_key, 'id', 6)
  end as passthrough_id,
  format(sample.pick('passthrough entities', row_key), upper(state_name), sample.pick('words', row_key), state_name)
    as passthrough_name
from sample.awards
join sample.submissions using (id)
join sample.auditees using (auditee)
cross join lateral generate_series(1, case when sample.draw(award_key, 'entities') < 0.03 then 2 else 1 end) as entity
cross join lateral sample.child(award_key, entity) as row_key
where is_direct = 'N';

create view sample.additional_ueis as
select id, number, sample.uei(sample.child(key, 5000000000 + number)) as additional_uei
from sample.submissions
cross join lateral generate_series(1, ueis) as number;

create view sample.additional_eins as
select id, number, sample.digits(sample.child(key, 6000000000 + number), 'ein', 9) as additional_ein
from sample.submissions
cross join lateral generate_series(1, eins) as number;

create view sample.secondary_auditors as
select id, number, auditor_ein, auditor_firm_name as auditor_name, auditor_city as address_city,
  auditor_state as address_state, auditor_zip as address_zipcode
from sample.submissions
cross join lateral generate_series(1, secondary_auditors) as number
join sample.auditors on auditors.firm = sample.whole(key, 'secondary ' || number, 1, 159);

create view sample.resubmission as
select id, 1 as number
from sample.submissions
where version is not null;
