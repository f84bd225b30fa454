-- The report service calls this before it gives out files or totals.
create or replace function publication.is_switched_on()
returns boolean
language sql stable security definer set search_path = ''
as $$
  select service.is_on from publication.service
$$;
comment on function publication.is_switched_on is
  'Whether the service is switched on, and the database was compared with the ledger after the server started. If not, requests get 503 and tokens cannot be redeemed.';
grant execute on function publication.is_switched_on to site;
