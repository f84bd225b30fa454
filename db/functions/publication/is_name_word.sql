-- A generic plan would not know how common the word is.
create or replace function publication.is_name_word(kind text, word text)
returns boolean
language plpgsql stable strict security invoker
set search_path = '' set plan_cache_mode = force_custom_plan
as $$
declare
  query constant tsquery := quote_literal(word)::tsquery;
begin
  case kind
    when 'names' then
      return exists (select from disclosed.general where extensions.name_words(general.auditee_name) @@ query);
    when 'names and cities' then
      return exists (
        select from disclosed.general where extensions.name_words(general.auditee_name || ', ' || general.auditee_city) @@ query
      );
    when 'auditors' then
      return exists (select from disclosed.general where extensions.name_words(general.auditor_firm_name) @@ query);
  end case;
end
$$;
comment on function publication.is_name_word is
  'Returns whether a public report has the word in a name of this kind: "names" of auditees, their "names and cities", or "auditors".';
