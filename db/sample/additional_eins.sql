create view sample.additional_eins as
select id, number, sample.digits(sample.child(key, 6000000000 + number), 'ein', 9) as additional_ein
from sample.submissions
cross join lateral generate_series(1, eins) as number;
