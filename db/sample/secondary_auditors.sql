create view sample.secondary_auditors as
select id, number, auditor_ein, auditor_firm_name as auditor_name, auditor_city as address_city,
  auditor_state as address_state, auditor_zip as address_zipcode
from sample.submissions
cross join lateral generate_series(1, secondary_auditors) as number
join sample.auditors on auditors.firm = sample.whole(key, 'secondary ' || number, 1, 159);
