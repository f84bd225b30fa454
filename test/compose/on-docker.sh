#!/usr/bin/env bash
# npm run test:compose: the compose files on a real engine, and the HTTP tests against the containers. It runs in a project
# and a copy of the checkout of its own (in-own-project.sh), which are removed at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${OWN_PROJECT:-}" = "$PWD" ] || exec bash test/compose/in-own-project.sh bash test/compose/on-docker.sh

# The port proxy hides addresses from Kong, so the tests say them, and Kong believes the networks of Docker.
export TRUSTED_IPS=172.16.0.0/12,192.168.0.0/16 FORWARD_ADDRESSES=1
# Tests of limits wait until Redis has counted.
export COUNTERS=redis
BASE_URL=http://127.0.0.1:$GATEWAY_PORT
APP_URL=http://127.0.0.1:$APP_PORT
export API_URL=$BASE_URL
sample=$PWD/sample
mkdir "$sample"
migration=db/migrations/29990101000000000_fail.sql
compose() { docker compose --progress quiet "$@"; }
up() { compose up --build --detach --wait --wait-timeout 300; }
address() { docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_database\").IPAddress}}" "$(compose ps --quiet "$1")"; }

# watch FILE KEY URL…: writes down each status, ten times a second, until unwatch: that of the first address that answers,
# as behind a load balancer. 000 is no answer. Its address is not that of the tests, because DEMO_KEY is limited by address.
watch() {
  local file=$1 key=$2
  shift 2
  (
    while [ -d "$sample" ]; do
      for url in "$@"; do
        status=$(curl -s -o /dev/null -m 5 -w '%{http_code}' "$url" \
          -H "x-forwarded-for: 192.0.2.1" -H "x-api-key: $key") || true
        [ "$status" = 000 ] || break
      done
      echo "$status"
      sleep 0.1
    done > "$file"
  ) &
  watchers="${watchers:-} $!"
}
unwatch() {
  # shellcheck disable=SC2086
  kill $watchers
  watchers=
}
# only FILE STATUSES: fails where the file has others, or none.
only() {
  sort "$1" | uniq -c
  [ -s "$1" ] && ! grep -vE "^($2)$" "$1"
}

echo "The base file starts, and a second start changes nothing."
npm run -s compose:secrets
watch "$sample/first" DEMO_KEY "$BASE_URL/general?limit=1"
up
sleep 1
unwatch
only "$sample/first" '000|200|429'
grep -q 200 "$sample/first"
before=$(compose ps --quiet | sort)
up
[ "$before" = "$(compose ps --quiet | sort)" ]

echo "Keys and data sets are made in containers."
INDIVIDUAL_KEY=$(compose run --rm keys issue --tier individual --owner test@example.gov --quiet)
agreement=$(compose run --rm agreements request --organisation Test --contact test@example.gov --json | sed -n 's/^ *"id": "\(.*\)",$/\1/p')
compose run --rm agreements approve "$agreement" --official Test --agency Test --email test@example.gov > "$sample/agreement"
TRIBAL_KEY=$(compose run --rm keys issue --tier tribal --owner test@example.gov --agreement "$agreement" --quiet)
npm run -s sample -- --out "$sample/files" --pdf
chmod -R a+rX "$sample"
compose run --rm --volume "$sample/files:/source:ro" publish --from /source
compose cp "$sample/files/reports" "storage:/data/single-audit/"

echo "A key works on the next request, and the gateway serves the same after a restart."
curl -fsS -o /dev/null "$BASE_URL/general?limit=1" -H "x-api-key: $TRIBAL_KEY"
watch "$sample/restart" none "$BASE_URL/general?limit=1"
compose restart gateway
compose up --detach --wait
unwatch
# 000 while nothing listens.
only "$sample/restart" '401|000'
grep -q 401 "$sample/restart"

echo "Smoke and the HTTP tests pass."
export BASE_URL APP_URL INDIVIDUAL_KEY TRIBAL_KEY
DATABASE_URL="postgres://postgres:$(cat secrets/postgres_password)@$(address postgres):5432/single_audit"
POSTGREST_URL="http://$(address postgrest):3000"
export DATABASE_URL POSTGREST_URL
npm run -s smoke -- --base-url "$BASE_URL" --app-url "$APP_URL" --key "$INDIVIDUAL_KEY" --tribal-key "$TRIBAL_KEY"
npx vitest run test/http
npm run -s db:deploy -- --plan

