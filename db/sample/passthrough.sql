-- The entities that passed indirect awards down: one row an award, two for a few.

create view sample.passthrough as
select
  awards.id, 10 * awards.number + piece as number,
  awards.report_id, awards.auditee_uei, awards.audit_year, awards.fac_accepted_date,
  award_reference,
  case
    when is_migrated and sample.draw(row_key, 'migrated') < 0.02 then 'GSA_MIGRATION'
    when sample.draw(row_key, 'id') < 0.15 then sample.pick('passthrough ids', row_key)
    when sample.draw(row_key, 'id') < 0.35 then
      sample.digits(row_key, 'area', 2) || 'AA / ' || sample.digits(row_key, 'grant', 3) || 'B / ARP ' || year
    else sample.choose(array['AA-', 'E', 'G-', 'SLFRP', 'CFDA ', ''], sample.draw(row_key, 'prefix'))
      || sample.digits(row_key, 'grant', 6)
  end as passthrough_id,
  replace(replace(replace(sample.pick('passthrough entities', row_key),
    '{STATE}', upper(auditees.state_name)),
    '{state}', auditees.state_name),
    '{word}', sample.pick('words', row_key)) as passthrough_name
from sample.awards
join sample.submissions using (id)
join sample.auditees on auditees.number = submissions.auditee
cross join lateral generate_series(1, case when sample.draw(award_key, 'passthrough rows') < 0.03 then 2 else 1 end) as piece
cross join lateral (select sample.child(award_key, piece) as row_key) as keyed
where is_direct = 'N';
