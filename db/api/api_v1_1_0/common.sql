-- What many tables have in common. This file runs after theirs. It describes the columns that they leave without a description, and
-- says of the tables with rows of reports what it means if a report is suppressed.
do $$
declare
  described record;
begin
  for described in
    select format('api_v1_1_0.%I.%I', pg_class.relname, common.name) as column_name, common.description
    from pg_catalog.pg_class
    join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_class.oid
    join (
      values
      ('report_id', E'Report ID\n'
        'Identifier of the report, "YYYY-MM-SOURCE-NNNNNNNNNN": normally the year and month in which the '
        'audited fiscal year ends, then GSAFAC or CENSUS, then ten digits. Joins to report_id in other tables; not unique here.'),
      ('auditee_uei', E'Auditee UEI\n'
        'Unique Entity Identifier (UEI) of the auditee: 12 characters, or "GSA_MIGRATION" on migrated '
        'records that are older than UEIs. Same value as general.auditee_uei.'),
      ('audit_year', E'Audit year\n'
        'Audit year, normally the year in which the audited fiscal year ends: four digits as text, '
        'not a number. gt, gte, lt and lte compare text, so use four digits.'),
      ('fac_accepted_date', E'Date accepted\n'
        'Date on which the Federal Audit Clearinghouse accepted the report, YYYY-MM-DD. Same value as '
        'general.fac_accepted_date.'),
      ('finding_ref_number', E'Finding reference number\n'
        'Reference number of the finding within its report, for example "2023-001" (2 CFR 200.516(c)). Same value as '
        'reference_number in findings.'),
      ('awards', E'Awards\nNumber of awards.'),
      ('amount_expended', E'Amount expended\n'
        'Federal dollars expended: the sum of amount_expended in federal_awards. Money that is passed '
        'through counts once for each auditee that expends it.'),
      ('findings', E'Findings\nNumber of findings. A finding on several of the awards counts once.'),
      ('material_weaknesses', E'Material weaknesses\n'
        'Number of findings that are material weaknesses (is_material_weakness is "Y") on at least one of the awards.'),
      ('row_number', E'Row number\n'
        'Number of the row in this data set: unique, and in the order of the bulk file. Each data set numbers its rows anew.'),
      ('contains_chart_or_table', E'Contains a chart or table\n'
        'Whether the text in the report has charts or tables that plain text cannot show: "Y", "N", '
        'or "GSA_MIGRATION" on migrated records. If "Y", see the report''s PDF.')
      union all
      -- The flags of finding_summaries are described as in findings.
      select pg_attribute.attname, col_description(pg_attribute.attrelid, pg_attribute.attnum)
      from pg_catalog.pg_attribute
      where pg_attribute.attrelid = 'api_v1_1_0.findings'::regclass and pg_attribute.attname ~ '^(is_|prior_)'
    ) as common (name, description) on common.name = pg_attribute.attname
    where pg_class.relnamespace = 'api_v1_1_0'::regnamespace and pg_class.relkind = 'v'
      and col_description(pg_class.oid, pg_attribute.attnum) is null
  loop
    execute format('comment on column %s is %L', described.column_name, described.description);
  end loop;
  for described in
    select pg_class.oid::regclass as view_name, obj_description(pg_class.oid, 'pg_class') as description
    from pg_catalog.pg_class
    join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_class.oid and pg_attribute.attname = 'report_id'
    where pg_class.relnamespace = 'api_v1_1_0'::regnamespace and pg_class.relkind = 'v'
      and pg_class.relname not in ('general', 'resubmission')
  loop
    execute format('comment on view %s is %L', described.view_name, described.description || '

Callers without Tribal access see no rows of suppressed submissions (2 CFR 200.512(b)(2)) here. In `general`,
they see only report_id and is_public of these submissions.');
  end loop;
end
$$;
