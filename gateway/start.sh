#!/bin/sh
# Starts Kong: start.sh KONG_YML COMMAND… writes kong.yml with the address of PostgREST and the place of the counters to
# KONG_DECLARATIVE_CONFIG, and becomes COMMAND.
#
# POSTGREST_URL      where PostgREST is
# REDIS_HOST         where several gateways count together; without it each counts for itself
# REDIS_PORT         6379 if unset
# SECRETS_DIRECTORY  if set, holds the files gateway_token and, with REDIS_HOST, counters_password. Kong takes secrets from
#                    its environment alone; like this they are only in that of its own process.
set -eu

template=$1
shift
: "${POSTGREST_URL:?Set POSTGREST_URL to the address of PostgREST, such as http://postgrest:3000}"
counters=local
[ -z "${REDIS_HOST:-}" ] || counters=redis
# Kong takes a sync_rate with Redis alone.
drop_sync_rate() { if [ "$counters" = redis ]; then cat; else grep -v ' sync_rate:'; fi; }
sed -e "s|\${POSTGREST_URL}|$POSTGREST_URL|g" -e "s|\${COUNTERS}|$counters|g" \
  -e "s|\${REDIS_HOST}|${REDIS_HOST:-127.0.0.1}|g" -e "s|\${REDIS_PORT}|${REDIS_PORT:-6379}|g" "$template" \
  | drop_sync_rate > "$KONG_DECLARATIVE_CONFIG"
if [ -n "${SECRETS_DIRECTORY:-}" ]; then
  GATEWAY_TOKEN=$(cat "$SECRETS_DIRECTORY/gateway_token")
  export GATEWAY_TOKEN
  if [ "$counters" = redis ]; then
    REDIS_PASSWORD=$(cat "$SECRETS_DIRECTORY/counters_password")
    export REDIS_PASSWORD
  fi
fi
exec "$@"
