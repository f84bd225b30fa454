-- The entities that passed awards through.

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
