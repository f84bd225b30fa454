-- A fingerprint of each report's public rows, in any order. Comparing the fingerprints of two data sets shows which reports
-- were added, changed and removed. row_number is left out, because it changes with other reports' rows. Built after the
-- tables. Not granted: only publisher reads it.

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
          'select source.report_id, %L::boolean as is_in_general, hash_record_extended(row(%s), %s) as hash from disclosed_next.%I as source',
          tables.name = 'general',
          (
            select string_agg(format('source.%I', columns.name), ', ' order by columns.place)
            from data_set.list_columns(format('disclosed_next.%I', tables.name)::regclass) as columns
            where columns.name <> 'row_number'
          ),
          hashtext(tables.name), tables.name
        ),
        ' union all '
      )
    )
    from data_set.tables
    where tables.is_source
  );
end
$$;
