-- A fingerprint of all public rows of each report, in whatever order, by which two data sets are compared: what was added,
-- changed and removed. Made after the tables, and not granted: only the publisher reads it.

do $$
begin
  execute (
    select format(
      'create table disclosed_next.fingerprints as '
      'select rows.report_id, bool_or(rows.is_in_general) as is_in_general, sum(rows.hash) as fingerprint '
      'from (%s) as rows group by rows.report_id',
      string_agg(
        -- The seed tells apart rows that are alike in two tables.
        format(
          'select source.report_id, %L::boolean as is_in_general, hash_record_extended(source, %s) as hash from disclosed_next.%I as source',
          pg_class.relname = 'general', hashtext(pg_class.relname), pg_class.relname
        ),
        ' union all '
      )
    )
    from pg_catalog.pg_class
    where pg_class.relnamespace = 'disclosed_next'::regnamespace and pg_class.relkind = 'r'
      and pg_class.relname not in ('data_set', 'general_stubs')
  );
end
$$;
