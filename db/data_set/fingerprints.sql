-- A fingerprint of each report's public rows, in any order. Comparing the fingerprints of two data sets shows which reports
-- were added, changed and removed. Built after the tables. Not granted: only publisher reads it.

do $$
begin
  execute (
    select format(
      'create table disclosed_next.fingerprints as '
      'select rows.report_id, bool_or(rows.is_in_general) as is_in_general, sum(rows.hash) as fingerprint '
      'from (%s) as rows group by rows.report_id',
      string_agg(
        -- With the seed, equal rows in two tables have different hashes.
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