echo "While the database restarts, the answer is 503, and never 404 or 406."
watch "$sample/outage" "$TRIBAL_KEY" "$BASE_URL/general?limit=1"
compose restart postgres
compose up --detach --wait
timeout 60 sh -c "until curl -fsS -o /dev/null '$BASE_URL/general?limit=1' -H 'x-api-key: $TRIBAL_KEY'; do sleep 1; done"
unwatch
# 400 for a request that was being answered, 000 for one that curl gave up.
only "$sample/outage" '200|400|50[0-9]|000'
grep -q 503 "$sample/outage"

echo "21 clients read large answers slowly, and miss nothing of them."
node --import tsx test/compose/read-slowly.ts

echo "A gateway that is replaced lets a reader of a full page finish."
curl -fsS --limit-rate 500k -o "$sample/page" -H "x-api-key: $INDIVIDUAL_KEY" \
  "$BASE_URL/federal_awards?select=*,general(*)&limit=20000&order=report_id,award_reference" &
reader=$!
sleep 5
compose restart gateway
wait "$reader"
compose up --detach --wait

echo "The report service's keys write nothing."
compose exec -T report-service node --input-type=module < test/compose/write-with-readers-keys.mjs

echo "No log has a query string."
[ "$(compose logs | grep -c 'select=')" = 0 ]

echo "The scale file starts on the same data, and both gateways serve."
export COMPOSE_FILE=docker-compose.yml:docker-compose.scale.yml
BASE_2_URL=http://127.0.0.1:$GATEWAY_2_PORT
APP_2_URL=http://127.0.0.1:$APP_2_PORT
smoke() {
  npm run -s smoke -- --base-url "$1" --app-url "$2" --key "$INDIVIDUAL_KEY" --tribal-key "$TRIBAL_KEY"
}
up
smoke "$BASE_URL" "$APP_URL"
smoke "$BASE_2_URL" "$APP_2_URL"

echo "An upgrade whose migration fails changes nothing; one with another image is not noticed."
containers=$(compose ps --quiet | sort)
WATCH_KEY=$(compose run --rm keys issue --tier individual --owner test@example.gov --quiet)
watch "$sample/api" "$WATCH_KEY" "$BASE_URL/general?limit=1" "$BASE_2_URL/general?limit=1"
watch "$sample/app" none "$APP_URL/" "$APP_2_URL/"
printf -- '-- Lock level: none\nselect 1 / 0;\n' > "$migration"
if npm run -s compose:upgrade; then exit 1; fi
[ "$containers" = "$(compose ps --quiet | sort)" ]
rm "$migration"
echo "A new image." > scripts/changed-by-test-compose
npm run -s compose:upgrade
unwatch
[ "$containers" != "$(compose ps --quiet | sort)" ]
only "$sample/api" 200
only "$sample/app" 200

echo "One of two PostgREST nodes goes: nobody is told for longer than a second."
watch "$sample/node" "$WATCH_KEY" "$BASE_URL/general?limit=1"
sleep 1
compose up --detach --no-deps --no-recreate --scale postgrest=1 postgrest
sleep 5
unwatch
only "$sample/node" '200|502|504'
[ "$(grep -c 50 "$sample/node")" -le 2 ]

echo "A replica is promoted, and the old server does not come back."
compose exec -T postgres psql -qU postgres single_audit -c "create table public.mark ()"
sleep 1
compose stop postgres
compose exec -T postgres-replica pg_ctl promote
compose stop postgres-replica
export POSTGRES_VOLUME=${COMPOSE_PROJECT_NAME}_postgres-replica
export POSTGRES_REPLICA_VOLUME=${COMPOSE_PROJECT_NAME}_postgres-replica-2
up
compose exec -T postgres psql -qU postgres single_audit -c "drop table public.mark"
[ -z "$(docker ps --quiet --filter "volume=${COMPOSE_PROJECT_NAME}_postgres")" ]
timeout 30 sh -c "until [ \"\$(docker compose exec -T postgres psql -qAtU postgres -c 'select count(*) from pg_stat_replication')\" = 1 ]; do sleep 1; done"
smoke "$BASE_URL" "$APP_URL"
