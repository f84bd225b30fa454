create view sample.additional_ueis as
select id, number, sample.uei(sample.child(key, 5000000000 + number)) as additional_uei
from sample.submissions
cross join lateral generate_series(1, ueis) as number;
