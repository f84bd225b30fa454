create or replace function publication.list_disclosures(
  is_internal_control_material_weakness_disclosed text,
  is_internal_control_deficiency_disclosed text,
  is_material_noncompliance_disclosed text,
  is_going_concern_included text
)
returns text[]
language sql immutable security invoker set search_path = ''
as $$
  select array_remove(
    array[
      case when is_internal_control_material_weakness_disclosed = 'Yes' then 'is_internal_control_material_weakness_disclosed' end,
      case when is_internal_control_deficiency_disclosed = 'Yes' then 'is_internal_control_deficiency_disclosed' end,
      case when is_material_noncompliance_disclosed = 'Yes' then 'is_material_noncompliance_disclosed' end,
      case when is_going_concern_included = 'Yes' then 'is_going_concern_included' end
    ],
    null
  )
$$;
comment on function publication.list_disclosures is
  'Returns the columns of general that describe a problem of the auditee and are "Yes".';
