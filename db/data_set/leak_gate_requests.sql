-- The part of the leak gate that makes requests: whether request.authorize() gives a key of each tier the role of its
-- tier and no other. leak_gate.sql shows what these roles may see. Raises SQLSTATE LEAKS with a line for each finding.
--
-- Whoever runs it owns access.api_keys and may become the roles that are asked. Nothing of it stays.

do $leak_gate$
declare
  findings text[] := '{}';
  tier record;
  key_sha256 constant bytea := sha256(uuid_send(gen_random_uuid()));
  became text;
begin
  begin
    update publication.settings set is_open = true where not is_open;
    for tier in
      select tiers.name, tiers.database_role from access.tiers where tiers.database_role <> 'api_tribal'
    loop
      begin
        insert into access.api_keys (tier, owner_email, key_sha256, key_prefix)
        values (tier.name, 'leak-gate@example.gov', key_sha256, 'leakgate');
        perform
          set_config('request.method', 'GET', true),
          set_config('request.path', '/findings', true),
          set_config('request.headers', json_build_object('x-api-key-sha256', encode(key_sha256, 'hex'))::text, true);
        perform request.authorize();
        became := current_setting('role');
        raise sqlstate 'ASKED';
      exception
        when sqlstate 'ASKED' then null;
        when others then became := format('nobody: %s', sqlerrm);
      end;
      if became <> tier.database_role then
        findings := findings || format(
          'request.authorize(): a key of the tier %s becomes %s in place of %s.', tier.name, became, tier.database_role
        );
      end if;
    end loop;
    raise sqlstate 'ASKED';
  exception
    when sqlstate 'ASKED' then null;
  end;

  if findings <> '{}' then
    raise sqlstate 'LEAKS' using
      message = 'Suppressed submissions would be shown.',
      detail = array_to_string(findings, E'\n');
  end if;
end
$leak_gate$;
