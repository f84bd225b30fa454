-- The rules of db/deployment/rules that API objects break. A deployment checks them. Later, the leak check finds each object that is
-- not as the deployment left it (db/deployment/rights.sql).

create or replace function publication.find_broken_rules()
returns table (object text, rule text)
language plpgsql stable security invoker
as $$
begin
  return query
    select * from publication.find_rule_everything_has_a_comment()
    union all select * from publication.find_rule_functions_are_parsed()
    union all select * from publication.find_rule_functions_call_only_listed_functions()
    union all select * from publication.find_rule_functions_handle_no_object_names()
    union all select * from publication.find_rule_functions_only_select()
    union all select * from publication.find_rule_functions_read_only_api_views()
    union all select * from publication.find_rule_functions_set_only_search_path()
    union all select * from publication.find_rule_lists_limit_their_bytes()
    union all select * from publication.find_rule_single_rows_have_a_key()
    union all select * from publication.find_rule_views_select_plain_columns()
    order by 1, 2;
end
$$;
