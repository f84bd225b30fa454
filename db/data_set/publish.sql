-- Publishes the next generation in one transaction, and keeps the live one as the previous. No request waits for this,
-- because requests read the views of dissemination, which data_set.bind_views() binds to the new tables at the end. The older
-- previous generation is only renamed here, because dropping its files takes long.

select data_set.adopt_shapes('_next'), data_set.build_indexes('disclosed_next');

do $$
begin
  if to_regnamespace('disclosed_previous') is not null then
    alter schema disclosed_previous rename to disclosed_dropped;
    alter schema suppressed_previous rename to suppressed_dropped;
  end if;
end
$$;
alter schema disclosed rename to disclosed_previous;
alter schema suppressed rename to suppressed_previous;
alter schema disclosed_next rename to disclosed;
alter schema suppressed_next rename to suppressed;
-- Until now, only publisher could read the new generation. From the end of this transaction, only publisher can read the old.
select data_set.open_live_schemas();
-- Reports that are no longer public leave no values behind.
delete from publication.changed_values as kept
where not exists (select from disclosed.general where general.report_id = kept.report_id);
