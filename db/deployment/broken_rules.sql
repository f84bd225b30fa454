-- The rules of db/deployment/rules that API objects break. A deployment checks all of them. The leak check, which also finds
-- objects made by hand, checks those whose breach could show suppressed data, unless all were checked in the same transaction.

create or replace function publication.find_broken_function_rules()
returns table (object text, rule text)
language plpgsql stable security invoker
as $$
begin
  return query
    select * from publication.find_rule_functions_are_parsed()
    union all select * from publication.find_rule_functions_call_only_listed_functions()
    union all select * from publication.find_rule_functions_handle_no_object_names()
    union all select * from publication.find_rule_functions_only_select()
    union all select * from publication.find_rule_functions_read_only_api_views()
    union all select * from publication.find_rule_functions_set_only_search_path()
    union all select * from publication.find_rule_no_domains()
    order by 1, 2;
end
$$;

create or replace function publication.find_broken_rules(only_leaks boolean)
returns table (object text, rule text)
language plpgsql volatile security invoker
as $$
declare
  transaction_id constant text := coalesce(pg_current_xact_id_if_assigned()::text, '');
begin
  if only_leaks and current_setting('publication.rules_asked_in', true) = transaction_id and transaction_id <> '' then
    return;
  end if;
  return query
    select * from publication.find_rule_api_owner_owns_only_the_api()
    union all select * from publication.find_rule_no_hidden_code()
    order by 1, 2;
  if not only_leaks or exists (select from publication.find_api_functions()) then
    return query select * from publication.find_broken_function_rules();
  end if;
  if only_leaks then
    return;
  end if;
  return query
    select * from publication.find_rule_everything_has_a_comment()
    union all select * from publication.find_rule_grants_only_to_readers()
    union all select * from publication.find_rule_lists_limit_their_bytes()
    union all select * from publication.find_rule_no_default_privileges()
    union all select * from publication.find_rule_only_views_functions_and_types()
    union all select * from publication.find_rule_single_rows_have_a_key()
    union all select * from publication.find_rule_views_select_plain_columns()
    order by 1, 2;
  perform set_config('publication.rules_asked_in', transaction_id, true);
end
$$;
