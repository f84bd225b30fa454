#!/bin/sh
# Starts Kong. `start.sh KONG_YML COMMAND…` fills in the addresses of PostgREST and Redis, writes the result to
# KONG_DECLARATIVE_CONFIG, checks it, and then runs COMMAND in place of itself.
#
# POSTGREST_URL         URL of PostgREST: http://HOST:PORT
# POSTGREST_WRITER_URL  URL of the PostgREST that gets POST requests, if POSTGREST_URL reads from replicas
# POSTGREST_POOL        PostgREST's connections for this gateway (PGRST_DB_POOL of all instances, divided by the gateways); 6 if unset
# USAGE_URL             URL at which the report service records that keys are used; if unset, their use is not recorded
# REDIS_HOST            host of the Redis in which gateways share their counts; if unset, each gateway counts alone
# REDIS_PORT            6379 if unset
# SECRETS_DIRECTORY     if set, contains the files gateway_token and, with REDIS_HOST, counters_password. Kong reads
#                       secrets only from its environment; with files, no other process has them there.
# KONG_BIN              the program that checks the result; kong if unset
set -eu

template=$1
shift
: "${POSTGREST_URL:?Set POSTGREST_URL to the URL of PostgREST, such as http://postgrest:3000}"
POSTGREST_WRITER_URL=${POSTGREST_WRITER_URL:-$POSTGREST_URL}
case "$POSTGREST_URL$POSTGREST_WRITER_URL${USAGE_URL:-}${REDIS_HOST:-}${REDIS_PORT:-}${POSTGREST_POOL:-}" in
  *[!][A-Za-z0-9.:/_-]*)
    echo "POSTGREST_URL, POSTGREST_WRITER_URL, POSTGREST_POOL, USAGE_URL, REDIS_HOST or REDIS_PORT contains an invalid character. Correct it (example: http://postgrest:3000)." >&2
    exit 1
    ;;
esac
sed -e "s|\${POSTGREST_URL}|$POSTGREST_URL|g" -e "s|\${POSTGREST_WRITER_URL}|$POSTGREST_WRITER_URL|g" \
  -e "s|\${POSTGREST_POOL}|${POSTGREST_POOL:-6}|g" -e "s|\${USAGE_URL}|${USAGE_URL:-}|g" -e "s|\${REDIS_HOST}|${REDIS_HOST:-}|g" -e "s|\${REDIS_PORT}|${REDIS_PORT:-6379}|g" \
  "$template" > "$KONG_DECLARATIVE_CONFIG"
if [ -n "${SECRETS_DIRECTORY:-}" ]; then
  GATEWAY_TOKEN=$(cat "$SECRETS_DIRECTORY/gateway_token")
  export GATEWAY_TOKEN
  if [ -n "${REDIS_HOST:-}" ]; then
    REDIS_PASSWORD=$(cat "$SECRETS_DIRECTORY/counters_password")
    export REDIS_PASSWORD
  fi
fi
: "${GATEWAY_TOKEN:?Set GATEWAY_TOKEN to the token that identifies the gateway to PostgREST}"
# Kong itself would log too little to show what is wrong with the file (kong.env).
"${KONG_BIN:-kong}" config parse "$KONG_DECLARATIVE_CONFIG" > /dev/null
exec "$@"
