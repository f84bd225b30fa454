create view sample.resubmission as
select id, 1 as number
from sample.submissions
where version is not null;
